// A flow: how it is given, and what its sender and its receiver know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

inline constexpr Time latest_start = Time{1} << 60;  // 13 days

// Ways are found by hash where they are empty.
struct FlowStart {
  int src, dst;        // hosts
  std::uint64_t size;  // bytes
  Time start;          // at the earliest, if it waits for others
  std::vector<int> switches, ack_switches;
  int priority = 0;  // class of traffic, 0 first
  int after = -1;    // set of flows that it waits for, and `off` more; below 0: none
  Time off = 0;
  int pair = -1;  // first flow of its queue pair, whose ways it takes; below 0: its own
};

// What data packets carry for their sender, and ACKs bring back.
enum class Telemetry : std::uint8_t { none, sent_time, stack, fair_rate, header };

// Sender and receiver may be in different threads: what each writes is in lines of the cache of its own.
struct alignas(64) Flow {
  std::uint64_t size = 0;  // bytes
  Time start = 0;          // never: not known yet
  std::uint32_t src = 0, dst = 0;
  std::uint32_t packets = 0;  // that it takes
  std::uint32_t pair = 0;     // first flow of its queue pair
  int payload = 0;            // bytes of all but the last
  int switches = 0;           // that its data passes
  Time base_rtt = 0;          // of its own way: a full frame and an ACK that wait nowhere
  std::uint8_t priority = 0;  // class of traffic
  Telemetry telemetry = Telemetry::none;
  bool says_left = false;                // its packets say how many bytes it has left, and ACKs how it stands
  int data_overhead = 0, ack_bytes = 0;  // of a packet, telemetry included, headers apart

  // The sender.
  alignas(64) std::uint32_t next = 0;  // packet to send
  std::uint32_t acked = 0;             // packets before it have arrived
  std::uint32_t furthest = 0;          // no packet from it on was ever sent
  std::uint32_t place = 0;             // in the rotation of its NIC
  double line_gbps = 0;                // of the host's link
  double gbps = 0;                     // at which it sends
  double window = 0;                   // payload bytes that may be under way; 0: any number
  bool window_by_rate = false;         // the window goes with gbps / line_gbps
  bool in_turn = false;                // at its NIC
  std::uint16_t timeouts = 0;          // in a row
  int last_frame = 0;                  // bytes on the wire
  Time next_send = 0;
  Time timer = never;     // when the transport wants to be called
  Time armed = never;     // when it will be
  Time cut = -never / 2;  // by a loss, the last time
  Time progress = 0;      // when `acked` last moved on, or the first packet after it was sent
  Time ended = never;
  std::uint32_t timed = 0;  // packet whose ACK will tell the RTT, with Telemetry::fair_rate
  Time timed_at = never;    // when it was sent; never: none is timed
  Time rtt = 0;             // 0: not known yet
  Time paced = never;       // when its NIC looks at it again

  // The receiver.
  alignas(64) std::uint32_t expected = 0;  // packet
  Time nacked = -never / 2;                // when it asked for it
  std::uint16_t left = 0;                  // what the last packet said: left_code()
  bool arriving = false;                   // something has come of it, and not all

  std::uint64_t bytes_before(std::uint32_t packet) const {
    return std::min(size, static_cast<std::uint64_t>(packet) * static_cast<std::uint64_t>(payload));
  }
  std::uint64_t under_way() const { return bytes_before(next) - bytes_before(acked); }
  bool unsent() const { return next < packets; }
  double usable_window() const { return window_by_rate ? window * gbps / line_gbps : window; }
  bool window_open() const {
    return window == 0 || under_way() < std::max<std::uint64_t>(static_cast<std::uint64_t>(usable_window()), 1);
  }

  // Sends at another rate from now on: the gap after the last frame is already in that rate.
  void pace(double to_gbps, bool whole_ns) {
    if (last_frame > 0) next_send += time_at(to_gbps, last_frame, whole_ns) - time_at(gbps, last_frame, whole_ns);
    gbps = to_gbps;
  }
};

}  // namespace remy_plus::fabric
