// What the two ends of a message know of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

// Packets from `first` to before `end`.
struct PacketRange {
  std::uint32_t first, end;
};

// The sender's.
struct alignas(64) Outgoing {
  std::uint32_t unscheduled = 0;                  // packets that go unasked
  std::uint32_t granted = 0;                      // packets that may be sent
  std::uint32_t repeats = 0;                      // packets that were sent again
  std::uint8_t unscheduled_level = 0, level = 0;  // classes of what goes unasked, and of what was granted
  Time heard = 0;                                 // or sent, the last time
  Time armed = never;                             // when its timer rings
  std::vector<std::uint32_t> again;               // packets to send again, rising

  std::uint8_t level_of(std::uint32_t packet) const { return packet < unscheduled ? unscheduled_level : level; }

  void send_again(std::uint32_t packet) {
    const auto at = std::lower_bound(again.begin(), again.end(), packet);
    if (at == again.end() || *at != packet) again.insert(at, packet);
  }
};

// The receiver's.
class Incoming {
 public:
  Incoming(std::uint32_t packets, std::uint32_t window, std::uint32_t granted)
      : window(window), granted(granted), had_((packets + 63) / 64) {}

  std::uint32_t window;   // packets that may be granted and not received
  std::uint32_t granted;  // packets that may be sent
  Time heard = 0;         // or asked, the last time
  Time armed = never;     // when its timer rings

  bool has(std::uint32_t packet) const { return had_[packet / 64] >> packet % 64 & 1; }
  void take(std::uint32_t packet) { had_[packet / 64] |= std::uint64_t{1} << packet % 64; }

  // What is missing of the granted packets.
  std::vector<PacketRange> missing() const {
    std::vector<PacketRange> found;
    for (std::uint32_t packet = 0; packet < granted; ++packet) {
      if (has(packet)) continue;
      if (found.empty() || found.back().end != packet) found.push_back({packet, packet});
      found.back().end = packet + 1;
    }
    return found;
  }

 private:
  std::vector<std::uint64_t> had_;  // a bit for each packet
};

}  // namespace remy_plus::fabric
