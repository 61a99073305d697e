// Some nodes of a run, which one thread goes through at a time; different parts may be gone through at the same time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/port.hpp"
#include "remy_plus/fabric/ring.hpp"
#include "remy_plus/fabric/surroundings.hpp"

namespace remy_plus::fabric {

// A direction of a link between two parts. What is sent in one round waits in one of two lanes, of which the other is
// emptied by the peer's part in the meantime.
class Crossing {
 public:
  // `wire` and `next`: of the peer. Until a round begins, packets go onto the wire itself.
  Crossing(Port& from, Ring<Packet>& wire, Time& next) : from_(from), wire_(wire), next_(next) {}

  // The sender's part begins a round.
  void send_by(std::size_t lane) {
    from_.onto = &lanes_[lane].sent;
    from_.wakes = &lanes_[lane].next;
  }
  // When the first packet comes that was sent in this round; never: none was.
  Time sent(std::size_t lane) const { return lanes_[lane].next; }

  // The peer's part begins a round.
  void take(std::size_t lane) {
    Lane& taken = lanes_[lane];
    if (taken.next == never) return;
    next_ = std::min(next_, taken.next);
    taken.next = never;
    wire_.append(taken.sent);
  }

  // One thread goes on alone.
  void join(std::size_t lane) {
    take(lane);
    from_.onto = &wire_;
    from_.wakes = &next_;
  }

 private:
  struct alignas(64) Lane {
    Ring<Packet> sent;
    Time next = never;
  };

  Port& from_;
  Ring<Packet>& wire_;
  Time& next_;
  std::array<Lane, 2> lanes_;
};

struct Part {
  std::vector<int> hosts, switches;  // nodes
  std::vector<Crossing*> in, out;
  std::optional<Surroundings> around;
  std::optional<Hosting> hosting;
  std::vector<std::uint64_t> keys;  // of gather()
  Tally tally;
  alignas(64) std::atomic<std::uint64_t> claimed = 0;  // the last round in which a thread took it
};

}  // namespace remy_plus::fabric
