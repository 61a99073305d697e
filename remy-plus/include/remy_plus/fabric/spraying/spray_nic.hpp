// A selective host's end of one link: control packets and flows, which share it in turn.
#pragma once

#include <algorithm>
#include <cmath>

#include "remy_plus/fabric/hosts/flow_nic.hpp"
#include "remy_plus/fabric/spraying/sprayed.hpp"

namespace remy_plus::fabric {

// With `several`, class by class.
template <bool several>
class SprayNic : public FlowNic<SprayNic<several>, several> {
  using Base = FlowNic<SprayNic<several>, several>;
  friend Base;

 public:
  SprayNic(Port& port, const Surroundings& around, const Hosting& hosting) : Base(port, around, hosting) {
    if (hosting.grants)
      granter_.start(*hosting.grants, port.speed->gbps(), around.settings.payload + around.settings.overhead,
                     hosting.spare_bytes(port.speed->gbps()));
  }

  Granter& granter() { return granter_; }
  const Granter& granter() const { return granter_; }

  Time sends_at() const { return next_; }
  Time next() const { return std::min(next_, granter_.next()); }

  Packet control(std::uint32_t number, const Flow& flow, Kind kind, Time now) const {
    Packet packet;
    packet.time = now;
    packet.flow = number;
    packet.kind = kind;
    packet.flags = bare;
    packet.bytes = static_cast<std::uint16_t>(around_.settings.ack_bytes);
    packet.priority = several && around_.settings.ack_priority >= 0
                          ? static_cast<std::uint8_t>(around_.settings.ack_priority)
                          : flow.priority;
    return packet;
  }

  // Whether window and credit let it send its next packet, whatever its pace.
  bool may_send(std::uint32_t number) const {
    const Flow& flow = hosting_.flows[number];
    Sprayed& own = hosting_.sprayed[number];
    const bool again = own.under_way.lost_any();
    if (!again && !flow.unsent()) return false;
    if (hosting_.grants && own.credit.bytes <= 0) return false;
    if (hosting_.uet) {
      if (!hosting_.uet->parameters().window || (own.recovers && again)) return true;
      return own.bytes_under_way + hosting_.bytes_of(flow, again ? own.under_way.first_lost() : flow.next) <=
             hosting_.uet->window(number);
    }
    if (flow.window == 0 || own.bytes_under_way <= 0 || (own.recovers && again)) return true;
    return static_cast<double>(own.bytes_under_way) * flow.payload <
           flow.usable_window() * (flow.payload + flow.data_overhead);
  }

  // Whether it would send what is ready now at once.
  bool idle(Time now) const { return port_.free_at <= now && !anything_waits(); }

  // Quanta of credit that a flow would have in all; `shared`: its part, beside the flows that wait here.
  std::int64_t wanted(std::uint32_t number, bool shared) const {
    const Flow& flow = hosting_.flows[number];
    const Sprayed& own = hosting_.sprayed[number];
    const int full = flow.payload + flow.data_overhead + own.credit.header;
    std::int64_t bytes = std::min(own.unsent + own.lost + headers_of(flow, own), own.credit.most);
    if (!hosting_.uet && flow.window > 0)
      bytes = static_cast<std::int64_t>(
          std::min(static_cast<double>(bytes), (flow.usable_window() / flow.payload + 1) * full));
    if (hosting_.uet && hosting_.uet->parameters().window) bytes = std::min(bytes, hosting_.uet->window(number) + full);
    bytes -= own.credit.bytes;
    if (own.credit.speculating && own.unsent > 0) bytes = std::max<std::int64_t>(bytes, full);
    if (shared) bytes /= static_cast<std::int64_t>(turns_[several ? flow.priority : 0].size()) + 1;
    return own.credit.granted + static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / granter_.quantum()));
  }

 private:
  using Base::anything_waits, Base::around_, Base::hosting_, Base::next_, Base::port_, Base::put_on_wire, Base::turns_;

  static constexpr int turns_while_both_wait = 11;  // of which data have one, and control packets the others

  std::uint64_t left(std::uint32_t number) const {
    const Sprayed& own = hosting_.sprayed[number];
    return static_cast<std::uint64_t>(own.unsent + own.lost);
  }
  static constexpr bool has_places = false;
  static std::uint64_t rotation(Turns& turns, const Flow&) { return turns.behind(); }

  bool send_next(Time now) {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      Lane& lane = Base::Lanes::of(port_, static_cast<int>(i));
      if (!lane.paused && send_of(lane, turns_[i], now)) return true;
    }
    return false;
  }

  bool send_of(Lane& lane, Turns& turns, Time now) {
    const bool control = !lane.queue.empty();
    if (control && !turns.empty()) turn_ = (turn_ + 1) % turns_while_both_wait;
    if (!control || (turn_ == 0 && !turns.empty())) {
      if (Base::send_data(turns, now)) return true;
      if (!control) return false;
    }
    Base::send_control(lane, now);
    return true;
  }

  void send_packet(std::uint32_t number, Flow& flow, Time now) {
    Sprayed& own = hosting_.sprayed[number];
    const bool again = own.under_way.lost_any();
    Packet packet;
    packet.flow = number;
    packet.number = again ? own.under_way.first_lost() : flow.next;
    packet.priority = flow.priority;
    packet.entropy = hosting_.sprayed[own.chooser].balancer.next(now);
    const std::int64_t bytes = hosting_.bytes_of(flow, packet.number);
    packet.bytes = static_cast<std::uint16_t>(bytes);
    if (again) {
      own.under_way.take_first_lost();
      own.lost -= bytes;
      ++hosting_.tally.retransmitted;
      packet.flags |= sent_again | wants_ack;
    } else {
      own.unsent -= bytes;
      flow.furthest = ++flow.next;
    }
    own.under_way.send(packet.number, static_cast<std::uint32_t>(bytes), packet.entropy, now);
    own.bytes_under_way += bytes;
    if (hosting_.grants) {
      own.credit.bytes -= bytes + own.credit.header;
      own.wanted = wanted(number, true);
    }
    if (hosting_.uet) {
      if (own.unsent + own.lost == 0 || (hosting_.grants && own.credit.bytes <= 0) ||
          (hosting_.uet->parameters().window && own.bytes_under_way + bytes >= hosting_.uet->window(number)))
        packet.flags |= wants_ack;
      if (flow.telemetry == Telemetry::none) {
        packet.flags |= bare;
        if (hosting_.grants) packet.extra = static_cast<std::uint64_t>(own.wanted);
      }
    }
    if (flow.telemetry != Telemetry::none || !hosting_.uet) {
      packet.extra = telemetry_of(packet, flow, now, port_, around_, hosting_);
      if (hosting_.grants) ask(packet, flow.telemetry, own.wanted, now);
      if (flow.telemetry == Telemetry::header) [[unlikely]]
        packet.bytes = around_.headers->with_bytes(packet);
    }
    flow.last_frame = packet.bytes;
    flow.next_send = now + (hosting_.uet ? 0 : time_at(flow.gbps, packet.bytes, around_.settings.whole_ns));
    ++port_.counts.data_packets;
    port_.counts.data_bytes += packet.bytes;
    put_on_wire(packet, now);
  }

  // Of packets that were never sent, or are to be sent again.
  static std::int64_t headers_of(const Flow& flow, const Sprayed& own) {
    return (own.unsent + own.lost) * own.credit.header / (flow.payload + flow.data_overhead);
  }

  // The target goes with the telemetry.
  void ask(Packet& packet, Telemetry telemetry, std::int64_t wanted, Time now) const {
    if (telemetry == Telemetry::stack)
      around_.stacks[stack_of(packet).number].wanted = wanted;
    else if (telemetry == Telemetry::header)
      around_.headers->wanted(packet) = wanted;
    else
      packet.extra = Asking::of(now, wanted);
  }

  Granter granter_;
  int turn_ = 0;
};

}  // namespace remy_plus::fabric
