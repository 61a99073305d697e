// A host's end of one link: senders that share it in turn.
#pragma once

#include <algorithm>
#include <vector>

#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/link_end.hpp"

namespace remy_plus::fabric {

// A host's end of one link: ACKs first, then its flows in turn; with `several`, class by class.
template <bool several>
class Nic : public LinkEnd<several> {
  using Base = LinkEnd<several>;

 public:
  Nic(Port& port, const Surroundings& around, const Hosting& hosting)
      : Base(port, around), hosting_(hosting), turns_(std::max<std::size_t>(port.lanes.size(), 1)) {}

  using Base::wake;

  void add(std::uint32_t flow, Time now) {
    turn(hosting_.flows[flow].priority).senders.push_back(flow);
    wake(now);
  }

  void remove(std::uint32_t flow) {
    auto& [senders, last] = turn(hosting_.flows[flow].priority);
    const auto at = std::find(senders.begin(), senders.end(), flow) - senders.begin();
    senders.erase(senders.begin() + at);
    if (at <= last) --last;
  }

  // At next(): sends what is due, if anything is, and says when to try again.
  void send(Time now) {
    next_ = never;
    if constexpr (several) {
      for (std::size_t i = 0; i < turns_.size(); ++i)
        if (!port_.lanes[i].paused && send(port_.lanes[i], turns_[i], now)) break;
    } else {
      send(port_, turns_[0], now);
    }
  }

 private:
  using Base::around_, Base::next_, Base::port_, Base::put_on_wire, Base::send_control;
  using typename Base::Own;

  struct Turn {
    std::vector<std::uint32_t> senders;  // flows, in the order of their turns
    std::ptrdiff_t last = -1;            // who sent last
  };

  Turn& turn(int priority) { return turns_[several ? static_cast<std::size_t>(priority) : 0]; }

  bool send(Lane& lane, Turn& turn, Time now) {
    if (!lane.queue.empty())
      send_control(lane, now);
    else if (!send_data(turn, now))
      return false;
    next_ = port_.free_at;
    return true;
  }

  bool send_data(Turn& turn, Time now) {
    const auto count = static_cast<std::ptrdiff_t>(turn.senders.size());
    for (std::ptrdiff_t i = 1; i <= count; ++i) {
      const std::ptrdiff_t at = turn.last + i < count ? turn.last + i : turn.last + i - count;
      Flow& flow = hosting_.flows[turn.senders[static_cast<std::size_t>(at)]];
      if (!flow.unsent() || !flow.window_open()) continue;
      if (flow.next_send > now) {
        next_ = std::min(next_, flow.next_send);
        continue;
      }
      turn.last = at;
      send_packet(turn.senders[static_cast<std::size_t>(at)], flow, now);
      return true;
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

  const Hosting& hosting_;
  std::vector<Turn> turns_;  // of every class
};

}  // namespace remy_plus::fabric
