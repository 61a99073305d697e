// Where switches send packets whose flows have no fixed way: one of the shortest ways over the links that carry, by a
// hash of the flow and of the packet's entropy. With entropy 0 it is the way that Routes has for the flow.
// Or by the entropy alone.
#pragma once

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

  // `numbered`: ways go by the entropy alone, whose digits in the number of equal ports they are.
  Forwarding(const Wiring& wiring, const Routes& routes, std::vector<Ends> flows, bool numbered);

  // Other ways from now on.
  void adopt(const Routes& routes);

  // The ports by which a packet may leave switch `node`; none: it has no way.
  std::span<const std::uint16_t> choices(const Packet& packet, int node) const {
    const Ends& ends = flows_[packet.flow];
    const std::size_t row = (static_cast<std::size_t>(node) - hosts_) * hosts_;
    const Choice& choice = table_[row + (goes_back(packet) ? ends.src : ends.dst)];
    return {ports_.data() + choice.first, choice.count};
  }

  // The one that its hash picks; below 0: none.
  int next(const Packet& packet, int node) const {
    const auto ports = choices(packet, node);
    if (ports.size() < 2) return ports.empty() ? -1 : ports[0];
    if (numbered_) return ports[digit(packet, ports.size())];
    const Ends& ends = flows_[packet.flow];
    const std::uint64_t key = goes_back(packet) ? ends.acks : ends.data;
    return ports[hash_at(key ^ std::uint64_t{packet.entropy} << 32, node) % ports.size()];
  }

 private:
  struct Choice {
    std::uint32_t first = 0, count = 0;  // in ports_
  };

  static std::size_t digit(const Packet& packet, std::size_t ports) {
    std::size_t rest = packet.entropy;
    for (int hop = 1; hop < packet.hop; ++hop) rest /= ports;
    return rest % ports;
  }

  const Wiring& wiring_;
  bool numbered_;
  std::size_t hosts_;
  std::vector<Ends> flows_;
  std::vector<Choice> table_;  // (switches, hosts)
  std::vector<std::uint16_t> ports_;
};

}  // namespace remy_plus::fabric
