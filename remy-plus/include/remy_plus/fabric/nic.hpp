// A host's end of one link: senders that share it in turn.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/port.hpp"
#include "remy_plus/fabric/round_trips.hpp"
#include "remy_plus/fabric/rounds.hpp"
#include "remy_plus/fabric/settings.hpp"
#include "remy_plus/fabric/switch.hpp"
#include "remy_plus/fabric/transport.hpp"

namespace remy_plus::fabric {

// What all hosts share.
struct Hosting {
  std::vector<Flow>& flows;
  std::vector<std::uint16_t>& first_ports;  // (flows, 2): of data, and of ACKs at the other end
  Transport& transport;
  Telemetry telemetry;
  int data_overhead, ack_bytes;  // telemetry included, headers apart
  std::uint64_t& retransmitted;  // packets
  std::uint64_t& unfinished;     // flows
  Rounds* rounds;                // that wait for one another; null: none
  Time& progress;                // when data was last received in order or a flow began
  RoundTrips* trips = nullptr;   // null: none are timed
};

// A host's end of one link: ACKs first, then its flows in turn.
class Nic {
 public:
  Nic(Port& port, const Surroundings& around, const Hosting& hosting)
      : port_(port), around_(around), hosting_(hosting) {}

  Time next() const { return next_; }
  Port& port() { return port_; }

  void add(std::uint32_t flow, Time now) {
    senders_.push_back(flow);
    wake(now);
  }

  void remove(std::uint32_t flow) {
    const auto at = std::find(senders_.begin(), senders_.end(), flow) - senders_.begin();
    senders_.erase(senders_.begin() + at);
    if (at <= last_) --last_;
  }

  void acknowledge(const Packet& ack) {
    port_.queue_changes(ack.time, ack.bytes);
    port_.queue.push(ack);
    wake(ack.time);
  }

  // Something may be sent from now on that could not before.
  void wake(Time now) {
    if (!port_.paused) next_ = std::min(next_, std::max(now, port_.free_at));
  }

  void hear(const Packet& frame) {
    if (frame.kind == Kind::pause) {
      port_.pause(frame.time);
      next_ = never;
    } else {
      port_.resume(frame.time);
      wake(frame.time);
    }
  }

  // At next(): sends what is due, if anything is, and says when to try again.
  void send(Time now) {
    if (!port_.queue.empty())
      send_ack(now);
    else if (!send_data(now))
      return;
    next_ = port_.free_at;
  }

 private:
  void send_ack(Time now) {
    Packet packet = port_.queue.front();
    port_.queue.pop();
    port_.queue_changes(now, -packet.bytes);
    ++port_.counts.ack_packets;
    put_on_wire(packet, now);
  }

  bool send_data(Time now) {
    next_ = never;
    const auto count = static_cast<std::ptrdiff_t>(senders_.size());
    for (std::ptrdiff_t i = 1; i <= count; ++i) {
      const std::ptrdiff_t at = last_ + i < count ? last_ + i : last_ + i - count;
      Flow& flow = hosting_.flows[senders_[static_cast<std::size_t>(at)]];
      if (!flow.unsent() || !flow.window_open()) continue;
      if (flow.next_send > now) {
        next_ = std::min(next_, flow.next_send);
        continue;
      }
      last_ = at;
      send_packet(senders_[static_cast<std::size_t>(at)], flow, now);
      return true;
    }
    return false;
  }

  void send_packet(std::uint32_t number, Flow& flow, Time now) {
    Packet packet;
    packet.flow = number;
    packet.number = flow.next;
    packet.bytes = static_cast<std::uint16_t>(
        static_cast<int>(flow.bytes_before(flow.next + 1) - flow.bytes_before(flow.next)) + hosting_.data_overhead);
    packet.extra = telemetry(packet, flow, now);
    if (around_.headers) [[unlikely]]
      packet.bytes = around_.headers->with_bytes(packet);
    if (flow.next < flow.furthest) ++hosting_.retransmitted;
    if (flow.next == flow.acked) flow.progress = now;
    flow.furthest = std::max(flow.furthest, ++flow.next);
    flow.last_frame = packet.bytes;
    flow.next_send = now + time_at(flow.gbps, packet.bytes, around_.settings.whole_ns);
    ++port_.counts.data_packets;
    port_.counts.data_bytes += packet.bytes;
    put_on_wire(packet, now);
  }

  std::uint64_t telemetry(const Packet& packet, Flow& flow, Time now) {
    if (hosting_.telemetry == Telemetry::fair_rate) return ask(flow, now);
    if (around_.headers) [[unlikely]]
      return around_.headers->depart(packet.flow, packet.number, now, hosting_.transport.told(packet.flow));
    if (hosting_.telemetry != Telemetry::stack) return static_cast<std::uint64_t>(now);
    const std::uint64_t number = around_.stacks.take();
    around_.stacks[number].count = 0;
    around_.stacks[number].sent_at = now;
    return number;
  }

  // One packet at a time is timed.
  std::uint64_t ask(Flow& flow, Time now) const {
    if (flow.timed_at == never) {
      flow.timed = flow.next;
      flow.timed_at = now;
    }
    const double rtt = static_cast<double>(flow.rtt) / microsecond;
    return std::bit_cast<std::uint64_t>(FairHeader{static_cast<float>(port_.speed->gbps()), static_cast<float>(rtt)});
  }

  void put_on_wire(Packet& packet, Time start) {
    port_.free_at = start + port_.speed->of(packet.bytes);
    packet.time = port_.free_at + port_.delay;
    packet.hop = 1;
    port_.wire.push(packet);
    Time& next = around_.next[port_.peer];
    next = std::min(next, packet.time);
  }

  Port& port_;
  const Surroundings& around_;
  const Hosting& hosting_;
  std::vector<std::uint32_t> senders_;  // flows, in the order of their turns
  std::ptrdiff_t last_ = -1;            // who sent last
  Time next_ = never;                   // when something may be sent
};

}  // namespace remy_plus::fabric
