// What two stamps of one hop say: how long, how much, at what rate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "remy_plus/fabric/transport.hpp"

namespace remy_plus::fabric {

struct Between {
  double ns;
  double gbps;  // of the bytes that the port counted
};

inline Between between(const Stamp& before, const Stamp& now, const Frame& frame) {
  const std::uint32_t times = (1u << frame.stamp_time_bits) - 1, counts = (1u << frame.stamp_bytes_bits) - 1;
  const double ns = std::max<double>((now.time - before.time) & times, 1);
  const double bytes = ((now.bytes - before.bytes) & counts) * frame.bytes_quantum;
  return {ns, bytes * 8 / ns};
}

}  // namespace remy_plus::fabric
