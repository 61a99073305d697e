// The signals that a sender can see, in one table: Python, the policy files and the agents all read it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace remy_plus {

// The first nine are R+'s, in R+'s order (the axis numbers of .dna files).
enum Signal : std::size_t {
  send_ewma,          // between sends of acknowledged packets
  receive_ewma,       // between ACKs
  rtt_ratio,          // latest RTT / smallest RTT of this flow
  slow_receive_ewma,  // between ACKs
  rtt_difference,     // latest RTT − smallest RTT
  queueing_delay,     // receive EWMA × outstanding packets
  loss,               // "packets are missing before this one"
  queue_ewma,
  link_ewma,
  queue,               // waiting when this packet started service
  link,                // share of the link used over the collection interval
  available_capacity,  // left over the collection interval
  available_capacity_ewma,
  send_ratio,          // send rate / receive rate
  slow_receive_ratio,  // slow receive rate / receive rate
  one_way_ratio,       // latest one-way delay / smallest one-way delay of this flow
  hop_delay,           // from arrival at a hop to departure; this and the four below come in headers alone
  queue_time,          // of waiting at a hop
  flows,               // active at a hop
  mark,                // marks
  load,                // what a header's formula makes of a hop; HPCC's utilisation, for one
  capacity,            // of the slowest link
  fair_rate,           // RCP's
  xcp_feedback,        // XCP's
  signal_count
};

// Weights of a new sample in the moving averages (R+).
inline constexpr double fast_weight = 1.0 / 8;
inline constexpr double slow_weight = 1.0 / 256;

enum class Smoothing : std::uint8_t { none, fast, slow, of_parts };

// How a signal becomes an input of a network: log2(1 + value / unit) / divisor, or the value itself where it is a
// share.
struct Scale {
  double unit;
  double divisor;  // 0: a share, from 0 to 1
};

inline constexpr Scale share{1, 0};

struct SignalRow {
  Signal signal;
  std::string_view name;
  std::string_view label;  // in a sentence
  std::string_view unit;   // empty: a ratio or a count
  Smoothing smoothing;
  Scale scale;
  Signal carried = signal_count;  // in-network signals: the one that a header has to carry for it
  std::string_view field = "";    // what a header calls that, on the row of the carried signal
};

inline constexpr std::array<SignalRow, signal_count> signal_table = {{
    {send_ewma, "send_ewma", "send EWMA", "µs", Smoothing::fast, {0.1, 4}},
    {receive_ewma, "receive_ewma", "receive EWMA", "µs", Smoothing::fast, {0.1, 4}},
    {rtt_ratio, "rtt_ratio", "RTT ratio", "", Smoothing::none, {1, 1}},
    {slow_receive_ewma, "slow_receive_ewma", "slow receive EWMA", "µs", Smoothing::slow, {0.1, 4}},
    {rtt_difference, "rtt_difference", "RTT difference", "µs", Smoothing::none, {1, 4}},
    {queueing_delay, "queueing_delay", "queueing delay", "µs", Smoothing::fast, {1, 4}},
    {loss, "loss", "loss", "", Smoothing::fast, share},
    {queue_ewma, "queue_ewma", "smoothed queue", "packets", Smoothing::fast, {1, 4}, queue},
    {link_ewma, "link_ewma", "smoothed link utilisation", "", Smoothing::fast, share, link},
    {queue, "queue", "queue", "packets", Smoothing::none, {1, 4}, queue, "queue"},
    {link, "link", "link utilisation", "", Smoothing::none, share, link, "link utilisation"},
    {available_capacity,
     "available_capacity",
     "available capacity",
     "packets/µs",
     Smoothing::none,
     {0.1, 4},
     available_capacity,
     "available capacity"},
    {available_capacity_ewma,
     "available_capacity_ewma",
     "smoothed available capacity",
     "packets/µs",
     Smoothing::fast,
     {0.1, 4},
     available_capacity},
    {send_ratio, "send_ratio", "send rate / receive rate", "", Smoothing::of_parts, {1, 1}},
    {slow_receive_ratio, "slow_receive_ratio", "slow receive rate / receive rate", "", Smoothing::of_parts, {1, 1}},
    {one_way_ratio, "one_way_ratio", "one-way delay ratio", "", Smoothing::none, {1, 1}},
    {hop_delay, "hop_delay", "delay at a hop", "µs", Smoothing::none, {1, 4}, hop_delay, "hop delay"},
    {queue_time, "queue_time", "queueing time at a hop", "µs", Smoothing::none, {1, 4}, queue_time, "queueing time"},
    {flows, "flows", "flows at a hop", "", Smoothing::none, {1, 4}, flows, "flows"},
    {mark, "mark", "share of marks", "", Smoothing::fast, share, mark, "mark"},
    {load, "load", "load of a hop", "", Smoothing::none, {1, 1}, load, "load"},
    {capacity, "capacity", "capacity", "packets/µs", Smoothing::none, {0.1, 4}, capacity, "capacity"},
    {fair_rate, "fair_rate", "fair rate", "packets/µs", Smoothing::none, {0.01, 4}, fair_rate, "fair rate"},
    {xcp_feedback, "xcp_feedback", "XCP's feedback", "packets", Smoothing::none, {1, 1}, xcp_feedback, "XCP feedback"},
}};

// A row that is missing, out of place or without a scale does not compile.
static_assert([] {
  for (std::size_t s = 0; s < signal_count; ++s) {
    const SignalRow& row = signal_table[s];
    if (row.signal != s || row.name.empty() || row.label.empty() || !(row.scale.unit > 0)) return false;
    if (row.carried != signal_count && signal_table[row.carried].field.empty()) return false;
  }
  return true;
}());

// The power of time in a signal's unit: 1 for µs, −1 for packets/µs, 0 for packets.
constexpr int power_of_time(Signal signal) {
  const std::string_view unit = signal_table[signal].unit;
  if (unit.ends_with("/µs")) return -1;
  return unit.ends_with("µs") ? 1 : 0;
}

// Throws std::invalid_argument.
inline Signal signal_by_name(std::string_view name) {
  const auto at = std::ranges::find(signal_table, name, &SignalRow::name);
  if (at == signal_table.end()) throw std::invalid_argument("unknown signal '" + std::string(name) + "'");
  return at->signal;
}

// Every signal lives in [0, signal_ceiling), the domain of R+'s rule trees.
inline constexpr double signal_ceiling = 163840;

using Signals = std::array<double, signal_count>;
using SignalMask = std::uint32_t;
static_assert(signal_count <= 32, "a mask has one bit per signal");

constexpr SignalMask bit(Signal s) { return SignalMask{1} << s; }

// Signals that updates compute only where a policy or an observer wants one of them.
inline constexpr SignalMask extra_signals = bit(rtt_difference) | bit(queueing_delay) | bit(loss) | bit(queue_ewma) |
                                            bit(link_ewma) | bit(available_capacity) | bit(available_capacity_ewma) |
                                            bit(send_ratio) | bit(slow_receive_ratio) | bit(one_way_ratio);

}  // namespace remy_plus
