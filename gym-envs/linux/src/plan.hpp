// What one trial is made of (units: packets, µs of the trial, unless a name says otherwise), and what it returns.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/core/record.hpp"
#include "remy_plus/policies/policy.hpp"
#include "wire.hpp"

namespace lcca_linux {

// TCP of the kernel with one of its congestion controls, by its name there.
struct KernelControl {
  std::string name;
};

using ControlPlan = std::variant<remy_plus::Policy, KernelControl>;

struct Options {
  std::uint32_t packet_bytes = 1500;  // of a full IP packet
  bool keep_delays = false;
  bool single_segments = true;  // the kernel hands on one packet at a time, not bursts that a NIC would cut
  bool quick_acks = true;       // its receivers acknowledge every packet
  bool real_time = true;        // priority over other processes, where that is allowed
  double start_spread = 0;      // first flows begin up to so much later, drawn per trial and sender
  double time_scale = 1;        // µs per µs of the trial: with 1000, milliseconds stand for microseconds
};

struct Plan {
  remy_plus::Network network;
  std::vector<ControlPlan> policies;                  // one for all senders, or one for each
  std::shared_ptr<const remy_plus::Stamping> header;  // of policies' packets; null for none
  Wire wire;                                          // of that header
  std::uint64_t seed = 0;
  double duration = 0;
  Options options;

  std::size_t senders() const { return static_cast<std::size_t>(network.senders); }
  const ControlPlan& policy(std::size_t sender) const {
    return policies.size() == 1 ? policies[0] : policies.at(sender);
  }
  double ns_per_us() const { return 1000 * options.time_scale; }
  std::int64_t ns(double us) const { return std::llround(us * ns_per_us()); }
  double us(std::int64_t ns) const { return static_cast<double>(ns) / ns_per_us(); }
  double ns_per_byte() const { return ns_per_us() / (network.link_rate * options.packet_bytes); }

  // Payload of a full packet; a header comes on top.
  std::uint32_t udp_payload() const {
    return options.packet_bytes - 20 - 8 + static_cast<std::uint32_t>(header ? wire.bytes : 0);
  }
  std::uint32_t tcp_payload() const { return options.packet_bytes - 20 - 20 - 12; }  // with timestamps
};

// Flow n of a sender has a port of its own, by which the link tells flows apart.
struct Ports {
  static constexpr std::uint16_t receiver = 9, first = 10'000;
  static constexpr std::size_t most = 65'535 - first;

  std::size_t senders;
  std::size_t channel(std::size_t sender, std::size_t n) const { return n * senders + sender; }
  std::size_t sender(std::size_t channel) const { return channel % senders; }
  std::size_t number(std::size_t channel) const { return channel / senders; }
};

struct Row : remy_plus::Flow {
  std::size_t channel = 0;
  std::uint64_t samples = 0;  // packets that delay_sum is over
  std::vector<float> delays;  // µs, when kept
  std::uint64_t trips = 0;    // round trips that a policy's sender measured
  double trip_sum = 0;        // µs, of these
};

struct Lateness {
  double p50 = 0, p99 = 0, most = 0;  // µs
};

struct Result {
  remy_plus::TrialTotals totals;
  std::vector<double> first_on;  // per sender
  std::vector<Row> flows;
  Lateness lateness;           // of the link
  std::uint64_t missed = 0;    // packets that the link was too slow to take
  bool real_time = false;      // its threads had priority
  double host_delay_mean = 0;  // µs that policies' senders measured beyond what the link did to packets and ACKs
};

}  // namespace lcca_linux
