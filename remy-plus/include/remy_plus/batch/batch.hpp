// Many trials on a pool of threads. A trial's result depends on its policy, network, seed, duration and model alone,
// never on the number of threads or on the trials beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/core/record.hpp"
#include "remy_plus/headers/stamping.hpp"
#include "remy_plus/policies/policy.hpp"

namespace remy_plus {

struct Trial {
  std::uint32_t policy;
  std::uint32_t network;
  std::uint64_t seed;
};

// Counts the signal values of one rule's look-ups (feedback of current flows) in two passes over the upper and lower
// 16 bits of single-precision floats (see census_bits): their order is that of the values, so medians come out exact to
// that precision.
struct Census {
  std::uint32_t rule = 0;
  std::vector<Signal> axes;
  std::vector<std::uint32_t> prefix;  // upper 16 bits per axis; empty in the first pass
};

struct BatchOptions {
  double duration = 10000;  // µs
  Model model;
  unsigned jobs = 1;
  bool keep_delays = false;  // fills in percentiles
  bool keep_flows = false;
  bool keep_links = false;
  bool keep_rule_hits = false;            // look-ups per rule of every trial; needs policies of equal size
  std::vector<double> phase_round_trips;  // µs, per network: keeps what senders had by phase; 0: not on this network
  std::optional<Census> census;           // rule tables only
  std::vector<std::shared_ptr<const Stamping>> headers;  // per policy: that its packets carry, or none; or empty
};

struct BatchResult {
  std::vector<TrialTotals> trials;
  std::vector<SenderTotals> senders;      // trials' senders one after another
  std::vector<std::size_t> sender_begin;  // trials + 1
  std::vector<PhaseTotals> phases;        // of these senders; empty unless kept
  std::vector<Flow> flows;                // empty unless kept
  std::vector<std::size_t> flow_begin;    // trials + 1
  std::vector<LinkTotals> links;          // empty unless kept; one bottleneck is one link
  std::vector<std::size_t> link_begin;    // trials + 1
  std::vector<RuleHits> rule_hits;        // per policy
  RuleHits trial_rule_hits;               // trials × rules; empty unless kept
  std::vector<std::uint64_t> census;      // axes × 65536
};

// `keep_going` is asked from the calling thread now and then; false stops the batch and throws Interrupted. With a
// policy of `in_calling_thread` there are no other threads, and it is not asked: Ctrl-C reaches the policy.
struct Interrupted {};
BatchResult run_batch(const std::vector<Policy>& policies, const std::vector<Network>& networks,
                      const std::vector<Trial>& trials, const BatchOptions& options,
                      const std::function<bool()>& keep_going);

}  // namespace remy_plus
