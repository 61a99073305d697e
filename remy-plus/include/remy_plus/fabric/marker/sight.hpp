// What a marker sees of a packet and its port, and where it draws from.
#pragma once

#include <cstdint>

#include "remy_plus/core/random.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

// Ports have one queue: there is one class of traffic.
struct Sight {
  Time now;
  Time sojourn;         // that the packet has waited; 0 as it joins the queue
  std::int64_t queued;  // bytes that it finds as it joins, or leaves behind
  int bytes;            // of the packet on the wire
  std::uint32_t flow;
  double gbps;  // of the port
};

// Random numbers of one port, of no other and for nothing else.
class Draws {
 public:
  Draws() = default;
  explicit Draws(std::uint64_t key) : key_(key) {}

  // Uniform on (0, 1].
  double next() { return static_cast<double>((mix64(key_ + 0x9e3779b97f4a7c15ull * ++count_) >> 11) + 1) * 0x1.0p-53; }

 private:
  std::uint64_t key_ = 0, count_ = 0;
};

}  // namespace remy_plus::fabric
