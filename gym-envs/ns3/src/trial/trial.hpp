// SPDX-License-Identifier: GPL-2.0-only
// One trial in ns-3: builds the network of a plan, runs it, and returns the engine's record. ns-3's simulator is
// global: one trial at a time in a process.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "net/link_device.hpp"
#include "net/marking_queue.hpp"
#include "plan/plan.hpp"
#include "remy_plus/core/record.hpp"
#include "tcp/controller.hpp"
#include "tcp/flow_monitor.hpp"
#include "tcp/source.hpp"
#include "trial/window_counts.hpp"

namespace lcca_ns3 {

struct Result {
  remy_plus::TrialTotals totals;
  std::vector<double> first_on;    // per measured sender, µs
  std::vector<Row> flows;          // of measured senders
  std::vector<WindowRow> windows;  // route by route, if the plan has windows
  std::uint64_t marked = 0;        // data packets that a queue disc marked with congestion experienced
};

// Throws std::invalid_argument for a plan that cannot be run, std::runtime_error if connections cannot be set up, and
// whatever `keep_going` throws (it is asked now and then in simulated time).
Result run_trial(const Plan& plan, const std::function<void()>& keep_going);

// A trial that is played piece by piece. ns-3 starts afresh when it is made, and ends with it.
class TrialDriver {
 public:
  virtual ~TrialDriver() = default;
  // Sets up the connections; then the trial's clock stands just before 0.
  virtual void begin() = 0;
  // Plays on until ns3::Simulator::Stop takes effect, at the latest to the end of the trial.
  virtual void go_on() = 0;
  virtual double now() const = 0;  // µs
  virtual bool over() const = 0;
  virtual std::int64_t ns_at(double us) const = 0;  // ns of ns-3's clock at a time of the trial
  virtual Result collect() = 0;

  virtual FlowMonitor& flow_monitor() = 0;
  virtual Source* steered() = 0;  // the first sender, with a controller
  virtual LinkDevice& device(std::size_t link) = 0;
  virtual MarkingQueue* marking_queue() = 0;  // null if the plan has none
};

// `plan` and `controller` are borrowed; the controller, if there is one, steers the first sender.
std::unique_ptr<TrialDriver> new_driver(const Plan& plan, Controller* controller, std::function<void()> keep_going);

}  // namespace lcca_ns3
