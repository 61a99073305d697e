// A host's end of one link: when it may send, and what stops it.
#pragma once

#include <algorithm>

#include "remy_plus/fabric/port.hpp"
#include "remy_plus/fabric/surroundings.hpp"

namespace remy_plus::fabric {

template <bool several>
class LinkEnd {
 public:
  LinkEnd(Port& port, const Surroundings& around) : port_(port), around_(around) {}

  Time next() const { return next_; }
  Port& port() { return port_; }

  // Its peer holds up a class.
  bool paused(int priority) const { return Own::of(port_, priority).paused; }

  // Something may be sent from now on that could not before.
  void wake(Time now) {
    if (several || !port_.paused) next_ = std::min(next_, std::max(now, port_.free_at));
  }

  // An ACK or another packet that goes before data.
  void push_control(const Packet& packet) {
    Own::push(port_, Own::of(port_, packet.priority), packet);
    wake(packet.time);
  }

  void hear(const Packet& frame) {
    Lane& lane = Own::of(port_, frame.priority);
    if (frame.kind == Kind::pause) {
      port_.pause(lane, frame.time);
      if (!several) next_ = never;
    } else {
      port_.resume(lane, frame.time);
      wake(frame.time);
    }
  }

  // Its link has failed: what waits goes on waiting.
  void fail(Time now) {
    port_.fail(now);
    next_ = never;
  }
  void repair(Time now) {
    port_.free_at = now;
    wake(now);
  }

 protected:
  using Own = Lanes<several>;

  void send_control(Lane& lane, Time now) {
    Packet packet = Own::pop(port_, lane, now);
    ++port_.counts.ack_packets;
    put_on_wire(packet, now);
  }

  void put_on_wire(Packet& packet, Time start) {
    port_.free_at = start + port_.speed->of(packet.bytes);
    packet.time = port_.free_at + port_.delay;
    packet.hop = 1;
    port_.put_on_link(packet);
  }

  Port& port_;
  const Surroundings& around_;
  Time next_ = never;  // when something may be sent
};

}  // namespace remy_plus::fabric
