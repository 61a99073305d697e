// CoDel that marks (Nichols et al., RFC 8289, section 5): where packets have waited for a target or longer during a
// whole interval, one is marked, and others ever more often until one waits for less.
#pragma once

#include <cmath>

#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

struct Codel {
  static constexpr bool sees_marked = true, needs_sojourn = true;

  struct Parameters {
    using Marker = Codel;

    double target = 10e6, interval = 150e6;  // ps

    Parameters at(double) const { return *this; }
    void require() const {
      require_range("target_us", target / microsecond, 0, longest_us);
      require_range("interval_us", interval / microsecond, 1e-3, longest_us);
    }
  };

  Codel() = default;
  explicit Codel(const Parameters& given) : parameters(given) {}

  Parameters parameters;

  bool marks(const Sight& sight, Draws&) {
    const bool above = stays_above(sight);
    if (!marking_) return above && begin(sight.now);
    if (!above) {
      marking_ = false;
      return false;
    }
    if (sight.now < next_) return false;
    ++count_;
    next_ += gap(count_);
    return true;
  }

 private:
  // A queue of no more than a packet is a good one, however slow the link.
  bool stays_above(const Sight& sight) {
    if (static_cast<double>(sight.sojourn) < parameters.target || sight.queued <= sight.bytes) {
      due_ = never;
      return false;
    }
    if (due_ == never) due_ = sight.now + gap(1);
    return sight.now >= due_;
  }

  // Marks as often as when it last stopped, if that was not long ago.
  bool begin(Time now) {
    marking_ = true;
    const double since = count_ - began_with_;
    count_ = since > 1 && static_cast<double>(now - next_) < 16 * parameters.interval ? since : 1;
    began_with_ = count_;
    next_ = now + gap(count_);
    return true;
  }

  Time gap(double count) const { return static_cast<Time>(parameters.interval / std::sqrt(count)); }

  Time due_ = never, next_ = 0;
  bool marking_ = false;
  double count_ = 0, began_with_ = 0;
};

}  // namespace remy_plus::fabric
