// A host's end of one link under Homa: grants, requests and ACKs first, then the message with the fewest bytes left to
// send that may send, unless its class is paused.
#pragma once

#include <algorithm>
#include <vector>

#include "remy_plus/fabric/homa/homa.hpp"
#include "remy_plus/fabric/homa/messages.hpp"
#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/keys.hpp"
#include "remy_plus/fabric/link_end.hpp"

namespace remy_plus::fabric {

template <bool several>
class HomaNic : public LinkEnd<several> {
  using Base = LinkEnd<several>;

 public:
  HomaNic(Port& port, const Surroundings& around, const Hosting& hosting)
      : Base(port, around), hosting_(hosting), homa_(static_cast<Homa&>(hosting.transport)) {}

  // May be sent from, or more than before.
  void offer(std::uint32_t flow, Time now) {
    take_back(flow);
    if (left(flow).packets == 0) return;
    const auto before = [this](std::uint32_t a, std::uint32_t b) { return longer(a, b); };
    senders_.insert(std::lower_bound(senders_.begin(), senders_.end(), flow, before), flow);
    wake(now);
  }

  // Has nothing to send any more.
  void take_back(std::uint32_t flow) {
    senders_.erase(std::remove(senders_.begin(), senders_.end(), flow), senders_.end());
  }

  // At next(): sends what is due, if anything is.
  void send(Time now) {
    next_ = never;
    Lane& lane = Own::of(port_, 0);
    if (!lane.queue.empty() && !lane.paused) {
      send_control(lane, now);
    } else if (!send_data(now)) {
      return;
    }
    next_ = port_.free_at;
  }

 private:
  using Base::around_, Base::next_, Base::port_, Base::put_on_wire, Base::send_control, Base::wake;
  using typename Base::Own;

  struct Left {
    std::uint64_t bytes;
    std::uint32_t packets;  // that may be sent now
  };

  // Bytes that are sent again count as full packets.
  Left left(std::uint32_t number) const {
    const Flow& flow = hosting_.flows[number];
    const Outgoing& out = homa_.outgoing(number);
    const std::uint64_t again = out.again.size() * static_cast<std::uint64_t>(flow.payload);
    return {flow.size - flow.bytes_before(flow.next) + again,
            static_cast<std::uint32_t>(out.again.size()) + std::max(out.granted, flow.next) - flow.next};
  }

  // The last one sends next; it keeps its place, since it alone comes to have fewer bytes left.
  bool longer(std::uint32_t a, std::uint32_t b) const {
    return std::pair(left(a).bytes, a) > std::pair(left(b).bytes, b);
  }

  std::uint32_t due(std::uint32_t number) const {
    const Outgoing& out = homa_.outgoing(number);
    return out.again.empty() ? hosting_.flows[number].next : out.again.front();
  }

  bool send_data(Time now) {
    for (std::size_t i = senders_.size(); i-- > 0;) {
      const std::uint32_t number = senders_[i], packet = due(number);
      const std::uint8_t at = several ? homa_.outgoing(number).level_of(packet) : 0;
      if (Own::of(port_, at).paused) continue;
      send_packet(number, packet, at, now);
      if (left(number).packets == 0) {
        senders_.erase(senders_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        for (; i + 1 < senders_.size() && longer(senders_[i + 1], number); ++i) std::swap(senders_[i], senders_[i + 1]);
      }
      return true;
    }
    return false;
  }

  void send_packet(std::uint32_t number, std::uint32_t due, std::uint8_t at, Time now) {
    Flow& flow = hosting_.flows[number];
    Outgoing& out = homa_.outgoing(number);
    Packet packet;
    packet.flow = number;
    packet.number = due;
    packet.bytes = static_cast<std::uint16_t>(static_cast<int>(flow.bytes_before(due + 1) - flow.bytes_before(due)) +
                                              flow.data_overhead);
    packet.priority = at;
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

  const Hosting& hosting_;
  Homa& homa_;
  std::vector<std::uint32_t> senders_;  // flows that may send, those with the most bytes left first
};

}  // namespace remy_plus::fabric
