// SPDX-License-Identifier: GPL-2.0-only
// A trial with a marking queue at its first link, whose thresholds are set from outside, interval by interval.
#pragma once

#include <memory>
#include <vector>

#include "trial/trial.hpp"

namespace lcca_ns3 {

// What a switch sees of its queue in an interval.
struct SwitchReading {
  double time = 0;           // µs, the interval's length
  double queue_mean = 0;     // packets waiting
  double sent_bytes = 0;     // on the link
  std::uint64_t marked = 0;  // packets
};

class SwitchDriver {
 public:
  SwitchDriver(Plan plan, std::function<void()> keep_going);

  void start();
  SwitchReading advance(const remy_plus::SlopeMarker& setting, double us);
  double now() const { return driver_->now(); }
  bool over() const { return driver_->over(); }
  // At the end, once: flows, and for how many ns so many packets waited.
  Result collect();
  const std::vector<double>& lengths() { return driver_->marking_queue()->lengths(); }

 private:
  struct Totals {
    double time = 0, waiting = 0, sent = 0;  // µs, packet·ns, bytes
    std::uint64_t marked = 0;
  };
  Totals totals();

  Plan plan_;
  std::unique_ptr<TrialDriver> driver_;
  Totals before_;
};

}  // namespace lcca_ns3
