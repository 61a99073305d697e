// Formulas of headers in postfix order, over what a hop knows and what the header carried.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace remy_plus {

class Formula {
 public:
  enum class Op : std::uint8_t {
    number,
    source,
    field,
    add,
    subtract,
    multiply,
    divide,
    floor_divide,
    modulo,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    both,
    either,
    smallest,
    largest,
    negative,
    inverse,  // logical not
    floor,
    ceil
  };

  struct Step {
    Op op;
    double value;  // a number, or the index of a source or field
    bool operator==(const Step&) const = default;
  };

  Formula() = default;
  explicit Formula(std::vector<Step> steps) : steps_(std::move(steps)) {
    std::size_t depth = 0;
    for (const Step& step : steps_) {
      const std::size_t taken = step.op <= Op::field ? 0 : step.op >= Op::negative ? 1 : 2;
      if (depth < taken) throw std::invalid_argument("a formula lacks an operand");
      depth += 1 - taken;
      if (depth > most_) throw std::invalid_argument("a formula is nested too deep");
    }
    if (!steps_.empty() && depth != 1) throw std::invalid_argument("a formula leaves operands over");
  }

  bool operator==(const Formula&) const = default;
  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }

  // `source(i)` and `field(i)` give values by index; truth is 1 and 0.
  template <class Sources, class Fields>
  double value(const Sources& source, const Fields& field) const {
    std::array<double, most_ + 1> stack;
    double* top = stack.data();  // one beyond the last
    for (const Step& step : steps_) {
      if (step.op <= Op::field) {
        const auto index = static_cast<std::size_t>(step.value);
        *top++ = step.op == Op::number ? step.value : step.op == Op::source ? source(index) : field(index);
      } else if (step.op >= Op::negative) {
        top[-1] = one(step.op, top[-1]);
      } else {
        --top;
        top[-1] = two(step.op, top[-1], top[0]);
      }
    }
    return stack[0];
  }

 private:
  static constexpr std::size_t most_ = 64;

  static double one(Op op, double x) {
    switch (op) {
      case Op::negative:
        return -x;
      case Op::inverse:
        return x == 0;
      case Op::floor:
        return std::floor(x);
      default:
        return std::ceil(x);
    }
  }

  static double two(Op op, double a, double b) {
    switch (op) {
      case Op::add:
        return a + b;
      case Op::subtract:
        return a - b;
      case Op::multiply:
        return a * b;
      case Op::divide:
        return a / b;
      case Op::floor_divide:
        return floor_divided(a, b);
      case Op::modulo:
        return modulo(a, b);
      case Op::less:
        return a < b;
      case Op::less_equal:
        return a <= b;
      case Op::greater:
        return a > b;
      case Op::greater_equal:
        return a >= b;
      case Op::equal:
        return a == b;
      case Op::not_equal:
        return a != b;
      case Op::both:
        return a != 0 && b != 0;
      case Op::either:
        return a != 0 || b != 0;
      case Op::smallest:
        return std::min(a, b);
      default:
        return std::max(a, b);
    }
  }

  // As Python has them: the remainder has the sign of the divisor.
  static double modulo(double a, double b) {
    const double left = std::fmod(a, b);
    return left != 0 && (left < 0) != (b < 0) ? left + b : left;
  }
  static double floor_divided(double a, double b) {
    const double quotient = (a - modulo(a, b)) / b, down = std::floor(quotient);
    return quotient - down > 0.5 ? down + 1 : down;
  }

  std::vector<Step> steps_;
};

}  // namespace remy_plus
