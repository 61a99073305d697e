// Numbers by name, as Python gives the settings and parameters of a fabric.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "remy_plus/fabric/units.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

// Each is used once: what is left over is a mistake.
class Named {
 public:
  Named(const nb::dict& values, std::string what) : what_(std::move(what)) {
    for (const auto [key, value] : values) {
      const auto name = nb::cast<std::string>(key);
      const double number = values_[name] = nb::cast<double>(value);
      if (std::isnan(number)) throw std::invalid_argument(what_ + ": " + name + " is not a number");
    }
  }

  template <class T>
  void take(const char* name, T& into, double unit = 1) {
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

 private:
  template <class T>
  T whole(const std::string& name, double value) const {
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    if (value < least || (value > most && !std::isinf(value)))
      throw std::invalid_argument(what_ + ": " + name + " is out of range");
    return value >= most ? std::numeric_limits<T>::max() : static_cast<T>(std::round(value));
  }

  std::string what_;
  std::map<std::string, double> values_;
};

inline constexpr double ns = fabric::nanosecond, us = fabric::microsecond, per_ms = 1e-9;
inline constexpr double per_mb = 1e-6;  // to bytes

}  // namespace remy_plus::bindings
