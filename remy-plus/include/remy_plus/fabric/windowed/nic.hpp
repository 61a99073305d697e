// A host's end of one link: senders that go back, and ACKs.
#pragma once

#include <algorithm>

#include "remy_plus/fabric/hosts/flow_nic.hpp"

namespace remy_plus::fabric {

// ACKs first; with `several`, class by class.
template <bool several>
class Nic : public FlowNic<Nic<several>, several> {
  using Base = FlowNic<Nic<several>, several>;
  friend Base;

 public:
  using Base::Base;

  void add(std::uint32_t number, Time now) {
    Flow& flow = hosting_.flows[number];
    flow.place = Base::turns_of(flow).place();
    Base::ready(number, now);
  }

 private:
  using Base::around_, Base::hosting_, Base::port_, Base::put_on_wire, Base::turns_;

  bool may_send(std::uint32_t number) const {
    const Flow& flow = hosting_.flows[number];
    return flow.unsent() && flow.window_open();
  }
  std::uint64_t left(std::uint32_t number) const {
    const Flow& flow = hosting_.flows[number];
    return flow.size - flow.bytes_before(flow.next);
  }
  static constexpr bool has_places = true;
  static std::uint64_t rotation(const Turns& turns, const Flow& flow) { return turns.around(flow.place); }

  bool send_next(Time now) {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      Lane& lane = Base::Lanes::of(port_, static_cast<int>(i));
      if (lane.paused) continue;
      if (!lane.queue.empty()) {
        Base::send_control(lane, now);
        return true;
      }
      if (Base::send_data(turns_[i], now)) return true;
    }
    return false;
  }

  void send_packet(std::uint32_t number, Flow& flow, Time now) {
    Packet packet;
    packet.flow = number;
    packet.number = flow.next;
    packet.bytes = static_cast<std::uint16_t>(
        static_cast<int>(flow.bytes_before(flow.next + 1) - flow.bytes_before(flow.next)) + flow.data_overhead);
    packet.priority = flow.priority;
    packet.extra = telemetry_of(packet, flow, now, port_, around_, hosting_);
    if (flow.telemetry == Telemetry::header) [[unlikely]]
      packet.bytes = around_.headers->with_bytes(packet);
    if (flow.next < flow.furthest) ++hosting_.tally.retransmitted;
    if (flow.next == flow.acked) flow.progress = now;
    flow.furthest = std::max(flow.furthest, ++flow.next);
    flow.last_frame = packet.bytes;
    flow.next_send = now + time_at(flow.gbps, packet.bytes, around_.settings.whole_ns);
    ++port_.counts.data_packets;
    port_.counts.data_bytes += packet.bytes;
    put_on_wire(packet, now);
  }
};

}  // namespace remy_plus::fabric
