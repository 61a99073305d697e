// What the nodes of a fabric share.
#pragma once

#include <vector>

#include "remy_plus/fabric/headers.hpp"
#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/settings.hpp"
#include "remy_plus/fabric/spraying/report.hpp"

namespace remy_plus::fabric {

struct Surroundings {
  const Settings& settings;
  Stacks& stacks;
  bool stamps;              // packets carry stacks
  Headers* headers;         // packets carry these; null: none
  std::vector<Time>& next;  // (nodes,) when something comes to do
  Reports* reports;         // of ACKs, Packet::number says which; null: ACKs have none
  int hosts;                // nodes before this one

  // A packet is no more.
  void discard(const Packet& packet) const {
    if (reports && packet.kind == Kind::ack) [[unlikely]]
      reports->give_back(packet.number);
    if (packet.flags & bare) return;
    if (stamps) stacks.give_back(packet.extra);
    if (headers) [[unlikely]]
      headers->give_back(packet.extra);
  }
};

}  // namespace remy_plus::fabric
