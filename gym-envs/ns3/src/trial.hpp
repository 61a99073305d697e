// SPDX-License-Identifier: GPL-2.0-only
// One trial in ns-3: builds the network of a plan, runs it, and returns the engine's record. ns-3's simulator is
// global: one trial at a time in a process.
#pragma once

#include <functional>
#include <vector>

#include "ledger.hpp"
#include "plan.hpp"
#include "remy_plus/record.hpp"

namespace lcca_ns3 {

struct Result {
  remy_plus::TrialTotals totals;
  std::vector<double> first_on;  // per measured sender, µs
  std::vector<Row> flows;        // of measured senders
  std::uint64_t marked = 0;      // data packets that a queue disc marked with congestion experienced
};

// Throws std::invalid_argument for a plan that cannot be run, std::runtime_error if connections cannot be set up, and
// whatever `keep_going` throws (it is asked now and then in simulated time).
Result run_trial(const Plan& plan, const std::function<void()>& keep_going);

}  // namespace lcca_ns3
