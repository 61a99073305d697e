// The unit of a pacing gap: a signal, the inverse of one, a ratio of two, or a µs.
#pragma once

#include <algorithm>
#include <cmath>

#include "remy_plus/signals/signals.hpp"

namespace remy_plus {

// over / under; signal_count stands for 1. R+'s gaps are relative to the receive EWMA, Remy's are µs.
struct PacingUnit {
  Signal over = receive_ewma, under = signal_count;

  static constexpr double longest = 1e9;  // µs

  bool absolute() const { return over == signal_count && under == signal_count; }
  SignalMask wanted() const { return of(over) | of(under); }

  // µs; 0, and so no pacing, where the signals are not known yet.
  double value(const Signals& signals) const {
    const double top = over == signal_count ? 1 : signals[over];
    if (under == signal_count) return top;
    return signals[under] > 0 ? std::min(top / signals[under], longest) : 0;
  }

 private:
  static SignalMask of(Signal s) { return s == signal_count ? 0 : bit(s); }
};

}  // namespace remy_plus
