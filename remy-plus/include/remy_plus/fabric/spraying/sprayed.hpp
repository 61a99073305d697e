// What the ends of a flow know where its packets take ways of their own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/spraying/arrivals.hpp"
#include "remy_plus/fabric/spraying/balancer.hpp"
#include "remy_plus/fabric/spraying/credit.hpp"
#include "remy_plus/fabric/spraying/under_way.hpp"

namespace remy_plus::fabric {

inline constexpr std::uint32_t no_message = 0xffffffff;

struct Sprayed {
  // The sender; bytes are those on the wire, headers apart.
  UnderWay under_way;
  Balancer balancer;
  std::uint32_t chooser = 0;          // flow whose balancer chooses its ways
  std::uint32_t latest = no_message;  // of this queue pair, that began last
  Credit credit;
  std::int64_t unsent = 0;  // bytes that were never sent
  std::int64_t lost = 0;    // and that are to be sent again
  std::int64_t bytes_under_way = 0;
  std::int64_t bytes_acked = 0;
  Time timeout = 0;         // since a packet was sent; 0: none
  std::int64_t wanted = 0;  // quanta of credit in all, as the last data packet had it
  Time requested = -never / 2, probed = 0;
  std::uint32_t requests = 0, probes = 0;  // so far; the last ones were sent then
  Time probe_at = never;
  std::uint32_t recovers_until = 0;  // packet
  std::uint32_t recovered = 0;       // packets before it are not taken for lost by others out of order
  bool recovers = false;

  // The receiver.
  Arrivals arrivals;
  Granting granting;
  std::int64_t bytes_arrived = 0;
  std::int64_t bytes_since_ack = 0;
  bool wants_ack = false;  // asked for while packets were missing

  void lose(std::uint32_t packet) {
    lost += under_way[packet].bytes;
    under_way.lose(packet);
  }

  // Whether it was not known before.
  bool arrive(std::uint32_t packet) {
    if (!under_way.knows(packet)) return false;
    Sent& sent = under_way[packet];
    const bool fresh = !sent.arrived;
    if (sent.is_lost()) find(sent);
    sent.arrived = true;
    sent.under_way = false;
    return fresh;
  }

  // What was taken for lost arrives before it is sent again: it counts as acknowledged once.
  void find(const Sent& sent) {
    lost -= sent.bytes;
    bytes_under_way += sent.bytes;
  }

  // Payload that has arrived, whatever is missing between.
  std::uint64_t payload_acked(const Flow& flow, int overhead) const {
    if (flow.acked == flow.packets) return flow.size;
    const std::int64_t full = flow.payload + overhead;
    return std::max(flow.bytes_before(flow.acked),
                    std::min(flow.size, static_cast<std::uint64_t>(bytes_acked / full * flow.payload)));
  }

  void release() { under_way.release(); }
};

}  // namespace remy_plus::fabric
