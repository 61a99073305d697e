// Many links: packets go hop by hop to their receivers, and an acknowledgement of each comes back.
//
// Stands where Port stands in a simulation of one bottleneck. Random loss takes data packets behind the last link
// before the receiver, as it does there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "remy_plus/core/earliest.hpp"
#include "remy_plus/core/layout.hpp"
#include "remy_plus/fifo/path_port.hpp"
#include "remy_plus/fifo/shares.hpp"
#include "remy_plus/headers/reader.hpp"

namespace remy_plus {

// Storage of links and packets that trials reuse.
template <bool headers>
struct BasicPathSpace {
  std::vector<BasicPathPort<headers>> ports;
  std::vector<std::vector<typename BasicPathPort<headers>::Entry>> rings;
  std::vector<PathPacket> packets;
  std::vector<std::uint32_t> free;  // entries of `packets`
  Earliest due;                     // per link: when its next packet is at the far end
  Headers stamps;                   // of the packets, with headers
};

template <bool headers>
class BasicPaths {
 public:
  static constexpr bool many_hops = true;
  static constexpr bool stamped = headers;
  static constexpr bool steps = true;
  using Clocks = PathClocks;
  using Space = BasicPathSpace<headers>;

  BasicPaths(const Network& network, const Model& model, Space& space, const Stampings& stampings = {},
             std::uint64_t seed = 0)
      : layout_(*network.layout), space_(space), due_(space.due), rtt_(network.rtt) {
    const std::size_t links = layout_.links.size();
    space.ports.clear();
    space.ports.reserve(links);
    if (space.rings.size() < links)
      space.rings.resize(links, std::vector<typename BasicPathPort<headers>::Entry>(first_slots_));
    for (std::size_t i = 0; i < links; ++i)
      space.ports.emplace_back(layout_.links[i], model, space.rings[i], space.packets);
    space.free.clear();
    for (std::size_t i = space.packets.size(); i-- > 0;) space.free.push_back(static_cast<std::uint32_t>(i));
    due_.reset(links);
    if constexpr (headers) prepare(network, model, stampings, seed);
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
    packet.hop = layout_.routes[sender].begin;
    if constexpr (headers) write_header(at);
    return enter(now, link_moved, at);
  }

  double next_arrival() const { return due_.time(); }

  // Takes the packet that is due at `now` from its link to the next one, or home. Which packet: deliver().
  Fate step(double now) {
    const std::size_t link = due_.at();
    auto& port = space_.ports[link];
    latest_ = port.leave();
    due_.set(link, port.next_arrival());
    PathPacket& packet = space_.packets[latest_];
    const Route& route = layout_.routes[packet.sender];
    if (++packet.hop == route.turn) {
      packet.arrives = now;
      if (packet.lost) return vanish();
      if constexpr (headers) reflect(now, packet.sender);
    }
    if (packet.hop == route.end) {
      release(latest_);
      return Fate::home;
    }
    ++passed_;
    return enter(now, true, latest_);
  }

  // The packet of the latest step. The reference is valid until the next offer().
  const PathPacket& deliver() const { return space_.packets[latest_]; }

  // 0 where no port has said it.
  double spare(const PathPacket& packet) const { return packet.spare == never ? 0 : packet.spare; }
  // Without a way back, half of the propagation is taken for it, as Port does.
  double one_way_delay(const PathPacket& packet, double) const {
    return packet.arrives - packet.sent - (returns_ ? 0 : rtt_ / 2);
  }

  std::uint64_t passed() const { return passed_; }

  // --- headers

  // A sender's flow begins or ends: hops count their flows.
  void join(std::size_t sender) {
    for (const std::uint32_t link : layout_.forward(sender))
      for (Hop& hop : space_.ports[link].hops()) hop.join();
  }
  void leave(std::size_t sender) {
    for (const std::uint32_t link : layout_.forward(sender))
      for (Hop& hop : space_.ports[link].hops()) hop.leave();
  }

  // What the next packet says of its sender, and whether some hop asks.
  bool asks() {
    const auto& hops = space_.ports.front().hops();
    return std::any_of(hops.begin(), hops.end(), [](const Hop& hop) { return hop.asks(); });
  }
  void tell(const Told& told) { told_ = told; }

  // Whether the sender of the packet that came home is told of queues and links without bytes.
  bool plain() const
    requires headers
  {
    const Stamping* own = stamping(space_.packets[latest_].sender);
    return !own || own->plain;
  }
  // What the header of the packet that came home brings its sender.
  const Seen& look(const PathPacket& packet)
    requires headers
  {
    return readers_[packet.sender].read(packet.flow, space_.stamps.carried[latest_], space_.stamps.of(latest_));
  }

  // Fills in what happened on the links; the trial's totals are those of the most utilised one.
  void report(double end, TrialTotals& totals, std::vector<LinkTotals>& links) const {
    links.clear();
    for (const auto& port : space_.ports) {
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
    const Route& route = layout_.routes[packet.sender];
    const Kind kind = packet.hop < route.turn ? Kind::data : Kind::ack;
    const std::uint32_t link = layout_.hops[packet.hop];
    auto& port = space_.ports[link];
    const double settled = packet.hop == route.begin ? now : now + port.rounding();
    if (!accept(port, now, settled, link_moved, at, kind)) {
      release(at);
      return kind == Kind::data ? Fate::dropped : Fate::ack_dropped;
    }
    if (port.under_way() == 1) due_.set(link, port.next_arrival());
    return packet.lost && packet.hop + 1 == route.turn ? Fate::lost : Fate::under_way;
  }

  bool accept(BasicPathPort<headers>& port, double now, double settled, bool link_moved, std::uint32_t at, Kind kind) {
    bool collect = kind == Kind::data || !layout_.one_way;
    if constexpr (headers)
      if (const Stamping* own = stamping(space_.packets[at].sender); own && !own->two_way) collect = kind == Kind::data;
    collect &= layout_.links[layout_.hops[space_.packets[at].hop]].stamps;
    if constexpr (!headers) return port.accept(now, settled, link_moved, at, kind, collect);
    return port.accept(now, settled, link_moved, at, kind, collect, load(at, kind, collect));
  }

  // --- headers

  void prepare(const Network& network, const Model& model, const Stampings& stampings, std::uint64_t seed) {
    Headers& stamps = space_.stamps;
    const Stamping& first = *stampings.all.front();
    stamps.stampings = stampings;
    stamps.plain = false;
    stamps.width = 0;
    for (const Stamping* each : stampings.all) {
      if (each->packet_bytes != first.packet_bytes)
        throw std::invalid_argument("headers " + first.name + " and " + each->name + ": packets differ in bytes");
      stamps.width = std::max(stamps.width, each->words);
    }
    stamps.seed = seed;
    stamps.network = network.id;
    stamps.resize(space_.packets.size());
    for (std::size_t i = 0; i < layout_.links.size(); ++i) {
      std::vector<Hop> hops;
      for (const Stamping* each : stampings.all)
        hops.emplace_back(*each, model, layout_.links[i].rate, network.rtt, false, i);
      space_.ports[i].stamp(stamps, std::move(hops));
    }
    readers_.clear();
    for (std::size_t sender = 0; sender < layout_.routes.size(); ++sender) {
      const Stamping* own = stamping(sender);
      stamps.plain |= !own || own->plain;
      readers_.emplace_back(own ? *own : first);
    }
    reflectors_.assign(layout_.routes.size(), Reflector());
    ack_size_ = model.ack_size;
    packet_bytes_ = first.packet_bytes;
    ack_bytes_ = static_cast<std::uint64_t>(std::llround(model.ack_size * packet_bytes_));
    for (const Route& route : layout_.routes) returns_ |= route.turn < route.end;
  }

  const Stamping* stamping(std::size_t sender) const { return space_.stamps.stampings.of(sender); }

  void write_header(std::uint32_t at) {
    const PathPacket& packet = space_.packets[at];
    Carried& carried = space_.stamps.carried[at];
    carried = {};
    const Stamping* own = stamping(packet.sender);
    if (!own) return;
    carried = departure(*own, {space_.stamps.seed, space_.stamps.network, packet.sender, packet.sequence},
                        space_.stamps.of(at));
    carried.told = told_;
  }

  void reflect(double now, std::uint16_t sender) {
    Carried& carried = space_.stamps.carried[latest_];
    carried.shown = carried.there && reflectors_[sender].reflects(*stamping(sender), now);
  }

  // A data packet grows as hops add their records before they send it on; so does a reflected header.
  Load load(std::uint32_t at, Kind kind, bool collect) const {
    const Carried& carried = space_.stamps.carried[at];
    const Stamping* own = stamping(space_.packets[at].sender);
    const double unit = packet_bytes_;
    if (kind == Kind::data) {
      const std::uint32_t more = carried.there ? Stamping::bytes(own->sent_bytes, carried.hops + collect) : 0;
      return {1 + more / unit, packet_bytes_ + more};
    }
    const std::uint32_t more = carried.shown ? Stamping::bytes(own->reflected_bytes, carried.hops + collect) : 0;
    return {ack_size_ + more / unit, ack_bytes_ + more};
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
    if constexpr (headers) space_.stamps.resize(space_.packets.size());
  }

  const Layout& layout_;
  Space& space_;
  Earliest& due_;
  std::uint32_t latest_ = 0;
  std::uint64_t passed_ = 0;  // steps that did not bring a packet home
  double rtt_;
  Told told_;
  bool returns_ = !headers;  // whether acknowledgements cross links
  double ack_size_ = 0;
  std::uint32_t packet_bytes_ = 0;
  std::uint64_t ack_bytes_ = 0;
  std::vector<Reader> readers_;        // per sender
  std::vector<Reflector> reflectors_;  // per sender's receiver
};

using PathSpace = BasicPathSpace<false>;
using Paths = BasicPaths<false>;
using StampedSpace = BasicPathSpace<true>;
using StampedPaths = BasicPaths<true>;

// One bottleneck as a layout: no link leads back, and its delay is that of the round trip, as in Port.
inline Network as_layout(const Network& network) {
  Network laid = network;
  auto layout = std::make_shared<Layout>();
  layout->links = {{network.link_rate, network.rtt, network.buffer}};
  layout->hops = {0};
  layout->routes.assign(static_cast<std::size_t>(network.senders), Route{0, 1, 1});
  layout->measured = layout->routes.size();
  laid.layout = layout;
  return laid;
}

}  // namespace remy_plus
