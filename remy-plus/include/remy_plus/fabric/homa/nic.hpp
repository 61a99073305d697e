// A host's end of one link under Homa: grants, requests and ACKs first, then the message whose turn it is, unless the
// class of its next packet is paused.
#pragma once

#include <algorithm>

#include "remy_plus/fabric/homa/homa.hpp"
#include "remy_plus/fabric/homa/messages.hpp"
#include "remy_plus/fabric/hosts/flow_nic.hpp"
#include "remy_plus/fabric/keys.hpp"

namespace remy_plus::fabric {

template <bool several>
class HomaNic : public FlowNic<HomaNic<several>, several> {
  using Base = FlowNic<HomaNic<several>, several>;
  friend Base;

 public:
  HomaNic(Port& port, const Surroundings& around, const Hosting& hosting)
      : Base(port, around, hosting), homa_(static_cast<Homa&>(hosting.transport)) {}

 private:
  using Base::around_, Base::hosting_, Base::port_, Base::put_on_wire;

  // Messages wait in one order, whatever classes their packets have.
  Turns& turns_of(const Flow&) { return Base::turns_[0]; }
  static constexpr bool has_places = false;
  static std::uint64_t rotation(Turns& turns, const Flow&) { return turns.behind(); }

  bool anything_waits() const {
    const Lane& control = Base::Lanes::of(port_, 0);
    return !Base::turns_[0].empty() || !(control.queue.empty() || control.paused);
  }

  bool may_send(std::uint32_t number) const {
    const Outgoing& out = homa_.outgoing(number);
    return !out.again.empty() || out.granted > hosting_.flows[number].next;
  }
  // Bytes that are sent again count as full packets.
  std::uint64_t left(std::uint32_t number) const {
    const Flow& flow = hosting_.flows[number];
    const std::uint64_t again = homa_.outgoing(number).again.size() * static_cast<std::uint64_t>(flow.payload);
    return flow.size - flow.bytes_before(flow.next) + again;
  }

  std::uint32_t due(std::uint32_t number) const {
    const Outgoing& out = homa_.outgoing(number);
    return out.again.empty() ? hosting_.flows[number].next : out.again.front();
  }
  std::uint8_t class_of(std::uint32_t number) const {
    return several ? homa_.outgoing(number).level_of(due(number)) : 0;
  }

  bool send_next(Time now) {
    Lane& lane = Base::Lanes::of(port_, 0);
    if (!lane.queue.empty() && !lane.paused) {
      Base::send_control(lane, now);
      return true;
    }
    return Base::send_data(Base::turns_[0], now,
                           [this](std::uint32_t number) { return Base::Lanes::of(port_, class_of(number)).paused; });
  }

  void send_packet(std::uint32_t number, Flow& flow, Time now) {
    const std::uint32_t due = this->due(number);
    Outgoing& out = homa_.outgoing(number);
    Packet packet;
    packet.flow = number;
    packet.number = due;
    packet.priority = class_of(number);
    packet.bytes = static_cast<std::uint16_t>(static_cast<int>(flow.bytes_before(due + 1) - flow.bytes_before(due)) +
                                              flow.data_overhead);
    packet.entropy = entropy(number, due + static_cast<std::uint64_t>(out.repeats) * flow.packets);
    if (out.again.empty()) {
      flow.furthest = ++flow.next;
    } else {
      out.again.erase(out.again.begin());
      packet.flags = sent_again;
      ++out.repeats;
      ++hosting_.tally.retransmitted;
    }
    out.heard = now;
    ++port_.counts.data_packets;
    port_.counts.data_bytes += packet.bytes;
    put_on_wire(packet, now);
  }

  // Every packet has a way of its own, unless the fabric has one for each flow.
  std::uint8_t entropy(std::uint32_t number, std::uint64_t draw) const {
    const Settings& settings = around_.settings;
    if (settings.spraying == Spraying::flow) return 0;
    const std::uint64_t key = key_of(settings.seed, spraying, number);
    return static_cast<std::uint8_t>(mix64(key ^ mix64(draw + 1)) % static_cast<std::uint64_t>(settings.entropies));
  }

  Homa& homa_;
};

}  // namespace remy_plus::fabric
