// One end of a link: the queues towards it, the frames on it, and what came in by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "remy_plus/fabric/counters/queue_times.hpp"
#include "remy_plus/fabric/marker.hpp"
#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/parts/wire.hpp"
#include "remy_plus/fabric/ring.hpp"
#include "remy_plus/fabric/units.hpp"
#include "remy_plus/headers/explicit_rate.hpp"

namespace remy_plus::fabric {

struct PortCounts {
  std::uint64_t data_packets = 0, data_bytes = 0, ack_packets = 0, marked_packets = 0, drops = 0, trims = 0;
  std::uint64_t lost = 0;         // data packets, by failures of links
  std::uint64_t most_queued = 0;  // bytes
  std::uint64_t pauses_sent = 0, pauses_received = 0;
  double queue_area = 0;  // bytes · ps
  QueueTimes queue_times;
  Time paused = 0;  // of all classes together
};

// One class of traffic at a port.
struct Lane {
  Ring<Packet> queue;       // waiting for the link
  std::int64_t queued = 0;  // bytes
  bool paused = false;

  // What came in by the port and has not left its switch.
  bool pausing = false;                    // the peer was told to pause
  std::int64_t ingress = 0, headroom = 0;  // bytes; those in the headroom are not in `ingress`

  Time paused_since = 0;

  Time paused_for(Time now) const { return paused ? now - paused_since : 0; }
};

// With one class of traffic it is that of the port itself; with several there is a lane for each, 0 first, and the
// port's own queue stays empty.
struct alignas(64) Port : Lane {
  Wire* onto = nullptr;  // the link: the peer takes packets off; or, where another thread has it, an outbox
  Ring<Packet> frames;   // PFC's, before all others and never paused
  Time free_at = 0;      // when the link has sent the last bit; never: it is down
  Time delay = 0;
  const Speed* speed = nullptr;
  const Speed* rated = nullptr;  // the speed of the link as it was built
  Time changed = 0;              // when `queued`, which is of all classes, last changed
  std::int64_t level = std::numeric_limits<std::int64_t>::max();  // bytes
  Time crossed = never;                                           // when more than that was queued for the first time
  std::uint32_t peer = 0;                                         // node
  std::uint16_t peer_port = 0;
  double alpha = 0;
  std::int64_t most_headroom = 0;  // bytes, of a class

  std::int64_t most_queued = 0;  // bytes of data, of a queue of its own
  Draws coin;                    // of who is trimmed

  AnyMarker marker;
  bool marks = true;
  bool stamps = true;                   // writes stamps, headers and rates into packets
  Draws draws;                          // the marker's
  std::uint64_t arrived = 0, sent = 0;  // bytes, as stamps count
  std::optional<FairRate> fair_rate;    // RCP's; in bytes and µs
  PortCounts counts;
  std::vector<Lane> lanes;   // with several classes
  std::size_t in_lanes = 0;  // packets that wait in them

  std::size_t waiting() const { return queue.size() + in_lanes; }

  void put_on_link(Packet& packet) {
    packet.in_port = peer_port;
    onto->put(packet);
  }

  double queue_area_at(Time now) const {  // bytes · ps
    return counts.queue_area + static_cast<double>(queued) * static_cast<double>(now - changed);
  }
  Time paused_at(Time now) const {  // of all classes together
    Time found = counts.paused + paused_for(now);
    for (const Lane& lane : lanes) found += lane.paused_for(now);
    return found;
  }

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
    if (queued > level && crossed == never) crossed = now;
  }

  void pause(Lane& lane, Time now) {
    ++counts.pauses_received;
    if (!lane.paused) lane.paused_since = now;
    lane.paused = true;
  }
  void resume(Lane& lane, Time now) {
    counts.paused += lane.paused_for(now);
    lane.paused = false;
    free_at = std::max(free_at, now);
  }

  // The link is down: pauses by the peer are over.
  void fail(Time now) {
    if (paused) resume(*this, now);
    for (Lane& lane : lanes)
      if (lane.paused) resume(lane, now);
    free_at = never;
  }
};

// The classes of a port, known as the code is compiled to be one or several.
template <bool several>
struct Lanes {
  static Lane& of(Port& port, int priority) {
    if constexpr (several)
      return port.lanes[static_cast<std::size_t>(priority)];
    else
      return port;
  }

  static bool idle(const Port& port) {
    return (several ? port.in_lanes == 0 : port.queue.empty()) && port.frames.empty();
  }

  // When the link can begin with the next packet, and of which class; null: a frame of PFC's.
  static Time next_start(Port& port, Lane*& from) {
    Time data = never;
    if constexpr (several) {
      for (Lane& lane : port.lanes)
        if (const Time start = next_start(port, lane); start < data) {
          data = start;
          from = &lane;
        }
    } else {
      data = next_start(port, port);
      from = &port;
    }
    const Time frame = port.frames.empty() ? never : std::max(port.free_at, port.frames.front().time);
    if (frame <= data) from = nullptr;
    return std::min(data, frame);
  }

  static void push(Port& port, Lane& lane, const Packet& packet) {
    port.queue_changes(packet.time, packet.bytes);
    lane.queue.push(packet);
    count(port, lane, packet.bytes, 1);
  }

  static Packet pop(Port& port, Lane& lane, Time now) {
    const Packet packet = lane.queue.front();
    lane.queue.pop();
    taken(port, lane, packet, now);
    return packet;
  }
  static Packet pop_newest(Port& port, Lane& lane, Time now) {
    const Packet packet = lane.queue.take_back();
    taken(port, lane, packet, now);
    return packet;
  }

 private:
  static void taken(Port& port, Lane& lane, const Packet& packet, Time now) {
    port.queue_changes(now, -packet.bytes);
    count(port, lane, -packet.bytes, -1);
  }

  static Time next_start(const Port& port, const Lane& lane) {
    return lane.queue.empty() || lane.paused ? never : std::max(port.free_at, lane.queue.front().time);
  }

  static void count(Port& port, Lane& lane, int bytes, int packets) {
    if constexpr (several) {
      lane.queued += bytes;
      port.in_lanes += static_cast<std::size_t>(packets);
    }
  }
};

}  // namespace remy_plus::fabric
