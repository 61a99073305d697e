// Numbers to the codes of a header's fields and back, bit for bit as lcca.signal_sets.headers.codec has it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace remy_plus {

// ⌊x⌋ without a call into the C library for numbers of ordinary size.
inline double quick_floor(double x) {
  if (!(std::abs(x) < 4.5e15)) return std::floor(x);
  const auto cut = static_cast<double>(static_cast<std::int64_t>(x));
  return cut > x ? cut - 1 : cut;
}

enum class Rounding : std::uint8_t { floor, ceil, nearest, stochastic };

struct Coding {
  // Any ascending numbers make a grid; `exact` is the number itself, which no wire carries.
  enum class Kind : std::uint8_t { linear, grid, floating, listed, flag, exact };

  Kind kind = Kind::exact;
  int bits = 64;
  double base = 0, step = 1;
  bool has_largest = false;  // the number of the largest code is `largest`, whatever base and step say
  double largest = 0;
  int mantissa = 0;                  // bits, of floating
  std::vector<double> numbers;       // of a grid's codes, or those that are listed
  std::vector<std::uint64_t> codes;  // of the listed numbers
  Rounding rounding = Rounding::floor;
  bool wraps = false;
  bool has_invalid = false;
  std::uint64_t invalid = 0;  // the code of NaN
  bool nearest = false;       // listed: other numbers become the nearest of them

  bool operator==(const Coding&) const = default;

  // To be called once all is set. Throws std::invalid_argument naming what is wrong.
  void prepare();

  // `draw` on [0, 1) is used by stochastic rounding. Throws std::domain_error for what the field cannot say.
  std::uint64_t encode(double value, double draw = 0) const {
    if (plain_) return quick(value);
    return kind == Kind::exact ? std::bit_cast<std::uint64_t>(std::max(value, 0.0)) : slow(value, draw);
  }
  double decode(std::uint64_t code) const {
    if (plain_) return base + static_cast<double>(code) * step;
    return kind == Kind::exact ? std::bit_cast<double>(code) : decode_slow(code);
  }

 private:
  // Linear, rounded down, saturating, without a code for "not known": what most fields are.
  std::uint64_t quick(double value) const {
    if (value >= 0 && value < cut_) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value * per_step_));
    double code = std::clamp(quick_floor((value - base) / step), -1.0, top_);
    if (!std::isfinite(value)) return slow(value, 0);
    if (code >= 0 && base + code * step > value) code -= 1;
    if (code < top_ && base + (code + 1) * step <= value) code += 1;
    return code <= 0 ? 0 : code >= top_ ? top() : static_cast<std::uint64_t>(code);
  }

  std::uint64_t slow(double value, double draw) const;
  double decode_slow(std::uint64_t code) const;
  std::uint64_t ones() const { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
  std::uint64_t top() const { return last_; }  // largest code of a number
  double number(double code) const;
  double near(double value) const;
  double below(double value) const;
  double below_in_grid(double value) const;
  void index();
  bool up(double value, double below, double draw) const;
  std::uint64_t fit(double code) const;
  std::uint64_t encode_listed(double value) const;

  bool plain_ = false;
  std::uint64_t last_ = 0;
  double top_ = 0;   // last_
  double turn_ = 0;  // 2^bits
  // Where steps from 0 are a power of two, so that no product is rounded: numbers below `cut_` have codes that this
  // many times the number is cut down to.
  double cut_ = 0, per_step_ = 0;
  // Of a grid: numbers whose leading bits agree lie between two places, from the cell of the least above 0 on.
  std::vector<std::uint32_t> places_;
  std::uint64_t cell_ = 0;
  int shift_ = 0;
};

}  // namespace remy_plus
