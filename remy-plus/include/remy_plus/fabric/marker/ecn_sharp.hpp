// ECN# (Zhang et al., CoNEXT 2019, Algorithm 1): a packet that waited for longer than a limit is marked, and of a queue
// that stays above a target for an interval one packet at once and others ever more often, as by CoDel.
#pragma once

#include <cmath>

#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

struct EcnSharp {
  static constexpr bool sees_marked = true, needs_sojourn = true;

  struct Parameters {
    using Marker = EcnSharp;

    double instant = 80e6, target = 10e6, interval = 150e6;  // ps

    Parameters at(double) const { return *this; }
    void require() const {
      require_range("instant_us", instant / microsecond, 0, longest_us);
      require_range("target_us", target / microsecond, 0, longest_us);
      require_range("interval_us", interval / microsecond, 1e-3, longest_us);
    }
  };

  EcnSharp() = default;
  explicit EcnSharp(const Parameters& given) : parameters(given) {}

  Parameters parameters;

  bool marks(const Sight& sight, Draws&) {
    const bool persistent = marks_persistent(sight);
    return static_cast<double>(sight.sojourn) > parameters.instant || persistent;
  }

 private:
  bool marks_persistent(const Sight& sight) {
    const bool built_up = stays_above(sight);
    if (!marking_) {
      if (!built_up) return false;
      marking_ = true;
      count_ = 1;
      next_ = sight.now + gap(1);
      return true;
    }
    if (!built_up) {
      marking_ = false;
      return false;
    }
    if (sight.now <= next_) return false;
    ++count_;
    next_ += gap(count_);
    return true;
  }

  bool stays_above(const Sight& sight) {
    if (static_cast<double>(sight.sojourn) < parameters.target) {
      above_since_ = never;
      return false;
    }
    if (above_since_ == never) above_since_ = sight.now;
    return sight.now > above_since_ + gap(1);
  }

  Time gap(double count) const { return static_cast<Time>(parameters.interval / std::sqrt(count)); }

  Time above_since_ = never, next_ = 0;
  bool marking_ = false;
  double count_ = 0;  // of this stretch
};

}  // namespace remy_plus::fabric
