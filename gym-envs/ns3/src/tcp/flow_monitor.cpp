// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/flow_monitor.hpp"

#include <algorithm>

namespace lcca_ns3 {

FlowMonitor::FlowMonitor(const Plan& plan) : plan_(plan), active_(plan.links.size(), 0) {}

std::uint32_t FlowMonitor::open(std::size_t sender, double time, std::uint64_t length) {
  count(time);
  const auto flow = static_cast<std::uint32_t>(rows_.size());
  Row& row = rows_.emplace_back();
  row.sender = static_cast<std::uint32_t>(sender);
  row.start = time;
  row.length = length;
  on_.push_back(flow);
  for (int link : plan_.routes[sender].forward) ++active_[static_cast<std::size_t>(link)];
  return flow;
}

void FlowMonitor::close(std::uint32_t flow, double time, bool finished, bool stalled) {
  count(time);
  Row& row = rows_[flow];
  row.end = time;
  row.finished = finished;
  row.stalled = stalled;
  on_.erase(std::find(on_.begin(), on_.end(), flow));
  for (int link : plan_.routes[row.sender].forward) --active_[static_cast<std::size_t>(link)];
}

void FlowMonitor::acknowledged(std::uint32_t flow, std::uint32_t delivered, double rtt, double time) {
  Row& row = rows_[flow];
  row.last_arrival = time;
  if (delivered <= row.delivered) return;  // a segment that was there already
  row.delivered = delivered;
  row.delay_sum += rtt;
  ++row.samples;
  if (plan_.options.keep_delays) row.delays.push_back(static_cast<float>(rtt));
}

double FlowMonitor::share(std::uint32_t flow, double time) {
  count(time);
  return rows_[flow].share;
}

void FlowMonitor::finish() {
  for (Row& row : rows_)
    if (row.samples > 0) row.delay_sum *= static_cast<double>(row.delivered) / static_cast<double>(row.samples);
}

void FlowMonitor::count(double time) {
  for (std::uint32_t flow : on_) rows_[flow].share += (time - since_) / crowd(rows_[flow].sender);
  since_ = time;
}

int FlowMonitor::crowd(std::size_t sender) const {
  int most = 1;
  for (int link : plan_.routes[sender].forward) most = std::max(most, active_[static_cast<std::size_t>(link)]);
  return most;
}

}  // namespace lcca_ns3
