// Round trips as the hosts' NICs time them: by the ACK of every packet, whatever the transport looks at.
#pragma once

#include <cstdint>
#include <vector>

#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

struct RoundTrips {
  struct Sum {
    std::uint64_t acks = 0;
    double time = 0;   // ps
    double share = 0;  // of each round trip that is propagation
  };

  std::vector<Sum> hosts;         // by sender
  std::vector<Time> propagation;  // (flows,) there and back

  void add(std::uint32_t flow, std::uint32_t host, Time rtt) {
    Sum& sum = hosts[host];
    ++sum.acks;
    sum.time += static_cast<double>(rtt);
    sum.share += static_cast<double>(propagation[flow]) / static_cast<double>(rtt);
  }
};

}  // namespace remy_plus::fabric
