// One concrete bottleneck and its workload (units: packets, µs).
#pragma once

#include <cstdint>
#include <memory>

#include "remy_plus/core/layout.hpp"
#include "remy_plus/core/model.hpp"
#include "remy_plus/core/workload.hpp"

namespace remy_plus {

struct Network {
  std::uint64_t id = 0;
  double link_rate = 0;  // packets/µs
  double rtt = 0;        // µs, propagation only
  int senders = 0;
  double buffer = never;  // packets waiting, the one in service excluded
  double loss = 0;        // per packet, after the link
  std::shared_ptr<const Workload> workload;
  std::shared_ptr<const Layout> layout;  // none: one bottleneck
  double jitter = 0;                     // µs, mean of the exponential time by which senders note ACKs late

  std::size_t all_senders() const { return layout ? layout->routes.size() : static_cast<std::size_t>(senders); }
};

// Throws std::invalid_argument naming the field and its value.
void validate(const Network& network);

}  // namespace remy_plus
