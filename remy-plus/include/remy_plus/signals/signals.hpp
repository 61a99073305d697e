// The signals that a sender can see. This list is the only one: Python and the policy files use its names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace remy_plus {

// The first nine are R+'s, in R+'s order (the axis numbers of .dna files).
enum Signal : std::size_t {
  send_ewma,           // µs between sends of acknowledged packets, weight 1/8
  receive_ewma,        // µs between receipts, weight 1/8
  rtt_ratio,           // latest RTT / smallest RTT of this flow
  slow_receive_ewma,   // µs between receipts, weight 1/256
  rtt_difference,      // µs, latest RTT − smallest RTT
  queueing_delay,      // µs, receive EWMA × outstanding packets
  loss,                // 0..1, EWMA (1/8) of "packets are missing before this one"
  queue_ewma,          // packets, weight 1/8
  link_ewma,           // 0..1, weight 1/8
  queue,               // packets waiting when this packet started service
  link,                // 0..1, share of the link used over the collection interval
  available_capacity,  // packets/µs left over the collection interval
  available_capacity_ewma,
  send_ratio,          // send rate / receive rate
  slow_receive_ratio,  // slow receive rate / receive rate
  one_way_ratio,       // latest one-way delay / smallest one-way delay of this flow
  hop_delay,           // µs from arrival at a hop to departure; this and the four below come in headers alone
  queue_time,          // µs of waiting at a hop
  flows,               // active at a hop
  mark,                // 0..1, EWMA (1/8) of marks
  load,                // what a header's formula makes of a hop; HPCC's utilisation, for one
  signal_count
};

inline constexpr std::array<std::string_view, signal_count> signal_names = {"send_ewma",
                                                                            "receive_ewma",
                                                                            "rtt_ratio",
                                                                            "slow_receive_ewma",
                                                                            "rtt_difference",
                                                                            "queueing_delay",
                                                                            "loss",
                                                                            "queue_ewma",
                                                                            "link_ewma",
                                                                            "queue",
                                                                            "link",
                                                                            "available_capacity",
                                                                            "available_capacity_ewma",
                                                                            "send_ratio",
                                                                            "slow_receive_ratio",
                                                                            "one_way_ratio",
                                                                            "hop_delay",
                                                                            "queue_time",
                                                                            "flows",
                                                                            "mark",
                                                                            "load"};

// Every signal lives in [0, signal_ceiling), the domain of R+'s rule trees.
inline constexpr double signal_ceiling = 163840;

using Signals = std::array<double, signal_count>;
using SignalMask = std::uint32_t;

constexpr SignalMask bit(Signal s) { return SignalMask{1} << s; }

// Signals that every update computes, because pacing or nearly every signal set needs them.
inline constexpr SignalMask core_signals =
    bit(send_ewma) | bit(receive_ewma) | bit(rtt_ratio) | bit(slow_receive_ewma) | bit(queue) | bit(link);

}  // namespace remy_plus
