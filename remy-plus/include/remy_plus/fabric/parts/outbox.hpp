// What one thread sends to the nodes of another. What is sent in one round waits in one of two lanes, of which the
// other is emptied by the receiving thread in the meantime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

class Outbox {
 public:
  struct Sent {
    Packet packet;
    std::uint32_t node, port;  // that it is on its way to
  };

  // The sending thread begins a round.
  void begin(std::size_t lane) { now_ = lane; }
  // Apart, so that Port::put_on_link() is short enough to be inlined.
  [[gnu::noinline]] void push(const Packet& packet, std::uint32_t node, std::uint32_t port) {
    Lane& lane = lanes_[now_];
    lane.sent.push_back({packet, node, port});
    if (packet.time < lane.next) lane.next = packet.time;
  }
  // When the first packet comes that was sent in this round; never: none was.
  Time next() const { return lanes_[now_].next; }

  // The receiving thread begins a round, or all stand still: calls bring(sent) for each, in order.
  template <class Bring>
  void empty(std::size_t lane, const Bring& bring) {
    Lane& from = lanes_[lane];
    if (from.next == never) return;
    for (const Sent& each : from.sent) bring(each);
    from.sent.clear();
    from.next = never;
  }

 private:
  struct alignas(64) Lane {
    std::vector<Sent> sent;
    Time next = never;
  };

  std::array<Lane, 2> lanes_;
  std::size_t now_ = 0;
};

}  // namespace remy_plus::fabric
