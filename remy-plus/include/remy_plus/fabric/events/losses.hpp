// Which flows have lost packets on a fabric with PFC. Packets wait there for longer than any timer, and are lost with
// their link or where headroom is too small alone: a timer that acts for other flows sends again what still comes.
// HPCC's simulator has no such timers at all.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

class Losses {
 public:
  Losses(std::size_t flows, Time lookahead) : first_(flows), notice_(2 * lookahead) {
    for (auto& each : first_) each = never;
  }

  void add(std::uint32_t flow, Time at) {
    Time known = first_[flow].load(std::memory_order_relaxed);
    while (at < known && !first_[flow].compare_exchange_weak(known, at, std::memory_order_relaxed)) {
    }
  }

  // Whether it lost a packet more than two windows ago: of these all threads have told, whoever lost it.
  bool any(std::uint32_t flow, Time now) const { return first_[flow].load(std::memory_order_relaxed) < now - notice_; }

 private:
  std::vector<std::atomic<Time>> first_;  // (flows,)
  Time notice_;
};

}  // namespace remy_plus::fabric
