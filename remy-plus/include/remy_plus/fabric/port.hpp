// One end of a link: the queue towards it, the frames on it, and what came in by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "remy_plus/fabric/marker.hpp"
#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/queue_times.hpp"
#include "remy_plus/fabric/ring.hpp"
#include "remy_plus/fabric/units.hpp"
#include "remy_plus/headers/explicit_rate.hpp"

namespace remy_plus::fabric {

struct PortCounts {
  std::uint64_t data_packets = 0, data_bytes = 0, ack_packets = 0, marked_packets = 0, drops = 0;
  std::uint64_t most_queued = 0;  // bytes
  std::uint64_t pauses_sent = 0, pauses_received = 0;
  double queue_area = 0;  // bytes · ps
  QueueTimes queue_times;
  Time paused = 0;
};

struct Port {
  // Hot: every packet touches these.
  Ring<Packet> queue;   // waiting for the link
  Ring<Packet> wire;    // on the link: the peer takes them off
  Ring<Packet> frames;  // PFC's, before all others and never paused
  Time free_at = 0;     // when the link has sent the last bit
  Time delay = 0;
  const Speed* speed = nullptr;
  std::int64_t queued = 0;  // bytes
  Time changed = 0;         // when `queued` last changed
  bool paused = false;
  std::uint32_t peer = 0;  // node
  std::uint32_t peer_port = 0;

  // What came in by the port and has not left its switch.
  std::int64_t ingress = 0, headroom = 0;  // bytes; those in the headroom are not in `ingress`
  bool pausing = false;                    // the peer was told to pause
  double alpha = 0;
  std::int64_t most_headroom = 0;  // bytes

  AnyMarker marker;
  Draws draws;                          // the marker's
  std::uint64_t arrived = 0, sent = 0;  // bytes, as stamps count
  Time paused_since = 0;
  std::optional<FairRate> fair_rate;  // RCP's; in bytes and µs
  PortCounts counts;

  bool idle() const { return queue.empty() && frames.empty(); }

  // When the link can begin with the next frame; says whether that is one of PFC's.
  Time next_start(bool& is_frame) const {
    const Time data = queue.empty() || paused ? never : std::max(free_at, queue.front().time);
    const Time frame = frames.empty() ? never : std::max(free_at, frames.front().time);
    is_frame = frame <= data;
    return std::min(data, frame);
  }
  Time next_start() const {
    bool unused;
    return next_start(unused);
  }

  double queue_area_at(Time now) const {  // bytes · ps
    return counts.queue_area + static_cast<double>(queued) * static_cast<double>(now - changed);
  }
  Time paused_at(Time now) const { return counts.paused + (paused ? now - paused_since : 0); }

  // Counts the queue until now.
  void account(Time now) {
    counts.queue_area += static_cast<double>(queued) * static_cast<double>(now - changed);
    counts.queue_times.add(queued, now - changed);
    changed = now;
  }
  void queue_changes(Time now, int bytes) {
    account(now);
    queued += bytes;
    counts.most_queued = std::max(counts.most_queued, static_cast<std::uint64_t>(queued));
  }

  void pause(Time now) {
    ++counts.pauses_received;
    if (!paused) paused_since = now;
    paused = true;
  }
  void resume(Time now) {
    if (paused) counts.paused += now - paused_since;
    paused = false;
    free_at = std::max(free_at, now);
  }
};

}  // namespace remy_plus::fabric
