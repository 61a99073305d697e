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
  send_ratio,           // send rate / receive rate
  slow_receive_ratio,   // slow receive rate / receive rate
  one_way_ratio,        // latest one-way delay / smallest one-way delay of this flow
  hop_delay,            // from arrival at a hop to departure; this and the four below come in headers alone
  queue_time,           // of waiting at a hop
  flows,                // active at a hop
  mark,                 // marks
  load,                 // what a header's formula makes of a hop; HPCC's utilisation, for one
  capacity,             // of the slowest link
  fair_rate,            // RCP's
  xcp_feedback,         // XCP's
  age,                  // of the flow, in smallest RTTs
  since_queue,          // smallest RTTs since an ACK met a queue
  queued_share,         // ACKs that met a queue, over two RTTs
  slow_rtt_difference,  // RTT difference over 128 ACKs
  rtt_difference_2,     // over two RTTs
  rtt_difference_8,     // over eight RTTs
  smallest_ack_gap,
  smallest_gap_ratio,  // smallest gap between ACKs / their mean over 8 ACKs
  gap_ratio,           // mean gap between ACKs over 8 / over 64 ACKs
  rank,                // flows at a hop with fewer bytes left; in headers alone
  trims,               // packets that switches trimmed; this and the two below are of selective hosts of fabrics
  marked_ways,         // entropies whose latest packet had a mark
  credit,              // of the receiver: what is left of the most
  receiver_rank,       // flows into the receiver with fewer bytes left; this and the next are of all hosts of fabrics
  receiver_flows,      // flows into the receiver
  signal_count,
  own_signal  // the first of a policy's own (own_signals.hpp); signal_count stands for none
};

// Those from here on only hosts of fabrics know (fabric/transport/answers.hpp, fabric/spraying/credit.hpp,
// fabric/hosts/arriving.hpp).
inline constexpr std::size_t network_signals = trims;

inline constexpr std::size_t most_own_signals = 8, signal_places = own_signal + most_own_signals;

// Weights of a new sample in the moving averages (R+).
inline constexpr double fast_weight = 1.0 / 8;
inline constexpr double slow_weight = 1.0 / 256;

enum class Smoothing : std::uint8_t { none, fast, slow, of_parts, acks_128, rtts_2, rtts_8 };

// How a signal becomes an input of a network: log2(1 + value / unit) / divisor, or the value itself where it is a
// share.
struct Scale {
  double unit;
  double divisor;  // 0: a share, from 0 to 1
};

inline constexpr Scale share{1, 0};

// How a signal becomes a feature of a law (policies/law.h), about −2 to 2.
enum class Form : std::uint8_t {
  level,        // logarithm over its scale
  excess,       // logarithm of what a ratio of at least 1 has above 1
  ratio,        // logarithm of a ratio around 1
  utilisation,  // distance from 0.9
  rare,         // logarithm of a share that is small
  even          // a share around a half
};

struct SignalRow {
  Signal signal;
  std::string_view name;
  std::string_view label;  // in a sentence
  std::string_view unit;   // empty: a ratio or a count
  Smoothing smoothing;
  Scale scale;
  Form form = Form::level;
  Signal carried = signal_count;  // in-network signals: the one that a header has to carry for it
  std::string_view field = "";    // what a header calls that, on the row of the carried signal
};

inline constexpr std::array<SignalRow, signal_count> signal_table = {{
    {send_ewma, "send_ewma", "send EWMA", "µs", Smoothing::fast, {0.1, 4}},
    {receive_ewma, "receive_ewma", "receive EWMA", "µs", Smoothing::fast, {0.1, 4}},
    {rtt_ratio, "rtt_ratio", "RTT ratio", "", Smoothing::none, {1, 1}, Form::excess},
    {slow_receive_ewma, "slow_receive_ewma", "slow receive EWMA", "µs", Smoothing::slow, {0.1, 4}},
    {rtt_difference, "rtt_difference", "RTT difference", "µs", Smoothing::none, {1, 4}},
    {queueing_delay, "queueing_delay", "queueing delay", "µs", Smoothing::fast, {1, 4}},
    {loss, "loss", "loss", "", Smoothing::fast, share, Form::rare},
    {queue_ewma, "queue_ewma", "smoothed queue", "packets", Smoothing::fast, {1, 4}, Form::level, queue},
    {link_ewma, "link_ewma", "smoothed link utilisation", "", Smoothing::fast, share, Form::utilisation, link},
    {queue, "queue", "queue", "packets", Smoothing::none, {1, 4}, Form::level, queue, "queue"},
    {link, "link", "link utilisation", "", Smoothing::none, share, Form::utilisation, link, "link utilisation"},
    {available_capacity,
     "available_capacity",
     "available capacity",
     "packets/µs",
     Smoothing::none,
     {0.1, 4},
     Form::level,
     available_capacity,
     "available capacity"},
    {available_capacity_ewma,
     "available_capacity_ewma",
     "smoothed available capacity",
     "packets/µs",
     Smoothing::fast,
     {0.1, 4},
     Form::level,
     available_capacity},
    {send_ratio, "send_ratio", "send rate / receive rate", "", Smoothing::of_parts, {1, 1}, Form::ratio},
    {slow_receive_ratio,
     "slow_receive_ratio",
     "slow receive rate / receive rate",
     "",
     Smoothing::of_parts,
     {1, 1},
     Form::ratio},
    {one_way_ratio, "one_way_ratio", "one-way delay ratio", "", Smoothing::none, {1, 1}, Form::excess},
    {hop_delay, "hop_delay", "delay at a hop", "µs", Smoothing::none, {1, 4}, Form::level, hop_delay, "hop delay"},
    {queue_time,
     "queue_time",
     "queueing time at a hop",
     "µs",
     Smoothing::none,
     {1, 4},
     Form::level,
     queue_time,
     "queueing time"},
    {flows, "flows", "flows at a hop", "", Smoothing::none, {1, 4}, Form::level, flows, "flows"},
    {mark, "mark", "share of marks", "", Smoothing::fast, share, Form::rare, mark, "mark"},
    {load, "load", "load of a hop", "", Smoothing::none, {1, 1}, Form::utilisation, load, "load"},
    {capacity, "capacity", "capacity", "packets/µs", Smoothing::none, {0.1, 4}, Form::level, capacity, "capacity"},
    {fair_rate,
     "fair_rate",
     "fair rate",
     "packets/µs",
     Smoothing::none,
     {0.01, 4},
     Form::level,
     fair_rate,
     "fair rate"},
    {xcp_feedback,
     "xcp_feedback",
     "XCP's feedback",
     "packets",
     Smoothing::none,
     {1, 1},
     Form::ratio,
     xcp_feedback,
     "XCP feedback"},
    {age, "age", "age of the flow", "RTTs", Smoothing::none, {1, 4}},
    {since_queue, "since_queue", "time since a queue", "RTTs", Smoothing::none, {1, 4}},
    {queued_share, "queued_share", "share of ACKs that met a queue", "", Smoothing::rtts_2, share, Form::even},
    {slow_rtt_difference, "slow_rtt_difference", "slow RTT difference", "µs", Smoothing::acks_128, {1, 4}},
    {rtt_difference_2, "rtt_difference_2", "RTT difference over 2 RTTs", "µs", Smoothing::rtts_2, {1, 4}},
    {rtt_difference_8, "rtt_difference_8", "RTT difference over 8 RTTs", "µs", Smoothing::rtts_8, {1, 4}},
    {smallest_ack_gap, "smallest_ack_gap", "smallest gap between ACKs", "µs", Smoothing::none, {0.1, 4}},
    {smallest_gap_ratio, "smallest_gap_ratio", "smallest gap / gap between ACKs", "", Smoothing::of_parts, share,
     Form::even},
    {gap_ratio, "gap_ratio", "gap between ACKs / slow gap", "", Smoothing::of_parts, {1, 1}, Form::ratio},
    {rank, "rank", "flows with fewer bytes left", "", Smoothing::none, {1, 4}, Form::level, rank, "rank"},
    {trims, "trims", "share of trimmed packets", "", Smoothing::rtts_2, share, Form::rare},
    {marked_ways, "marked_ways", "share of marked ways", "", Smoothing::none, share, Form::rare},
    {credit, "credit", "share of credit left", "", Smoothing::none, share, Form::even},
    {receiver_rank, "receiver_rank", "flows into the receiver with fewer bytes left", "", Smoothing::none, {1, 4}},
    {receiver_flows, "receiver_flows", "flows into the receiver", "", Smoothing::none, {1, 4}},
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

using Signals = std::array<double, signal_places>;
using SignalMask = std::uint64_t;
static_assert(signal_places < 63, "a mask has one bit per signal");

constexpr SignalMask bit(Signal s) { return SignalMask{1} << s; }

// Signals of ACKs, computed where one of them is wanted, or an extra one.
inline constexpr SignalMask ack_signals = bit(send_ewma) | bit(receive_ewma) | bit(slow_receive_ewma) | bit(rtt_ratio);

// What the port's meter of utilisation says.
inline constexpr SignalMask metered_signals =
    bit(link) | bit(link_ewma) | bit(available_capacity) | bit(available_capacity_ewma);

// What the port counts as packets leave.
inline constexpr SignalMask queue_signals = bit(queue) | bit(queue_ewma);

// Signals that updates compute only where a policy or an observer wants one of them.
inline constexpr SignalMask extra_signals = bit(rtt_difference) | bit(queueing_delay) | bit(loss) | bit(queue_ewma) |
                                            bit(link_ewma) | bit(available_capacity) | bit(available_capacity_ewma) |
                                            bit(send_ratio) | bit(slow_receive_ratio) | bit(one_way_ratio);

// Those of AckHistory (ack_history.h), computed where one of them is wanted.
inline constexpr SignalMask history_signals = bit(age) | bit(since_queue) | bit(queued_share) |
                                              bit(slow_rtt_difference) | bit(rtt_difference_2) | bit(rtt_difference_8) |
                                              bit(smallest_ack_gap) | bit(smallest_gap_ratio) | bit(gap_ratio);

// The signals that headers have to carry for these.
constexpr SignalMask carried_for(SignalMask wanted) {
  SignalMask mask = 0;
  for (const SignalRow& row : signal_table)
    if ((wanted & bit(row.signal)) && row.carried != signal_count) mask |= bit(row.carried);
  return mask;
}

// A policy that reads AckHistory itself.
inline constexpr SignalMask whole_history = SignalMask{1} << 63;

}  // namespace remy_plus
