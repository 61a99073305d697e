// What the nodes of a part of a fabric share.
#pragma once

#include <span>

#include "remy_plus/fabric/events/losses.hpp"
#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/headers.hpp"
#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/settings.hpp"
#include "remy_plus/fabric/spraying/report.hpp"

namespace remy_plus::fabric {

struct Surroundings {
  const Settings& settings;
  Stacks& stacks;
  std::span<const Flow> flows;
  bool stamps;                 // packets carry stacks
  bool mixed;                  // some packets do, or some have a header, and some do not
  Headers* headers;            // packets carry these; null: none
  Reports* reports;            // of ACKs, Packet::number says which; null: ACKs have none
  Losses* losses;              // null: there is no PFC
  int hosts;                   // nodes before this one
  const std::uint32_t& share;  // the thread that has them now, whose stocks of numbers they use

  // Whether a packet with telemetry has this kind of it.
  bool stacked(const Packet& packet) const { return stamps && (!mixed || has(packet, Telemetry::stack)); }
  bool headed(const Packet& packet) const { return headers && (!mixed || has(packet, Telemetry::header)); }
  bool has(const Packet& packet, Telemetry what) const { return flows[packet.flow].telemetry == what; }

  // Of a packet that has come to a host.
  Stack& read_stack(const Packet& packet) const {
    const StackHeader header = stack_of(packet);
    Stack& stack = stacks[header.number];
    stack.count = header.count;
    stack.way = header.way;
    return stack;
  }

  // A packet does not arrive.
  void lose(const Packet& packet) const {
    if (losses) losses->add(packet.flow, packet.time);
    discard(packet);
  }

  // A packet is no more.
  void discard(const Packet& packet) const {
    if (reports && packet.kind == Kind::ack) [[unlikely]]
      reports->give_back(share, packet.number);
    if (packet.flags & bare) return;
    if (stacked(packet)) stacks.give_back(share, stack_of(packet).number);
    if (headed(packet)) [[unlikely]]
      headers->give_back(share, packet.extra);
  }
};

}  // namespace remy_plus::fabric
