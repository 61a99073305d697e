// Some nodes of a run, which one thread goes through at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/port.hpp"
#include "remy_plus/fabric/ring.hpp"
#include "remy_plus/fabric/surroundings.hpp"

namespace remy_plus::fabric {

// A direction of a link between two parts. While two threads have them, what is sent in one round waits in one of two
// lanes, of which the other is emptied by the peer's thread in the meantime; else packets go onto the wire itself.
class Crossing {
 public:
  // Numbers of parts; the port that sends; wire and next time of its peer.
  Crossing(std::uint32_t from, std::uint32_t to, Port& port, Ring<Packet>& wire, Time& next)
      : from_(from), to_(to), port_(port), wire_(wire), next_(next) {}

  std::uint32_t from() const { return from_; }
  std::uint32_t to() const { return to_; }

  // The sender's thread begins a round.
  void send_by(std::size_t lane) {
    port_.onto = &lanes_[lane].sent;
    port_.wakes = &lanes_[lane].next;
  }
  // When the first packet comes that was sent in this round; never: none was.
  Time sent(std::size_t lane) const { return lanes_[lane].next; }

  // The peer's thread begins a round.
  void take(std::size_t lane) {
    Lane& taken = lanes_[lane];
    if (taken.next == never) return;
    next_ = std::min(next_, taken.next);
    taken.next = never;
    wire_.append(taken.sent);
  }

  // One thread goes on with both parts.
  void join(std::size_t lane) {
    take(lane);
    port_.onto = &wire_;
    port_.wakes = &next_;
  }

 private:
  struct alignas(64) Lane {
    Ring<Packet> sent;
    Time next = never;
  };

  std::uint32_t from_, to_;
  Port& port_;
  Ring<Packet>& wire_;
  Time& next_;
  std::array<Lane, 2> lanes_;
};

struct Part {
  std::vector<int> hosts, switches;  // nodes
  std::optional<Surroundings> around;
  std::optional<Hosting> hosting;
  std::vector<std::uint64_t> keys;  // of gather()
  Tally tally;
  std::uint64_t recent = 0;  // packets that its nodes went through, older ones count less
};

// The parts of a thread, and what crosses to and from other threads.
struct Share {
  std::vector<Part*> parts;
  std::vector<Crossing*> in, out;
};

}  // namespace remy_plus::fabric
