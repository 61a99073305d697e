// Numbers by name, as Python gives the settings and parameters of a fabric, and groups of them.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace remy_plus::fabric {

// Each is used once: what is left over is a mistake. One that is not there keeps its default.
class Numbers {
 public:
  Numbers(std::map<std::string, double> values, std::string what) : values_(std::move(values)), what_(std::move(what)) {
    for (const auto& [name, value] : values_)
      if (std::isnan(value)) throw std::invalid_argument(what_ + ": " + name + " is not a number");
  }

  template <class T>
  void take(const char* name, T& into, double unit = 1) {
    usual_[name] = static_cast<double>(into) / unit;
    const auto found = values_.find(name);
    if (found == values_.end()) return;
    const double value = found->second * unit;
    if constexpr (std::is_same_v<T, bool>)
      into = value != 0;
    else if constexpr (std::is_integral_v<T>)
      into = whole<T>(name, value);
    else
      into = value;
    values_.erase(found);
  }

  void end() const {
    if (!values_.empty()) throw std::invalid_argument(what_ + ": " + values_.begin()->first + " is not known");
  }
  // The defaults of all that was taken.
  const std::map<std::string, double>& usual() const { return usual_; }

 private:
  template <class T>
  T whole(const std::string& name, double value) const {
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    if (value < least || (value > most && !std::isinf(value)))
      throw std::invalid_argument(what_ + ": " + name + " is out of range");
    return value >= most ? std::numeric_limits<T>::max() : static_cast<T>(std::round(value));
  }

  std::map<std::string, double> values_, usual_;
  std::string what_;
};

// What a transport or a marker is set by: each member says its name, its default and the unit of the name, and Python
// has these from here (transports.py says what they mean and which values they may have).
struct Parameters {
  Parameters() = default;
  explicit Parameters(Numbers& numbers) : numbers_(&numbers) {}

 protected:
  template <class T>
  T read(const char* name, T usual, double unit = 1) const {
    if (numbers_) numbers_->take(name, usual, unit);
    return usual;
  }

 private:
  Numbers* numbers_ = nullptr;  // while this is made
};

}  // namespace remy_plus::fabric
