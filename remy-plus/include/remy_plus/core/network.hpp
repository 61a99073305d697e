// One concrete bottleneck and its workload (units: packets, µs).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "remy_plus/core/layout.hpp"
#include "remy_plus/core/model.hpp"

namespace remy_plus {

inline constexpr double never = std::numeric_limits<double>::infinity();

class SizeTable;

// How senders come and go: on for a time, on for a number of packets, or open: every flow of a Poisson process is a
// sender of its own, which leaves when its last packet has arrived.
enum class Switching : std::uint8_t { time, bytes, open };

struct Network {
  std::uint64_t id = 0;
  double link_rate = 0;  // packets/µs
  double rtt = 0;        // µs, propagation only
  int senders = 0;
  double buffer = never;  // packets waiting, the one in service excluded
  double mean_on = 0;     // µs, or packets per flow when byte-switched
  double mean_off = 0;    // µs
  double loss = 0;        // per packet, after the link
  Switching switched = Switching::time;
  double arrival_rate = 0;                 // flows/µs, when open
  std::shared_ptr<const SizeTable> sizes;  // of flows, when open
  std::shared_ptr<const Layout> layout;    // none: one bottleneck
};

// Throws std::invalid_argument naming the field and its value.
void validate(const Network& network);

}  // namespace remy_plus
