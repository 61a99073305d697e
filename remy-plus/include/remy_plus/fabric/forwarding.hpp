// Where switches send packets whose flows have no fixed way: one of the shortest ways over the links that carry, by a
// hash of the flow and of the packet's entropy, or by the entropy alone. With entropy 0 the hash has the way that
// Routes has for the flow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "remy_plus/fabric/keys.hpp"
#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/wiring.hpp"

namespace remy_plus::fabric {

class Forwarding {
 public:
  struct Ends {
    std::uint32_t src, dst;    // hosts
    std::uint64_t data, acks;  // keys of its ways
  };

  // `numbered`: ways go by the entropy alone, whose digits in the numbers of equal ports, from the leaves on, they are;
  // where such a port does not carry later, another one takes its packets.
  Forwarding(const Wiring& wiring, const Routes& routes, std::vector<Ends> flows, bool numbered);

  // Other ways from now on.
  void adopt(const Routes& routes);

  // The ports by which a packet may leave switch `node`; none: it has no way.
  std::span<const std::uint16_t> choices(const Packet& packet, int node) const {
    const Choice& choice = table_[row(packet, node)];
    return {ports_.data() + choice.first, choice.count};
  }

  // The one that its hash picks; below 0: none.
  int next(const Packet& packet, int node) const {
    const auto ports = choices(packet, node);
    if (ports.size() < 2) return ports.empty() ? -1 : ports[0];
    if (!built_.empty()) return numbered(packet, node, ports);
    const Ends& ends = flows_[packet.flow];
    const std::uint64_t key = goes_back(packet) ? ends.acks : ends.data;
    return ports[hash_at(key ^ std::uint64_t{packet.entropy} << 32, node) % ports.size()];
  }

 private:
  struct Choice {
    std::uint32_t first = 0, count = 0;  // in ports_
  };

  // The row of a packet's destination at a switch.
  std::size_t row(const Packet& packet, int node) const {
    const Ends& ends = flows_[packet.flow];
    return (static_cast<std::size_t>(node) - hosts_) * hosts_ + (goes_back(packet) ? ends.src : ends.dst);
  }
  int numbered(const Packet& packet, int node, std::span<const std::uint16_t> carrying) const {
    const Choice& choice = built_[row(packet, node)];
    const std::size_t digit = packet.entropy / below_[static_cast<std::size_t>(node) - hosts_] % choice.count;
    if (carrying.size() == choice.count) return carrying[digit];
    const std::uint16_t port = built_ports_[choice.first + digit];
    return std::ranges::find(carrying, port) != carrying.end() ? port : carrying[digit % carrying.size()];
  }
  void number();

  const Wiring& wiring_;
  std::size_t hosts_;
  std::vector<Ends> flows_;
  std::vector<Choice> table_;  // (switches, hosts)
  std::vector<std::uint16_t> ports_;
  std::vector<Choice> built_;  // the same with all links; empty: ways have no numbers
  std::vector<std::uint16_t> built_ports_;
  std::vector<std::size_t> below_;  // (switches,) ways by which a packet may have come up to one
};

}  // namespace remy_plus::fabric
