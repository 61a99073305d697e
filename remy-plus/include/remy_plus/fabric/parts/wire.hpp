// Packets on their way: to one port, or from the nodes of one thread to those of another.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/parts/fetching.hpp"
#include "remy_plus/fabric/ring.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

// Different threads may have neighbouring nodes: each wire has lines of the cache of its own.
struct alignas(64) Wire : Ring<Packet> {
  Time* next = nullptr;  // when the node that they come to has something to do

  void put(const Packet& packet) {
    push(packet);
    if (packet.time < *next) *next = packet.time;
  }
};

// What one thread sends to the nodes of another: what is sent in a round is taken in the next one, while more is sent.
class Outbox {
 public:
  Outbox() = default;
  Outbox(const Outbox&) = delete;

  Wire& wire() { return wire_; }

  // The sending thread begins a round. It will send about as much as in the one before.
  void begin() { wire_.fetch_to_write(sent_before_); }
  // It ends the round. Returns when the first packet comes; never: none was sent.
  Time end(std::size_t lane) {
    sent_before_ = wire_.size();
    std::swap<Ring<Packet>>(wire_, sent_[lane]);
    return std::exchange(next_, never);
  }

  // The receiving thread begins a round, or all stand still: calls bring(packet) for each, in order.
  template <class Bring>
  void empty(std::size_t lane, const Bring& bring) {
    Lane& from = sent_[lane];
    for (std::size_t i = 0; i < from.size(); ++i) bring(from[i]);
    from.clear();
  }

 private:
  struct alignas(64) Lane : Ring<Packet> {};

  Wire wire_{{}, &next_};
  Time next_ = never;
  std::size_t sent_before_ = 0;  // packets
  std::array<Lane, 2> sent_;
};

}  // namespace remy_plus::fabric
