// What an ACK of a selective receiver says.
#pragma once

#include <cstdint>

#include "remy_plus/fabric/packet.hpp"

namespace remy_plus::fabric {

inline constexpr std::uint32_t no_packet = 0xffffffff, a_request = 0xfffffffe;

struct Report {
  std::uint32_t expected = 0;      // all packets before it have arrived
  std::uint32_t packet = 0;        // whose arrival is answered; no_packet: none; a_request: see `request`
  std::uint32_t base = 0;          // of the map
  std::uint32_t out_of_order = 0;  // packets beyond `expected` that have arrived
  std::uint64_t map = 0;           // a bit for each of the 64 packets from `base` on
  std::int64_t bytes = 0;          // on the wire, headers apart, that have arrived so far
  std::uint32_t request = 0;       // number of the request or probe that is answered
};

using Reports = Pool<Report>;

}  // namespace remy_plus::fabric
