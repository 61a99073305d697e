// SPDX-License-Identifier: GPL-2.0-only
// The book of a trial: flows, who is on, what share of time each has, and what arrived.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "remy_plus/core/record.hpp"

namespace lcca_ns3 {

struct Row : remy_plus::Flow {
  std::uint64_t samples = 0;  // acknowledgements that delay_sum is over
  std::vector<float> delays;  // µs, when kept
};

class FlowMonitor {
 public:
  explicit FlowMonitor(const Plan& plan);

  std::uint32_t open(std::size_t sender, double time, std::uint64_t length);
  void close(std::uint32_t flow, double time, bool finished, bool stalled);
  Row& row(std::uint32_t flow) { return rows_.at(flow); }
  std::vector<Row>& rows() { return rows_; }

  void acknowledged(std::uint32_t flow, std::uint32_t delivered, double rtt, double time);
  double share(std::uint32_t flow, double time);  // µs, until now
  // Delays are known per acknowledgement; where some were lost, the others stand for them.
  void finish();

 private:
  void count(double time);
  int crowd(std::size_t sender) const;  // senders that are on, on the most crowded link of this one's way

  const Plan& plan_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> on_;  // open flows
  std::vector<int> active_;        // per link
  double since_ = 0;
};

}  // namespace lcca_ns3
