// A host under Homa: senders of messages, and the receiver that grants them. What is lost is asked for by the receiver:
// at once where a switch trimmed it, else once it has heard nothing for long. A sender that has heard nothing for as
// long asks what is missing, for messages of which nothing arrived.
#pragma once

#include <algorithm>
#include <span>

#include "remy_plus/fabric/homa/inbox.hpp"
#include "remy_plus/fabric/homa/nic.hpp"
#include "remy_plus/fabric/hosts/host_base.hpp"

namespace remy_plus::fabric {

template <bool several>
class HomaHost : public HostBase<HomaHost<several>, HomaNic<several>> {
  using Base = HostBase<HomaHost<several>, HomaNic<several>>;
  friend Base;

 public:
  HomaHost(std::span<Port> ports, int first, int last, const Surroundings& around, const Hosting& hosting)
      : Base(ports, first, last, around, hosting), homa_(static_cast<Homa&>(hosting.transport)), inbox_(hosting) {}

  void receive(const Packet& packet, int in) {
    if (is_pfc(packet))
      Base::nic(in).hear(packet);
    else if (goes_back(packet))
      hear_receiver(packet);
    else
      hear_sender(packet);
  }

 private:
  using Base::around_, Base::hosting_, Base::nic_of;

  Time patience() const { return around_.settings.retransmit_after; }

  void start(std::uint32_t number) {
    Flow& flow = hosting_.flows[number];
    Outgoing& out = homa_.outgoing(number);
    flow.gbps = flow.line_gbps;
    out.heard = flow.start;
    hosting_.progress(flow.start);
    out.unscheduled = out.granted = homa_.unscheduled(flow);
    out.unscheduled_level = homa_.unscheduled_level(flow);
    out.level = homa_.scheduled_level(0, 1);
    arm(out, number, false);
    nic_of(number, 0).ready(number, flow.start);
  }

  // A packet without payload about a message: to its receiver, or back to its sender.
  void say(Kind kind, std::uint32_t flow, std::uint32_t number, std::uint64_t extra, Time now) {
    Packet packet;
    packet.kind = kind;
    packet.flow = flow;
    packet.number = number;
    packet.extra = extra;
    packet.time = now;
    packet.bytes = static_cast<std::uint16_t>(hosting_.flows[flow].ack_bytes);
    nic_of(flow, goes_back(packet)).push_control(packet);
  }

  // --- timers: one for each end of a message, of twice its number, and one more at its receiver

  template <class End>
  void arm(End& end, std::uint32_t number, bool receives) {
    if (patience() == 0 || end.heard + patience() >= end.armed) return;
    end.armed = end.heard + patience();
    Base::set_timer(end.armed, 2 * number + receives);
  }

  void ring(std::uint32_t what, Time at, Time now) {
    const std::uint32_t number = what / 2;
    if (what % 2) {
      if (const auto& in = homa_.incoming(number)) ring(*in, number, true, at, [&] { ask(*in, number, now); });
    } else if (hosting_.flows[number].acked == 0) {
      ring(homa_.outgoing(number), number, false, at, [&] { say_unanswered(number, now); });
    }
  }

  // `overdue` is called where nothing was heard for so long.
  template <class End, class Overdue>
  void ring(End& end, std::uint32_t number, bool receives, Time at, const Overdue& overdue) {
    end.armed = never;
    if (end.heard + patience() <= at) {
      end.heard = at;
      overdue();
    }
    arm(end, number, receives);
  }

  void ask(const Incoming& in, std::uint32_t number, Time now) {
    if (!hosting_.may_miss(number, now)) return;
    for (const auto& [first, end] : in.missing()) say(Kind::nack, number, first, end, now);
  }

  void say_unanswered(std::uint32_t number, Time now) {
    const Flow& flow = hosting_.flows[number];
    const Outgoing& out = homa_.outgoing(number);
    if (out.again.empty() && flow.next == out.granted && hosting_.may_miss(number, now))
      say(Kind::request, number, flow.next, 0, now);
  }

  // --- the receiver

  void hear_sender(const Packet& packet) {
    if (inbox_.complete(packet.flow)) return acknowledge(packet.flow, packet.time);
    const bool known = homa_.incoming(packet.flow) != nullptr;
    Incoming& in = inbox_.open(packet.flow);
    if (packet.kind == Kind::trimmed && !in.has(packet.number))
      say(Kind::nack, packet.flow, packet.number, packet.number + 1, packet.time);
    else if (packet.kind == Kind::request && !known)
      ask(in, packet.flow, packet.time);
    if (packet.kind != Kind::request || !known) in.heard = packet.time;
    if (packet.kind == Kind::data && inbox_.take(packet.flow, packet.number)) hosting_.progress(packet.time);
    if (inbox_.complete(packet.flow))
      complete(packet.flow, packet.time);
    else
      arm(in, packet.flow, true);
    inbox_.grant([&](std::uint32_t flow, std::uint32_t packets, std::uint8_t level) {
      say(Kind::grant, flow, packets, level, packet.time);
    });
  }

  void complete(std::uint32_t number, Time now) {
    inbox_.close(number);
    acknowledge(number, now);
    Base::receive_all(number, now);
  }

  void acknowledge(std::uint32_t number, Time now) { say(Kind::ack, number, hosting_.flows[number].packets, 0, now); }

  // --- the sender

  void hear_receiver(const Packet& packet) {
    Flow& flow = hosting_.flows[packet.flow];
    Outgoing& out = homa_.outgoing(packet.flow);
    if (flow.acked == flow.packets) return;
    out.heard = packet.time;
    if (packet.kind == Kind::ack) return finish(packet.flow, flow, packet.time);
    if (packet.kind == Kind::nack) {
      const auto end = static_cast<std::uint32_t>(packet.extra);
      for (std::uint32_t each = packet.number; each < std::min(end, flow.next); ++each) out.send_again(each);
      out.granted = std::max(out.granted, end);
    } else if (packet.number > out.granted) {
      out.granted = packet.number;
      out.level = static_cast<std::uint8_t>(packet.extra);
    }
    nic_of(packet.flow, 0).ready(packet.flow, packet.time);
  }

  void finish(std::uint32_t number, Flow& flow, Time now) {
    flow.acked = flow.packets;
    homa_.outgoing(number).again = {};
    Base::finish_sending(number, now);
  }

  Homa& homa_;
  Inbox inbox_;
};

}  // namespace remy_plus::fabric
