// Numbers to the codes of a header's fields and back, bit for bit as lcca.signal_sets.headers.codec has it.
#pragma once

#include <cstdint>
#include <vector>

namespace remy_plus {

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

  // Throws std::invalid_argument naming what is wrong.
  void check() const;

  // `draw` on [0, 1) is used by stochastic rounding. Throws std::domain_error for what the field cannot say.
  std::uint64_t encode(double value, double draw = 0) const;
  double decode(std::uint64_t code) const;

 private:
  std::uint64_t ones() const { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
  std::uint64_t top() const;  // largest code of a number
  double number(double code) const;
  double near(double value) const;
  double below(double value) const;
  bool up(double value, double below, double draw) const;
  std::uint64_t fit(double code) const;
  std::uint64_t encode_listed(double value) const;
};

}  // namespace remy_plus
