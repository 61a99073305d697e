// What a port of a switch writes into packets: marks, stamps, fair rates.
#pragma once

#include <algorithm>
#include <bit>
#include <variant>

#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/port.hpp"
#include "remy_plus/fabric/settings.hpp"

namespace remy_plus::fabric {

// `queued`: bytes of the packet's class. The common markers are asked without a jump that depends on the kind.
inline bool marks(Port& at, const Packet& packet, std::int64_t queued, Time now) {
  const Sight sight{now, now - packet.time, queued, packet.bytes, packet.flow, at.speed->gbps()};
  if (const Red* red = std::get_if<Red>(&at.marker)) [[likely]]
    return red->marks(sight, at.draws);
  if (const Step* step = std::get_if<Step>(&at.marker)) [[likely]]
    return step->marks(sight, at.draws);
  return std::visit([&](auto& marker) { return marker.marks(sight, at.draws); }, at.marker);
}

// What waits at the port, of all classes, and what it has sent.
inline void stamp(Packet& packet, Stacks& stacks, const Port& from, Time start, const Settings& settings) {
  StackHeader header = stack_of(packet);
  if (header.count >= most_stamps) return;
  const auto counted = static_cast<double>(settings.arrival_bytes ? from.arrived : from.sent);
  stacks[header.number].stamps[header.count] = {
      static_cast<std::uint32_t>(start / nanosecond),
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(counted / settings.bytes_quantum)),
      static_cast<std::uint32_t>(static_cast<double>(from.queued) / settings.queue_quantum),
      static_cast<float>(from.speed->gbps())};
  header.way = 31u * header.way + from.peer_port;
  ++header.count;
  packet.extra = std::bit_cast<std::uint64_t>(header);
}

// Data packets go on with the least rate of the ports on their way.
inline void offer(FairRate& fair, Packet& packet, const Port& to) {
  const double now = static_cast<double>(packet.time) / microsecond, queued = static_cast<double>(to.queued);
  if (packet.kind != Kind::data) return fair.arrive(now, packet.bytes, queued, nullptr);
  auto header = std::bit_cast<FairHeader>(packet.extra);
  const Told told{0, header.rtt_us, 0};
  fair.arrive(now, packet.bytes, queued, &told);
  header.gbps = std::min(header.gbps, static_cast<float>(fair.read(now) * 8e-3));
  packet.extra = std::bit_cast<std::uint64_t>(header);
}

}  // namespace remy_plus::fabric
