// Many links: packets go hop by hop to their receivers, and an acknowledgement of each comes back.
//
// Stands where Port stands in a simulation of one bottleneck. Random loss takes data packets behind the last link
// before the receiver, as it does there.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "remy_plus/earliest.hpp"
#include "remy_plus/layout.hpp"
#include "remy_plus/path_port.hpp"
#include "remy_plus/shares.hpp"

namespace remy_plus {

// Storage of links and packets that trials reuse.
struct PathSpace {
  std::vector<PathPort> ports;
  std::vector<std::vector<PathPort::Slot>> rings;
  std::vector<PathPacket> packets;
  std::vector<std::uint32_t> free;  // entries of `packets`
  Earliest due;                     // per link: when its next packet is at the far end
};

class Paths {
 public:
  static constexpr bool many_hops = true;
  using Clocks = PathClocks;

  Paths(const Network& network, const Model& model, PathSpace& space)
      : layout_(*network.layout), space_(space), due_(space.due) {
    const std::size_t links = layout_.links.size();
    space.ports.clear();
    space.ports.reserve(links);
    if (space.rings.size() < links) space.rings.resize(links, std::vector<PathPort::Slot>(first_slots_));
    for (std::size_t i = 0; i < links; ++i)
      space.ports.emplace_back(layout_.links[i], model, space.rings[i], space.packets);
    space.free.clear();
    for (std::size_t i = space.packets.size(); i-- > 0;) space.free.push_back(static_cast<std::uint32_t>(i));
    due_.reset(links);
  }

  // A sender offers a packet to the first link of its way.
  Fate offer(double now, bool link_moved, std::uint32_t sequence, std::uint32_t flow, std::uint16_t sender, bool lost) {
    if (space_.free.empty()) grow();
    const std::uint32_t at = space_.free.back();
    space_.free.pop_back();
    PathPacket& packet = space_.packets[at];
    packet.sent = now;
    packet.arrives = never;
    packet.link = 0;
    packet.spare = never;
    packet.sequence = sequence;
    packet.flow = flow;
    packet.queue = 0;
    packet.sender = sender;
    packet.lost = lost;
    packet.hop = layout_.ways[sender].begin;
    return enter(now, link_moved, at);
  }

  double next_arrival() const { return due_.time(); }

  // Takes the packet that is due at `now` from its link to the next one, or home. Which packet: deliver().
  Fate step(double now) {
    const std::size_t link = due_.at();
    PathPort& port = space_.ports[link];
    latest_ = port.leave();
    due_.set(link, port.next_arrival());
    PathPacket& packet = space_.packets[latest_];
    const Way& way = layout_.ways[packet.sender];
    if (++packet.hop == way.turn) {
      packet.arrives = now;
      if (packet.lost) return vanish();
    }
    if (packet.hop == way.end) {
      release(latest_);
      return Fate::home;
    }
    ++passed_;
    return enter(now, true, latest_);
  }

  // The packet of the latest step. The reference is valid until the next offer().
  const PathPacket& deliver() const { return space_.packets[latest_]; }

  double spare(const PathPacket& packet) const { return packet.spare; }
  double one_way_delay(const PathPacket& packet, double) const { return packet.arrives - packet.sent; }

  std::uint64_t passed() const { return passed_; }

  // Fills in what happened on the links; the trial's totals are those of the most utilised one.
  void report(double end, TrialTotals& totals, std::vector<LinkTotals>& links) const {
    links.clear();
    for (const PathPort& port : space_.ports) {
      links.push_back(port.totals(end));
      totals.hops += links.back().accepted;
      if (links.size() > 1 && links.back().utilisation <= totals.utilisation) continue;
      totals.utilisation = links.back().utilisation;
      totals.queue_mean = links.back().queue_mean;
    }
  }

 private:
  static constexpr std::size_t first_slots_ = 64;
  static constexpr std::size_t most_packets_ = std::size_t{1} << 24;

  Fate enter(double now, bool link_moved, std::uint32_t at) {
    const PathPacket& packet = space_.packets[at];
    const Way& way = layout_.ways[packet.sender];
    const Kind kind = packet.hop < way.turn ? Kind::data : Kind::ack;
    const std::uint32_t link = layout_.hops[packet.hop];
    PathPort& port = space_.ports[link];
    const double settled = packet.hop == way.begin ? now : now + port.rounding();
    if (!port.accept(now, settled, link_moved, at, kind, kind == Kind::data || !layout_.one_way)) {
      release(at);
      return kind == Kind::data ? Fate::dropped : Fate::ack_dropped;
    }
    if (port.under_way() == 1) due_.set(link, port.next_arrival());
    return packet.lost && packet.hop + 1 == way.turn ? Fate::lost : Fate::under_way;
  }

  // The loss stage takes a packet; that was counted when the last link accepted it.
  Fate vanish() {
    ++passed_;
    release(latest_);
    return Fate::under_way;
  }

  void release(std::uint32_t at) { space_.free.push_back(at); }

  void grow() {
    const std::size_t had = space_.packets.size();
    if (had >= most_packets_)
      throw std::length_error(
          "over 16 million packets are under way: give the network a finite buffer, or the policy a lower rate");
    space_.packets.resize(had == 0 ? 256 : 2 * had);
    for (std::size_t i = space_.packets.size(); i-- > had;) release(static_cast<std::uint32_t>(i));
  }

  const Layout& layout_;
  PathSpace& space_;
  Earliest& due_;
  std::uint32_t latest_ = 0;
  std::uint64_t passed_ = 0;  // steps that did not bring a packet home
};

}  // namespace remy_plus
