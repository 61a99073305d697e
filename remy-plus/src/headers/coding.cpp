#include "remy_plus/headers/coding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace remy_plus {

void Coding::prepare() {
  const auto fail = [](const char* what) { throw std::invalid_argument(what); };
  if (bits < 1 || bits > 64) fail("a field has from 1 to 64 bits");
  if (!(step > 0) || !std::isfinite(step) || !std::isfinite(base)) fail("the step of a field must be > 0");
  if (kind == Kind::grid && (numbers.empty() || !std::is_sorted(numbers.begin(), numbers.end())))
    fail("the numbers of a grid must ascend");
  if (kind == Kind::listed && (numbers.empty() || numbers.size() != codes.size()))
    fail("listed numbers need a code each");
  if (mantissa < 0 || mantissa > 52) fail("a mantissa has at most 52 bits");
  plain_ = kind == Kind::linear && rounding == Rounding::floor && !wraps && !has_invalid && !has_largest;
  last_ = kind == Kind::grid ? numbers.size() - 1 : ones();
  last_ -= has_invalid && invalid == last_;
  top_ = static_cast<double>(last_);
  turn_ = std::ldexp(1.0, bits);
  int exponent = 0;
  const bool exact = base == 0 && bits <= 52 && std::frexp(step, &exponent) == 0.5 && std::abs(exponent) < 900;
  per_step_ = 1 / step;
  cut_ = plain_ && exact ? step * turn_ : 0;
  if (kind == Kind::grid) index();
}

void Coding::index() {
  const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(top()) + 1;
  const auto least = std::upper_bound(numbers.begin(), end, 0.0);
  if (least == end || !std::isfinite(end[-1])) return;
  const auto bits_of = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  const auto cells = [&] { return (bits_of(end[-1]) >> shift_) - (bits_of(*least) >> shift_) + 1; };
  for (shift_ = 52; shift_ > 40 && cells() < std::min<std::uint64_t>(2 * top(), 4096);) --shift_;
  cell_ = bits_of(*least) >> shift_;
  places_.clear();
  for (std::uint64_t cell = cell_; places_.size() <= cells(); ++cell) {
    const auto edge = std::bit_cast<double>(cell << shift_);
    places_.push_back(static_cast<std::uint32_t>(std::lower_bound(least, end, edge) - numbers.begin()));
  }
}

std::uint64_t Coding::slow(double value, double draw) const {
  if (std::isnan(value) && has_invalid) return invalid;
  if (!std::isfinite(value)) throw std::domain_error("a header's field got a number that it cannot say");
  if (kind == Kind::flag) return value != 0;
  if (kind == Kind::listed) return encode_listed(value);
  const double low = below(value);
  return fit(low + up(value, low, draw));
}

double Coding::decode_slow(std::uint64_t code) const {
  if (has_invalid && code == invalid) return std::numeric_limits<double>::quiet_NaN();
  if (kind == Kind::flag) return static_cast<double>(code);
  if (kind != Kind::listed) return number(static_cast<double>(code));
  const auto at = std::find(codes.begin(), codes.end(), code);
  return at == codes.end() ? std::numeric_limits<double>::quiet_NaN()
                           : numbers[static_cast<std::size_t>(at - codes.begin())];
}

double Coding::number(double code) const {
  if (kind == Kind::grid) return numbers[static_cast<std::size_t>(code)];
  if (kind == Kind::linear) return has_largest && code == turn_ - 1 ? largest : base + code * step;
  if (code < 0) return -1.0 * step;
  const double size = std::ldexp(1.0, mantissa), exponent = std::floor(code / size);
  const double scaled = code - exponent * size + (exponent > 0 ? size : 0.0);
  return std::ldexp(scaled, static_cast<int>(std::max(exponent - 1, 0.0))) * step;
}

double Coding::near(double value) const {
  if (kind == Kind::linear) return quick_floor((value - base) / step);
  const double steps = std::max(value / step, 0.0);
  int exponent = 0;
  std::frexp(steps, &exponent);
  exponent = std::max(exponent - mantissa, 0);
  const double mantissas = std::floor(std::ldexp(steps, -std::max(exponent - 1, 0)));
  return (exponent > 0 ? (exponent - 1) * std::ldexp(1.0, mantissa) : 0.0) + mantissas;
}

// The largest code whose number is not above the value; −1 below all.
double Coding::below(double value) const {
  if (kind == Kind::grid) return below_in_grid(value);
  double code = near(value);
  if (!wraps) code = std::clamp(code, -1.0, top_);
  if (!std::isfinite(code)) throw std::domain_error("a number is too large to be counted in steps");
  if (code >= 0 && number(code) > value) code -= 1;
  if ((wraps || code < top_) && number(code + 1) <= value) code += 1;
  return code;
}

double Coding::below_in_grid(double value) const {
  auto from = numbers.begin(), end = from + static_cast<std::ptrdiff_t>(top()) + 1;
  if (value >= end[-1]) return top_;
  const std::uint64_t cell = std::bit_cast<std::uint64_t>(value) >> shift_;  // of numbers below 0 it is beyond all
  if (cell >= cell_ && cell - cell_ + 1 < places_.size()) {
    end = from + places_[cell - cell_ + 1];
    from += places_[cell - cell_];
  }
  return static_cast<double>(std::upper_bound(from, end, value) - numbers.begin()) - 1;
}

bool Coding::up(double value, double low_code, double draw) const {
  if (rounding == Rounding::floor) return false;
  if (kind == Kind::grid && (low_code < 0 || low_code >= top_)) return false;  // saturates
  const double low = number(low_code), high = number(low_code + 1);
  if (rounding == Rounding::ceil) return value > low;
  if (rounding == Rounding::nearest) return value - low >= high - value;
  return draw < (value - low) / (high - low);
}

std::uint64_t Coding::fit(double code) const {
  if (wraps) {
    const double left = code - quick_floor(code / turn_) * turn_;  // exact: turn_ is a power of two
    return static_cast<std::uint64_t>(left);
  }
  const auto bottom = static_cast<double>(has_invalid && invalid == 0);
  if (code <= bottom) return static_cast<std::uint64_t>(bottom);
  return code >= top_ ? top() : static_cast<std::uint64_t>(code);
}

std::uint64_t Coding::encode_listed(double value) const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (std::abs(value - numbers[i]) < std::abs(value - numbers[best])) best = i;
  if (!nearest && value != numbers[best]) throw std::domain_error("a header's field does not list what a hop has");
  return codes[best];
}

}  // namespace remy_plus
