// A host: flows that start and whose packets are sent again, and receivers that acknowledge every packet.
#pragma once

#include <algorithm>

#include "remy_plus/fabric/hosts/host_base.hpp"
#include "remy_plus/fabric/windowed/marked_flows.hpp"
#include "remy_plus/fabric/windowed/nic.hpp"

namespace remy_plus::fabric {

template <bool several>
class alignas(64) Host : public HostBase<Host<several>, Nic<several>> {
  using Base = HostBase<Host<several>, Nic<several>>;
  friend Base;

 public:
  using Base::Base, Base::nic;

  void receive(const Packet& packet, int in) {
    if (is_pfc(packet))
      nic(in).hear(packet);
    else if (packet.kind == Kind::data)
      receive_data(packet);
    else if (packet.kind == Kind::trimmed)
      receive_trimmed(packet);
    else
      receive_ack(packet);
  }

 private:
  using Base::arm, Base::around_, Base::hosting_, Base::nic_of;

  void start(std::uint32_t number) {
    Flow& flow = hosting_.flows[number];
    Nic<several>& nic = nic_of(number, 0);
    flow.line_gbps = flow.gbps = nic.port().rated->gbps();
    flow.next_send = flow.progress = flow.start;
    hosting_.progress(flow.start);
    hosting_.transport.start(number, flow);
    if (around_.settings.retransmit_after > 0) arm(number, flow.start + around_.settings.retransmit_after);
    arm(number, flow);
    nic.add(number, flow.start);
  }

  void ring(std::uint32_t number, Time at, Time now) {
    Flow& flow = hosting_.flows[number];
    if (at != flow.armed || flow.acked == flow.packets) return;
    flow.armed = never;
    if (flow.timer <= now) {
      hosting_.transport.on_timer(number, flow, now);
      nic_of(number, 0).ready(number, now);
    }
    if (around_.settings.retransmit_after > 0) {
      if (now >= flow.progress + patience(flow)) go_back(number, flow, now);
      arm(number, flow.progress + patience(flow));
    }
    arm(number, flow);
  }

  // A timer of few base RTTs may be shorter than the queue: it doubles with every timeout in a row (RFC 6298, 5.5).
  Time patience(const Flow& flow) const {
    const Time once = around_.settings.retransmit_after;
    return around_.settings.retransmit_rtts > 0 ? once << std::min<int>(flow.timeouts, most_doublings) : once;
  }

  // --- the receiver

  void receive_data(const Packet& data) {
    Flow& flow = hosting_.flows[data.flow];
    if (flow.says_left && flow.expected < flow.packets) [[unlikely]]
      Base::see_left(data, flow);
    Packet ack = data;
    ack.hop = 0;
    ack.bytes = static_cast<std::uint16_t>(flow.ack_bytes);
    ack.kind = Kind::ack;
    if (several && around_.settings.ack_priority >= 0)
      ack.priority = static_cast<std::uint8_t>(around_.settings.ack_priority);
    if (data.number == flow.expected) {
      flow.nacked = -never / 2;
      hosting_.progress(data.time);
      if (++flow.expected == flow.packets) Base::receive_all(data.flow, data.time);
    } else if (data.number > flow.expected) {
      if (data.time < flow.nacked + around_.settings.nack_gap) return around_.discard(data);
      flow.nacked = data.time;
      ack.kind = Kind::nack;
    }
    ack.number = flow.expected;
    if (flow.telemetry == Telemetry::header) [[unlikely]]
      ack.bytes = around_.headers->returned(ack);
    if (data.marked) ack.marked = notice(data);
    if (flow.expected == flow.packets) {
      marked_.forget(data.flow);
      Base::forget_left(data.flow, flow);
    }
    if (flow.says_left) [[unlikely]]
      Base::say_standing(ack, flow);
    nic_of(data.flow, 1).push_control(ack);
  }

  // What is left of the packet that is expected says at once that it is lost.
  void receive_trimmed(const Packet& trimmed) {
    Flow& flow = hosting_.flows[trimmed.flow];
    if (trimmed.number != flow.expected || trimmed.time < flow.nacked + around_.settings.nack_gap) return;
    flow.nacked = trimmed.time;
    Packet nack = trimmed;
    nack.hop = 0;
    nack.bytes = static_cast<std::uint16_t>(around_.settings.ack_bytes);
    nack.kind = Kind::nack;
    nack.marked = 0;
    if (several && around_.settings.ack_priority >= 0)
      nack.priority = static_cast<std::uint8_t>(around_.settings.ack_priority);
    nic_of(trimmed.flow, 1).push_control(nack);
  }

  // Of a packet with a mark: what its ACK says.
  std::uint8_t notice(const Packet& data) {
    const Time within = hosting_.transport.of(data.flow).marks_within();
    return within > 0 ? RoundedCount::code(marked_.add(data.flow, data.time, within)) : data.marked;
  }

  // --- the sender

  void receive_ack(const Packet& packet) {
    Flow& flow = hosting_.flows[packet.flow];
    if (flow.acked == flow.packets) return around_.discard(packet);
    if (packet.number > flow.acked) {
      flow.acked = packet.number;
      flow.progress = packet.time;
      flow.timeouts = 0;
      if (flow.next < flow.acked) {  // it had gone back
        flow.next = flow.acked;
        nic_of(packet.flow, 0).reorder(packet.flow);
      }
    }
    if (packet.kind == Kind::nack) send_again(packet.flow, flow, false, packet.time);
    if (packet.kind == Kind::ack) tell(packet, flow);
    around_.discard(packet);
    if (flow.acked == flow.packets) return Base::finish_sending(packet.flow, packet.time);
    arm(packet.flow, flow);
    nic_of(packet.flow, 0).ready(packet.flow, packet.time);
  }

  void tell(const Packet& packet, Flow& flow) {
    Ack ack{packet.time, flow.bytes_before(flow.acked), flow.bytes_before(flow.next), packet.marked, 0, 0, nullptr,
            nullptr};
    if (flow.telemetry == Telemetry::stack) ack.stack = &around_.read_stack(packet);
    if (flow.telemetry == Telemetry::fair_rate) {
      ack.fair_gbps = fair_rate(packet, packet.number, flow);
    } else if (flow.telemetry == Telemetry::header) [[unlikely]] {
      ack.seen = &around_.headers->read(packet);
      ack.sent_at = around_.headers->sent_at(packet);
    } else {
      ack.sent_at = ack.stack        ? ack.stack->sent_at
                    : flow.says_left ? Asking::sent_at(packet.extra, packet.time)
                                     : static_cast<Time>(packet.extra);
    }
    if (flow.says_left) [[unlikely]]
      ack.standing = Base::standing_of(packet, flow.telemetry);
    if (hosting_.trips) [[unlikely]]
      hosting_.trips->add(packet.flow, flow.src, packet.time - ack.sent_at);
    hosting_.transport.on_ack(packet.flow, flow, ack);
  }

  void go_back(std::uint32_t number, Flow& flow, Time now) {
    flow.progress = now;
    Nic<several>& nic = nic_of(number, 0);
    if (flow.next == flow.acked || nic.paused(flow.priority) || !hosting_.may_miss(number, now)) return;
    ++flow.timeouts;
    send_again(number, flow, true, now);
    nic.ready(number, now);
  }

  void send_again(std::uint32_t number, Flow& flow, bool timeout, Time now) {
    hosting_.transport.lose(number, flow, timeout, now);
    flow.next = flow.acked;
    nic_of(number, 0).reorder(number);
  }

  static constexpr int most_doublings = 6;

  MarkedFlows marked_;  // that are received here
};

}  // namespace remy_plus::fabric
