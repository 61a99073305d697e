// SPDX-License-Identifier: GPL-2.0-only
#include "env/switch_driver.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "ns3/simulator.h"

namespace lcca_ns3 {

SwitchDriver::SwitchDriver(Plan plan, std::function<void()> keep_going)
    : plan_(std::move(plan)), driver_(new_driver(plan_, nullptr, std::move(keep_going))) {
  if (!driver_->marking_queue()) throw std::invalid_argument("the plan has no marking queue");
}

void SwitchDriver::start() {
  driver_->begin();
  before_ = totals();
}

SwitchReading SwitchDriver::advance(const remy_plus::SlopeMarker& setting, double us) {
  if (!(us > 0)) throw std::invalid_argument("an interval must be > 0 µs");
  if (over()) throw std::invalid_argument("the trial is over");
  driver_->marking_queue()->set(setting);
  const std::int64_t until = driver_->ns_at(std::min(std::max(before_.time, 0.0) + us, plan_.duration));
  ns3::Simulator::Stop(ns3::NanoSeconds(until) - ns3::Simulator::Now());
  driver_->go_on();
  const Totals now = totals();
  SwitchReading reading;
  reading.time = now.time - std::max(before_.time, 0.0);
  reading.queue_mean = (now.waiting - before_.waiting) / (reading.time * plan_.ns_per_us());
  reading.sent_bytes = now.sent - before_.sent;
  reading.marked = now.marked - before_.marked;
  before_ = now;
  return reading;
}

SwitchDriver::Totals SwitchDriver::totals() {
  LinkDevice& link = driver_->device(0);
  return {driver_->now(), link.waiting_integral(ns3::Simulator::Now().GetNanoSeconds()), link.sent_bytes(),
          driver_->marking_queue()->marked()};
}

Result SwitchDriver::collect() { return driver_->collect(); }

}  // namespace lcca_ns3
