// A selective host: its packets take ways of their own, its receivers reorder, and only what is lost is sent again.
// Transports are those of selective hosts (transport/uet.hpp) or, with an ACK for every packet, any other.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "remy_plus/fabric/hosts/host_base.hpp"
#include "remy_plus/fabric/spraying/arrivals.hpp"
#include "remy_plus/fabric/spraying/balancer.hpp"
#include "remy_plus/fabric/spraying/credit.hpp"
#include "remy_plus/fabric/spraying/spray_nic.hpp"
#include "remy_plus/fabric/spraying/sprayed.hpp"
#include "remy_plus/fabric/spraying/under_way.hpp"
#include "remy_plus/fabric/transport/path_choice.hpp"
#include "remy_plus/fabric/windowed/marked_flows.hpp"

namespace remy_plus::fabric {

template <bool several>
class SelectiveHost : public HostBase<SelectiveHost<several>, SprayNic<several>> {
  using Base = HostBase<SelectiveHost<several>, SprayNic<several>>;
  friend Base;

 public:
  using Base::Base, Base::nic;

  void receive(const Packet& packet, int in) {
    switch (packet.kind) {
      case Kind::data:
        return receive_data(packet);
      case Kind::trimmed:
        return receive_trimmed(packet);
      case Kind::request:
        return receive_request(packet);
      case Kind::ack:
        return receive_ack(packet);
      case Kind::nack:
        return receive_nack(packet);
      case Kind::grant:
        return receive_grant(packet);
      default:
        nic(in).hear(packet);
    }
  }

 private:
  using Base::arm, Base::around_, Base::hosting_, Base::nic_of;
  using Nic = SprayNic<several>;

  const Uet* uet() const { return hosting_.uet; }
  Balancer& balancer(std::uint32_t number) { return hosting_.sprayed[hosting_.sprayed[number].chooser].balancer; }
  bool windows() const { return uet() && uet()->parameters().window; }
  bool grants() const { return hosting_.grants != nullptr; }
  bool ends_speculation() const { return grants() && !hosting_.grants->pulls; }

  void serve(Nic& nic, Time now) {
    if (nic.granter().next() <= now) grant(nic, now);
    if (nic.sends_at() <= now) nic.send(now);
  }

  void start(std::uint32_t number) {
    Flow& flow = hosting_.flows[number];
    Sprayed& own = hosting_.sprayed[number];
    Nic& nic = nic_of(number, 0);
    flow.line_gbps = flow.gbps = nic.port().rated->gbps();
    flow.next_send = flow.progress = flow.start;
    hosting_.progress(flow.start);
    const Settings& settings = around_.settings;
    std::uint32_t& latest = hosting_.sprayed[flow.pair].latest;
    if (settings.queue_pairs && latest != no_message && hosting_.flows[latest].acked == hosting_.flows[latest].packets)
      hosting_.transport.go_on(number, flow, latest);
    else
      hosting_.transport.start(number, flow);
    latest = number;
    const PathChoice* choice = hosting_.choice;
    balancer(number).start(settings.spraying, settings.entropies, key_of(settings.seed, spraying, own.chooser),
                           choice ? &choice->law : nullptr, hosting_.base_rtt);
    if (grants()) own.credit.bytes = own.credit.most = first_credit(flow);
    if (const Stamping* header = hosting_.transport.of(number).header(); grants() && header && !hosting_.grants->pulls)
      own.credit.header = most_bytes(header->sent_bytes, static_cast<std::uint32_t>(flow.switches));
    const Time own_timeout = hosting_.transport.of(number).timeout(flow);
    own.timeout = own_timeout > 0 ? std::max(own_timeout, 2 * hosting_.base_rtt) : settings.retransmit_after;
    own.unsent = static_cast<std::int64_t>(flow.size) + std::int64_t{flow.data_overhead} * flow.packets;
    arm(number, flow);
    // As in uet-htsim, what waited has its turn, and then this flow, before others that start at the same time.
    const bool at_once = settings.scheduling == Scheduling::round_robin;
    if (at_once && nic.sends_at() <= flow.start) nic.send(flow.start);
    nic.ready(number, flow.start);
    if (at_once && nic.sends_at() <= flow.start) nic.send(flow.start);
    watch(number, own);
  }

  // A packet may always go.
  std::int64_t first_credit(const Flow& flow) const {
    return uet() ? uet()->first_bytes(flow)
                 : std::max(hosting_.spare_bytes(flow.line_gbps), hosting_.bytes_of(flow, 0));
  }

  // --- timers

  // Packets may be lost from now on.
  void watch(std::uint32_t number, Sprayed& own) {
    std::uint32_t oldest = 0;
    if (own.timeout > 0)
      arm(number, own.under_way.oldest(oldest) ? own.under_way[oldest].at + own.timeout
                                               : hosting_.flows[number].start + own.timeout);
  }

  void ring(std::uint32_t number, Time at, Time now) {
    Flow& flow = hosting_.flows[number];
    if (at != flow.armed || flow.acked == flow.packets) return;
    flow.armed = never;
    Sprayed& own = hosting_.sprayed[number];
    if (flow.timer <= now) {
      hosting_.transport.on_timer(number, flow, now);
      nic_of(number, 0).ready(number, now);
    }
    if (own.probe_at <= now) {
      own.probe_at = now + 5 * own_base(number);
      own.probed = now;
      send_request(number, flow, own, ++own.probes, probes, now);
    }
    if (own.probe_at != never) arm(number, own.probe_at);
    ask_if_dry(number, flow, own, nic_of(number, 0), now);
    if (own.timeout > 0) look_for_losses(number, flow, own, now);
    arm(number, flow);
  }

  void look_for_losses(std::uint32_t number, Flow& flow, Sprayed& own, Time now) {
    std::uint32_t oldest = 0;
    const auto due = [&] {
      return own.under_way.oldest(oldest) ? own.under_way[oldest].at + own.timeout : now + own.timeout;
    };
    Nic& nic = nic_of(number, 0);
    if (due() <= now && (nic.paused(flow.priority) || !hosting_.may_miss(number, now))) {
      // Receivers may not answer what has arrived yet: a full window, or no credit, would stay.
      if ((windows() || ends_speculation()) && own.unsent + own.lost > 0 && !nic.may_send(number))
        request(number, flow, own, nic, now);
      return arm(number, now + own.timeout);
    }
    while (due() <= now) time_out(number, flow, own, oldest, now);
    arm(number, due());
  }

  void time_out(std::uint32_t number, Flow& flow, Sprayed& own, std::uint32_t packet, Time now) {
    ++hosting_.tally.counts.timeouts;
    const Sent& sent = own.under_way[packet];
    balancer(number).hear(around_.settings.feedback_per_packet ? sent.entropy : 0, Echo::timeout, sent.at, now);
    if (own.recovers) {  // the next ACK sends it again
      if (own.under_way[packet].times > 1) own.recovered = packet;
      return own.under_way.pass_oldest();
    }
    Nic& nic = nic_of(number, 0);
    const bool others = own.under_way.lost_any();
    const std::int64_t bytes = own.under_way[packet].bytes;
    own.bytes_under_way -= bytes;
    own.lose(packet);
    if (uet())
      hosting_.uet->on_timeout(number, bytes);
    else
      hosting_.transport.lose(number, flow, true, now);
    if (!uet() && !grants()) return nic.ready(number, now);
    if (others) own.credit.hear(ends_speculation());
    const bool asks = lacks(number, own, bytes, others, nic, now);
    nic.ready(number, now);
    if (asks) request(number, flow, own, nic, now);
  }

  // Whether a sender whose packet of so many bytes timed out, after `others`, has to ask: it cannot send it and another
  // one, or might not. With a window alone others that are lost go first, without asking.
  bool lacks(std::uint32_t number, const Sprayed& own, std::int64_t bytes, bool others, const Nic& nic,
             Time now) const {
    if (grants() && hosting_.grants->pulls) return others || !nic.may_send(number);
    const std::int64_t sent = nic.idle(now) && nic.may_send(number) ? bytes : 0;
    if (windows() && !others && uet()->window(number) < own.bytes_under_way + sent + bytes) return true;
    return grants() && (others || own.credit.bytes <= sent);
  }

  // A sender whose packets have all arrived or are lost and that has no credit left would wait until its receiver has
  // nobody else to serve: it asks again. So does one that recovers, whose packets may be lost without a timer.
  void ask_if_dry(std::uint32_t number, const Flow& flow, Sprayed& own, Nic& nic, Time now) {
    if (!grants() || !hosting_.grants->asks || own.unsent + own.lost == 0) return;
    if (own.credit.bytes > 0 || (own.bytes_under_way > 0 && !own.recovers)) return;
    const Time again = own.requested + hosting_.base_rtt;
    if (again <= now) request(number, flow, own, nic, now);
    arm(number, std::max(again, now + hosting_.base_rtt));
  }

  // Asks the receiver for an ACK, and for credit; with a window or credit by bytes at most once per RTT.
  void request(std::uint32_t number, const Flow& flow, Sprayed& own, Nic& nic, Time now) {
    const bool asks = grants() && hosting_.grants->asks;
    if ((windows() || (asks && !hosting_.grants->pulls)) && own.requested + hosting_.base_rtt > now) return;
    own.requested = now;
    if (asks) own.wanted = nic.wanted(number, false);
    send_request(number, flow, own, ++own.requests, 0, now);
  }

  void send_request(std::uint32_t number, const Flow& flow, Sprayed& own, std::uint32_t request, std::uint8_t flags,
                    Time now) {
    Nic& nic = nic_of(number, 0);
    Packet packet = nic.control(number, flow, Kind::request, now);
    packet.flags |= flags;
    packet.number = request;
    packet.entropy = balancer(number).next(now);
    packet.extra = static_cast<std::uint64_t>(own.wanted);
    nic.push_control(packet);
  }

  // --- the receiver

  void receive_data(const Packet& data) {
    Flow& flow = hosting_.flows[data.flow];
    Sprayed& own = hosting_.sprayed[data.flow];
    const bool first = own.bytes_arrived == 0;
    const std::uint32_t expected = flow.expected;
    if (flow.says_left && expected < flow.packets) [[unlikely]]
      Base::see_left(data, flow);
    const bool fresh = own.arrivals.add(data.number);
    flow.expected = own.arrivals.expected();
    if (fresh) {
      own.bytes_arrived += hosting_.bytes_of(flow, data.number);
      hosting_.progress(data.time);
      if (flow.expected == flow.packets && expected != flow.packets) {
        own.granting.over = !grants() || hosting_.grants->asks;
        own.arrivals.release();
        marked_->forget(data.flow);
        Base::forget_left(data.flow, flow);
        Base::receive_all(data.flow, data.time);
      }
    }
    if (grants()) want(data, own);
    own.bytes_since_ack += data.bytes;
    const bool closed = fresh && expected != flow.expected && own.arrivals.out_of_order() == 0;
    const bool now = first || !fresh || data.marked || data.flags & wants_ack || (closed && own.wants_ack) ||
                     static_cast<double>(own.bytes_since_ack) >= around_.settings.ack_bytes_every;
    if (own.arrivals.out_of_order() == 0)
      own.wants_ack = false;
    else if (fresh && data.flags & wants_ack)
      own.wants_ack = true;
    if (now)
      acknowledge(data, fresh, flow, own);
    else
      around_.discard(data);
  }

  void acknowledge(const Packet& data, bool fresh, const Flow& flow, Sprayed& own) {
    own.bytes_since_ack = 0;
    Packet ack = answer(data, Kind::ack, flow.ack_bytes);
    if (const Time within = hosting_.transport.of(data.flow).marks_within(); within > 0 && data.marked) [[unlikely]]
      ack.marked = RoundedCount::code(marked_->add(data.flow, data.time, within));
    ack.number = static_cast<std::uint32_t>(around_.reports->take(around_.share));
    Report& report = (*around_.reports)[ack.number];
    report.expected = flow.expected;
    report.packet = data.number;
    report.bytes = own.bytes_arrived;
    report.out_of_order = own.arrivals.out_of_order();
    const bool pointed = data.marked || (fresh && data.flags & wants_ack);
    report.base = pointed ? data.number : std::max(data.number > 63 ? data.number - 63 : 0, flow.expected + 1);
    report.map = own.arrivals.out_of_order() > 0 ? own.arrivals.map(report.base) : 0;
    if (flow.telemetry == Telemetry::header) [[unlikely]]
      ack.bytes = around_.headers->returned(ack);
    if (flow.says_left) [[unlikely]]
      Base::say_standing(ack, flow);
    nic_of(data.flow, 1).push_control(ack);
  }

  Packet answer(const Packet& data, Kind kind, int bytes) const {
    Packet made = data;
    made.hop = 0;
    made.bytes = static_cast<std::uint16_t>(bytes);
    made.kind = kind;
    if (several && around_.settings.ack_priority >= 0)
      made.priority = static_cast<std::uint8_t>(around_.settings.ack_priority);
    return made;
  }

  void receive_trimmed(const Packet& trimmed) {
    Flow& flow = hosting_.flows[trimmed.flow];
    Sprayed& own = hosting_.sprayed[trimmed.flow];
    if (own.arrivals.has(trimmed.number)) return acknowledge_bare(trimmed, no_packet, flow, own);
    if (grants()) want(trimmed, own);
    nic_of(trimmed.flow, 1).push_control(answer(trimmed, Kind::nack, around_.settings.ack_bytes));
  }

  // An ACK for what brought no telemetry.
  void acknowledge_bare(const Packet& packet, std::uint32_t answers, const Flow& flow, Sprayed& own,
                        std::uint32_t request = 0) {
    Packet bare_packet = packet;
    bare_packet.flags |= bare;
    Packet ack = answer(bare_packet, Kind::ack, around_.settings.ack_bytes);
    ack.number = static_cast<std::uint32_t>(around_.reports->take(around_.share));
    (*around_.reports)[ack.number] = {
        flow.expected,     answers, packet.number, own.arrivals.out_of_order(), own.arrivals.map(packet.number),
        own.bytes_arrived, request};
    nic_of(packet.flow, 1).push_control(ack);
  }

  // A request is numbered after all packets that were sent, and its map begins there; that of a probe has what arrived.
  void receive_request(const Packet& packet) {
    Sprayed& own = hosting_.sprayed[packet.flow];
    const Flow& flow = hosting_.flows[packet.flow];
    if (grants() && !(packet.flags & probes)) want(packet, own);
    Packet asks = packet;
    asks.number = packet.flags & probes ? flow.expected : flow.packets;
    acknowledge_bare(asks, a_request, flow, own, packet.number);
  }

  void want(const Packet& packet, Sprayed& own) {
    const std::int64_t wanted = wanted_by(packet, own.granting);
    nic_of(packet.flow, 1).granter().want(packet.flow, own.granting, wanted, packet.kind != Kind::data, packet.time);
  }

  // A trimmed packet has lost its stamps or header, and with them what it asked for.
  std::int64_t wanted_by(const Packet& packet, const Granting& granting) const {
    if (hosting_.grants->pulls) return granting.wanted + 1;
    const Telemetry telemetry = hosting_.flows[packet.flow].telemetry;
    if (packet.kind == Kind::request || (uet() && telemetry == Telemetry::none))
      return static_cast<std::int64_t>(packet.extra);
    if (telemetry <= Telemetry::sent_time) return Asking::wanted(packet.extra, granting.granted);
    if (packet.kind == Kind::trimmed) return granting.wanted;
    return telemetry == Telemetry::stack ? around_.stacks[stack_of(packet).number].wanted
                                         : around_.headers->wanted(packet);
  }

  void grant(Nic& nic, Time now) {
    nic.granter().act(
        now, [this](std::uint32_t flow) -> Granting& { return hosting_.sprayed[flow].granting; },
        [&](std::uint32_t flow, const Granting& granting) {
          Packet packet = nic.control(flow, hosting_.flows[flow], Kind::grant, now);
          packet.number = static_cast<std::uint32_t>(granting.granted);
          if (around_.settings.spraying != Spraying::flow)
            packet.entropy =
                static_cast<std::uint8_t>(grants_++ % static_cast<std::uint32_t>(around_.settings.entropies));
          nic.push_control(packet);
        });
  }

  // --- the sender

  void receive_ack(const Packet& packet) {
    Flow& flow = hosting_.flows[packet.flow];
    Sprayed& own = hosting_.sprayed[packet.flow];
    if (flow.acked == flow.packets) return around_.discard(packet);
    const Report report = (*around_.reports)[packet.number];
    const Time now = packet.time;
    own.credit.hear(ends_speculation());
    const Time rtt = round_trip(packet, report, own);
    const auto fresh = report.bytes - own.bytes_acked;
    if (fresh > 0) {
      own.bytes_acked += fresh;
      own.bytes_under_way -= fresh;
    }
    const std::int64_t lost = own.lost;
    take(packet.flow, report, flow, own, now);
    if (own.lost < lost) nic_of(packet.flow, 0).reorder(packet.flow);
    const Echo echo = packet.marked ? Echo::marked : Echo::good;
    if (hosting_.choice) [[unlikely]]
      balancer(packet.flow).hear(packet.entropy, echo, news(packet, report, flow, rtt), now);
    else
      balancer(packet.flow).hear(packet.entropy, echo, never, now);
    if (hosting_.answers && !(packet.flags & bare)) [[unlikely]]
      hosting_.transport.on_answer(packet.flow, packet.entropy, false, echo, now);
    if (uet())
      hosting_.uet->on_wire_ack(packet.flow, flow,
                                {now, std::max<std::int64_t>(fresh, 0), own.bytes_under_way, packet.marked != 0,
                                 report.packet == a_request && rtt < own_base(packet.flow) ? -1 : rtt});
    else if (!(packet.flags & bare))
      tell(packet, report, flow, own);
    if (around_.settings.sleek) {
      const Time base = own_base(packet.flow);
      const bool overtook =
          report.packet == a_request && packet.flags & probes && rtt >= 0 && rtt < base + target(packet.flow);
      recover(packet.flow, flow, own, report, overtook, now);
      own.probe_at = now + (own.unsent > 0 ? 3 * base : base + target(packet.flow));
    }
    around_.discard(packet);
    if (flow.acked == flow.packets) return finish(packet.flow, own, now);
    arm(packet.flow, flow);
    if (own.probe_at != never) arm(packet.flow, own.probe_at);
    nic_of(packet.flow, 0).ready(packet.flow, now);
    ask_if_dry(packet.flow, flow, own, nic_of(packet.flow, 0), now);
  }

  // Of the packet that is answered, if it is clear which of its copies that was; below 0: it is not.
  static Time round_trip(const Packet& packet, const Report& report, Sprayed& own) {
    if (report.packet == a_request && packet.flags & probes)
      return report.request == own.probes ? packet.time - own.probed : -1;
    if (report.packet == a_request) return report.request == own.requests ? packet.time - own.requested : -1;
    if (!own.under_way.knows(report.packet)) return -1;
    const Sent& sent = own.under_way[report.packet];
    if (!sent.under_way || sent.times != (packet.flags & sent_again ? 2 : 1)) return -1;
    return packet.time - sent.at;
  }

  // What an ACK says of the way of its packet, whose round trip was `rtt`.
  WayNews news(const Packet& packet, const Report& report, const Flow& flow, Time rtt) const {
    WayNews found;
    if (rtt >= 0) found.sent = packet.time - rtt;
    if (report.packet == a_request) return found;
    if (rtt >= 0) {
      found.delay =
          std::max(0.0, static_cast<double>(rtt - own_base(packet.flow)) / static_cast<double>(hosting_.base_rtt));
    }
    if (flow.telemetry == Telemetry::header && !(packet.flags & bare))
      hosting_.choice->see(around_.headers->read(packet), flow.line_gbps, hosting_.base_rtt, found);
    return found;
  }

  void take(std::uint32_t number, const Report& report, Flow& flow, Sprayed& own, Time now) {
    const auto arrive = [&](std::uint32_t packet) {
      if (!own.arrive(packet) || !around_.settings.feedback_per_packet || packet == report.packet) return;
      const Sent& sent = own.under_way[packet];
      balancer(number).hear(sent.entropy, Echo::good, sent.at, now);
    };
    for (std::uint32_t i = flow.acked; i < report.expected; ++i) arrive(i);
    if (report.expected > flow.acked) {
      flow.acked = report.expected;
      flow.progress = now;
      own.under_way.forget_before(flow.acked);
    }
    std::uint64_t map = report.map;
    while (map != 0) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(map));
      map &= map - 1;
      arrive(report.base + bit);
    }
  }

  void tell(const Packet& packet, const Report& report, Flow& flow, const Sprayed& own) {
    const std::uint64_t arrived = own.payload_acked(flow, flow.data_overhead);
    Ack ack{packet.time, arrived, flow.bytes_before(flow.next), packet.marked, 0, 0, nullptr, nullptr};
    if (flow.telemetry == Telemetry::stack) ack.stack = &around_.read_stack(packet);
    if (flow.telemetry == Telemetry::fair_rate) {
      ack.fair_gbps = fair_rate(packet, report.packet + 1, flow);
    } else if (flow.telemetry == Telemetry::header) [[unlikely]] {
      ack.seen = &around_.headers->read(packet);
      ack.sent_at = around_.headers->sent_at(packet);
    } else {
      ack.sent_at = ack.stack                    ? ack.stack->sent_at
                    : grants() || flow.says_left ? Asking::sent_at(packet.extra, packet.time)
                                                 : static_cast<Time>(packet.extra);
    }
    ack.credit = own.credit.share();
    if (flow.says_left) [[unlikely]]
      ack.standing = Base::standing_of(packet, flow.telemetry);
    if (hosting_.trips) [[unlikely]]
      hosting_.trips->add(packet.flow, flow.src, packet.time - ack.sent_at);
    hosting_.transport.on_ack(packet.flow, flow, ack);
  }

  void receive_nack(const Packet& nack) {
    Flow& flow = hosting_.flows[nack.flow];
    Sprayed& own = hosting_.sprayed[nack.flow];
    ++hosting_.tally.counts.nacks;
    if (flow.acked == flow.packets || !own.under_way.knows(nack.number)) return;
    const Sent sent = own.under_way[nack.number];
    if (!sent.under_way) return;
    own.credit.hear(ends_speculation());
    const bool last = nack.flags & at_last_hop;
    const Echo echo = !last ? Echo::trimmed : nack.marked ? Echo::marked : Echo::good;
    balancer(nack.flow).hear(nack.entropy, echo, sent.at, nack.time);
    if (hosting_.answers) [[unlikely]]
      hosting_.transport.on_answer(nack.flow, nack.entropy, true, echo, nack.time);
    if (uet())
      hosting_.uet->on_trim(nack.flow, flow, sent.bytes, nack.time - sent.at, last, own.bytes_under_way, nack.time);
    else
      hosting_.transport.lose(nack.flow, flow, false, nack.time);
    own.bytes_under_way -= sent.bytes;
    own.lose(nack.number);
    nic_of(nack.flow, 0).ready(nack.flow, nack.time);
    ask_if_dry(nack.flow, flow, own, nic_of(nack.flow, 0), nack.time);
  }

  void receive_grant(const Packet& grant) {
    Flow& flow = hosting_.flows[grant.flow];
    Sprayed& own = hosting_.sprayed[grant.flow];
    if (flow.acked == flow.packets) return;
    Nic& nic = nic_of(grant.flow, 0);
    own.credit.hear(ends_speculation());
    if (grant.number > own.credit.granted) {
      const double bytes = static_cast<double>(grant.number - own.credit.granted) * nic.granter().quantum();
      own.credit.bytes = std::min(own.credit.bytes + static_cast<std::int64_t>(bytes), own.credit.most);
      own.credit.granted = grant.number;
    }
    nic.ready(grant.flow, grant.time);
  }

  // SLEEK: without trimming, so many packets out of order mean that those before them are lost; so does a probe that
  // overtakes them without queueing. Until all that were sent by then have arrived, an ACK has those of a window from
  // the first that is missing sent again, each once.
  void recover(std::uint32_t number, Flow& flow, Sprayed& own, const Report& report, bool overtaken, Time now) {
    const double full = flow.data_overhead + flow.payload;
    const double own_window = uet()             ? static_cast<double>(uet()->window(number))
                              : flow.window > 0 ? flow.usable_window() * full / flow.payload
                                                : static_cast<double>(own.bytes_under_way);
    const double window = std::max(own_window, full);
    const double most = uet() ? static_cast<double>(uet()->most(number)) : 1.5 * window;
    const double far = std::max(5.0, std::floor(std::min(1.5 * window, most) / flow.payload));
    if (overtaken) own.recovered = flow.acked;
    if (flow.acked >= own.recovers_until) own.recovers = false;
    const bool begins = overtaken || (!own.recovers && report.out_of_order >= far && !own.under_way.lost_any());
    if (begins) {
      own.recovers = true;
      own.recovers_until = own.under_way.end();
    }
    if (!own.recovers) return;
    const std::uint32_t end =
        std::min(own.recovers_until, flow.acked + static_cast<std::uint32_t>(window / flow.payload));
    for (std::uint32_t i = std::max(flow.acked, own.recovered); i < end; ++i) {
      const Sent& sent = own.under_way[i];
      if (!sent.under_way) continue;
      own.bytes_under_way -= sent.bytes;
      own.lose(i);
      own.recovered = i + 1;
    }
    if (begins && !uet()) hosting_.transport.lose(number, flow, false, now);
  }

  Time own_base(std::uint32_t number) const {
    return uet() ? uet()->base_rtt(number) : hosting_.flows[number].base_rtt;
  }
  Time target(std::uint32_t number) const { return uet() ? uet()->target_delay() : own_base(number); }

  void finish(std::uint32_t number, Sprayed& own, Time now) {
    own.release();
    if (!around_.settings.queue_pairs && around_.settings.ways != WayNumbers::shared) own.balancer.release();
    Base::finish_sending(number, now);
  }

  std::uint32_t grants_ = 0;
  std::unique_ptr<MarkedFlows> marked_ = std::make_unique<MarkedFlows>();  // that are received here
};

}  // namespace remy_plus::fabric
