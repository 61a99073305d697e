// SPDX-License-Identifier: GPL-2.0-only
// What one trial is made of (units: packets, µs, unless a name says otherwise).
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/fabric/marker.hpp"
#include "remy_plus/headers/stamping.hpp"
#include "remy_plus/policies/policy.hpp"

namespace lcca_ns3 {

struct RateStep {
  double from = 0;  // µs
  double rate = 0;  // packets/µs
};

struct LinkPlan {
  int tail = 0, head = 0;
  double rate = 0;              // packets/µs, at first
  double delay = 0;             // µs, one way
  double buffer = 0;            // packets
  std::vector<RateStep> steps;  // later rates, in order of time
};

struct RoutePlan {
  std::vector<int> forward, backward;  // indices of links
  bool measured = true;
};

// Decides at the sender which packets met congestion, in place of the network's ECN marks (DCTCP', A.7).
struct Threshold {
  std::string signal;  // "queue" (packets), "link" (utilisation) or "rtt" (over the flow's smallest)
  double from = 0;
};

// A congestion control of ns-3 or of this module, by its TypeId and attributes.
struct StockControl {
  std::string type;
  std::map<std::string, std::string> attributes;
  bool ecn = false;
  bool timestamps = false;                       // TCP's option, which it measures one-way delays by
  bool needs_queue = false, needs_link = false;  // in-network signals that it reads
  bool stock_rates = false;                      // samples of ns3::TcpRateLinux and not of RateSampler
  std::optional<Threshold> congested;
};

// Drop-tail unless `kind` says "red" (attributes are those of ns3::RedQueueDisc), "marking" (a MarkingQueue at the
// first link) or "marker" (a PortQueue with this marker at all links).
struct QueuePlan {
  std::string kind = "drop-tail";
  std::map<std::string, std::string> attributes;
  remy_plus::fabric::MarkerParameters marker;
};

using ControlPlan = std::variant<remy_plus::Policy, StockControl>;

// A flow of a sender whose flows are given.
struct TracedFlow {
  double start = 0;          // µs
  std::uint64_t length = 1;  // packets
};

// A span of the trial that is counted by itself: from the first instant to before the second.
struct Window {
  double from = 0, to = 0;  // µs
};

struct Options {
  std::uint32_t packet_bytes = 590;  // a data packet on the wire, in-network signals not counted
  std::int64_t header_bytes = -1;    // of in-network signals; -1: what the policy's signals need
  double host_gbps = 1000;
  double min_rto = 5000;              // µs
  std::uint32_t initial_window = 10;  // packets, of stock congestion controls
  double time_scale = 1;              // simulated µs per µs: 1000 lets milliseconds stand for microseconds (A.3)
  bool keep_delays = false;
  bool one_way = false;
  // A sender whose first flow begins after another's sets its connection up then, over the queues that are there; a
  // lost SYN is sent again after a second of the simulation. Else connections are there before the trial begins.
  bool late_handshakes = false;
};

struct Plan {
  remy_plus::Network network;
  int routers = 2;
  std::vector<LinkPlan> links;
  std::vector<RoutePlan> routes;
  std::vector<ControlPlan> policies;  // one for all routes, or one per route
  QueuePlan queue;
  std::vector<std::vector<TracedFlow>> trace;  // per route; with none, senders go on and off at random
  std::vector<Window> windows;                 // what the first link does in each is counted
  std::uint64_t seed = 0;
  double duration = 0;
  remy_plus::Model model;
  std::shared_ptr<const remy_plus::Stamping> header;  // of the policy's packets; none: in-network signals as they are
  Options options;

  const ControlPlan& policy(std::size_t route) const { return policies.size() == 1 ? policies[0] : policies.at(route); }
  const StockControl* stock(std::size_t route) const { return std::get_if<StockControl>(&policy(route)); }
  double ns_per_us() const { return 1000 * options.time_scale; }
  std::int64_t ns(double us) const { return std::llround(us * ns_per_us()); }
};

}  // namespace lcca_ns3
