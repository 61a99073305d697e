// SPDX-License-Identifier: GPL-2.0-only
// The rate of a link over time. A change takes effect at its instant: what is left of the packet being sent then goes
// on at the new rate.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace lcca_ns3 {

class RateTrace {
 public:
  struct Step {
    double from = 0;          // ns
    double bytes_per_ns = 0;  // > 0
  };

  // `steps` in order of time.
  RateTrace(double bytes_per_ns, std::vector<Step> steps) : rate_(bytes_per_ns), steps_(std::move(steps)) {}

  bool changes() const { return !steps_.empty(); }

  // When so many bytes have left that start at `start`; starts must not decrease.
  double finish(double start, double bytes) {
    for (; next_ < steps_.size() && steps_[next_].from <= start; ++next_) rate_ = steps_[next_].bytes_per_ns;
    double rate = rate_;
    for (std::size_t i = next_; i < steps_.size() && start + bytes / rate > steps_[i].from; ++i) {
      bytes -= (steps_[i].from - start) * rate;
      start = steps_[i].from;
      rate = steps_[i].bytes_per_ns;
    }
    return start + bytes / rate;
  }

  double rate() const { return rate_; }  // bytes/ns, as the last packet started

 private:
  double rate_;
  std::vector<Step> steps_;
  std::size_t next_ = 0;
};

}  // namespace lcca_ns3
