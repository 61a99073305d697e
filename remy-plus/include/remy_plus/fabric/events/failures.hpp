// What happens to links during a run: they slow down, fail and come back; and what routing knows of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "remy_plus/fabric/units.hpp"
#include "remy_plus/fabric/wiring.hpp"

namespace remy_plus::fabric {

inline constexpr double as_built = -1;

struct Change {
  Time at;
  int port;     // an end of the link
  double gbps;  // of both directions from then on; 0: the link is down; or as_built
  int event;    // that it is part of
};

struct Events {
  std::vector<Change> changes;  // rising by their times
  Time convergence = 0;         // so long after a change routing knows of it, if it still holds
};

// Which links are down, which of them routing takes for down, and what was lost by which event.
class Failures {
 public:
  // Throws std::invalid_argument where a change cannot be.
  Failures(const Events& events, const Wiring& wiring);

  // When a link changes, or routing hears of a change; never: no more.
  Time next() const { return std::min(next_change(), next_notice()); }
  const Change& change() const { return events_.changes[changed_]; }  // the one at next_change()
  Time next_change() const { return changed_ < events_.changes.size() ? change().at : never; }
  Time next_notice() const;

  // The change has been made.
  void make();
  // Routing hears of changes until `now`, of a link's last ones; returns whether one was a failure or a repair.
  bool notice(Time now);

  bool down(int port) const { return by_[static_cast<std::size_t>(port)] >= 0; }
  // (ports,) not 0 where routing takes the link for down.
  const std::vector<std::uint8_t>& known_down() const { return known_down_; }

  // A data packet is lost at a port that is down, or, below 0, because routing has no way. Switches may say so at the
  // same time.
  void count_lost(int port, std::uint64_t packets = 1) {
    const auto event = static_cast<std::size_t>(port < 0 ? noticed_event_ : by_[static_cast<std::size_t>(port)]);
    std::atomic_ref(lost_[event]).fetch_add(packets, std::memory_order_relaxed);
  }
  const std::vector<std::uint64_t>& lost() const { return lost_; }  // (events,) data packets
  const std::vector<Time>& begins() const { return begins_; }       // (events,)

 private:
  const Wiring& wiring_;
  Events events_;
  std::size_t changed_ = 0, noticed_ = 0;  // how many of the changes
  int noticed_event_ = 0;
  std::vector<std::size_t> last_;  // (ports,) number of the last change that was made
  std::vector<int> by_;            // (ports,) the event that holds the link down; below 0: it is up
  std::vector<std::uint8_t> known_down_;
  std::vector<std::uint64_t> lost_;
  std::vector<Time> begins_;
};

}  // namespace remy_plus::fabric
