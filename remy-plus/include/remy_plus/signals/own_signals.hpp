// Signals of a policy's own: formulas over the registered ones, computed at every ACK that moves those.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "remy_plus/headers/formula.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus {

struct OwnSignal {
  std::string name;
  Formula formula;  // its sources are registered signals
  Signal like;      // the registered signal whose form it has as a feature of a law
};

class OwnSignals {
 public:
  // Signal i has the place own_signal + i. Throws std::invalid_argument naming what is wrong.
  explicit OwnSignals(std::vector<OwnSignal> all) : all_(std::move(all)) {
    if (all_.size() > most_own_signals) throw std::invalid_argument("a policy of so many signals of its own");
    for (const OwnSignal& each : all_)
      for (const Formula::Step& step : each.formula.steps()) {
        if (step.op == Formula::Op::field ||
            (step.op == Formula::Op::source && !(step.value < static_cast<int>(signal_count))))
          throw std::invalid_argument(each.name + ": a formula over signals can only have registered ones");
        if (step.op == Formula::Op::source) wanted_ |= bit(static_cast<Signal>(step.value));
      }
  }

  const std::vector<OwnSignal>& all() const { return all_; }
  SignalMask wanted() const { return wanted_; }  // what the formulas read

  // Every signal lives in [0, signal_ceiling). What is no finite number is not known: the value before stays.
  void compute(Signals& signals) const {
    constexpr double ceiling = signal_ceiling - 1;
    const auto source = [&signals](std::size_t i) { return signals[i]; };
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const double value = all_[i].formula.value(source, source);
      if (std::isfinite(value)) signals[own_signal + i] = std::clamp(value, 0.0, ceiling);
    }
  }

 private:
  std::vector<OwnSignal> all_;
  SignalMask wanted_ = 0;
};

// Those of a policy, or null.
template <class P>
std::shared_ptr<const OwnSignals> own_of(const P& policy) {
  if constexpr (requires { policy.own; }) return policy.own;
  return nullptr;
}

// A signal by its name, registered or one of `own`, which may be null. Throws std::invalid_argument.
inline Signal signal_by_name(std::string_view name, const OwnSignals* own) {
  for (std::size_t i = 0; own && i < own->all().size(); ++i)
    if (own->all()[i].name == name) return static_cast<Signal>(own_signal + i);
  return signal_by_name(name);
}

// The row of the table that tells a signal's form and scale.
inline const SignalRow& form_row(Signal signal, const OwnSignals* own) {
  return signal_table[signal < signal_count ? signal : own->all()[signal - own_signal].like];
}

}  // namespace remy_plus
