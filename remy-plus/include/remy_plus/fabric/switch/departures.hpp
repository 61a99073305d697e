// What leaves a switch.
//
// Ports are brought up to date only when something comes to them: which packets have left a queue by some time follows
// from what had come and which classes were paused by then, whatever is heard later, with any number of classes. The
// account of the shared buffer is then behind, and never too low: arrivals count at once, and a departure that is not
// known yet can only free bytes, of its own class and of the whole. Only where that makes a difference are all ports
// brought up to date, in the order of their departures; and always while a peer is paused, since then a departure may
// end the pause. What arrives at the moment of a departure comes first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "remy_plus/fabric/surroundings.hpp"
#include "remy_plus/fabric/switch/buffer.hpp"
#include "remy_plus/fabric/switch/writing.hpp"

namespace remy_plus::fabric {

// With `headers`, packets carry headers of the catalogue; without, nothing is asked for them. With `several`, there are
// classes of traffic.
template <bool headers, bool several>
class alignas(64) Departures {
 public:
  static constexpr bool is_host = false;

  Departures(std::span<Port> ports, int first, int last, const Surroundings& around)
      : ports_(ports),
        first_(first),
        last_(last),
        around_(around),
        buffer_(around.settings, last - first),
        group_(std::bit_width(static_cast<unsigned>(last - first - 1) / 64)) {}

  // The link of a port has failed: what waits for it is lost, and neither end waits for the other. Returns how many
  // data packets are lost. All that was due before `now` has left.
  std::uint64_t fail(int number, Time now) {
    Port& from = port(number);
    std::uint64_t lost = 0;
    if constexpr (several) {
      for (Lane& lane : from.lanes) lost += fail(from, lane, now);
    } else {
      lost = fail(from, from, now);
    }
    while (!from.frames.empty()) from.frames.pop();
    from.fail(now);
    return lost;
  }

  // Bytes that wait at a port now.
  std::int64_t backlog(int out, Time now) {
    depart_until(port(out), now - 1);
    return port(out).queued;
  }

  // Lets all go that can begin before `end`; returns when the next one can, if it is known.
  Time finish(Time end) {
    if (pausing_ > 0) catch_up(end - 1);
    Time next = never;
    each_waiting([&](Port& each) {
      depart_until(each, end - 1);
      next = std::min(next, next_start(each));
    });
    return next;
  }

 protected:
  using Own = Lanes<several>;

  std::size_t index(const Port& port) const { return static_cast<std::size_t>(&port - ports_.data()); }
  Port& port(int number) { return ports_[static_cast<std::size_t>(number)]; }
  const Settings& settings() const { return around_.settings; }

  static Time next_start(Port& from) {
    Lane* unused;
    return Own::next_start(from, unused);
  }

  void depart_until(Port& from, Time now) {
    Lane* lane;
    for (Time start = Own::next_start(from, lane); start <= now; start = Own::next_start(from, lane)) {
      if (lane)
        depart(from, *lane, start);
      else
        send_frame(from, start);
    }
  }

  // All ports, in the order of their departures.
  void catch_up(Time now) {
    for (;;) {
      Port* earliest = nullptr;
      Time start = never;
      each_waiting([&](Port& each) {
        if (const Time own = next_start(each); own < start) {
          start = own;
          earliest = &each;
        }
      });
      if (start > now) return;
      depart_until(*earliest, start);
    }
  }

  void depart(Port& from, Lane& lane, Time start) {
    Packet packet = Own::pop(from, lane, start);
    send(packet, from, lane, start);
  }

  void send(Packet& packet, Port& from, Lane& lane, Time start) {
    release(packet, start);
    if (packet.kind == Kind::data) {
      if (settings().mark_at_dequeue) mark(packet, from, lane, start);
      if (from.stamps && around_.stacked(packet)) stamp(packet, around_.stacks, from, start, settings());
      ++from.counts.data_packets;
      from.counts.data_bytes += packet.bytes;
      from.counts.marked_packets += packet.marked;
    } else {
      ++from.counts.ack_packets;
    }
    if constexpr (headers) around_.headers->leave(packet, start, from, index(from));
    from.sent += packet.bytes;
    put_on_wire(packet, from, start);
  }

  std::uint64_t fail(Port& from, Lane& lane, Time now) {
    if (lane.pausing) --pausing_;
    lane.pausing = false;
    std::uint64_t lost = 0;
    while (!lane.queue.empty()) {
      const Packet packet = Own::pop(from, lane, now);
      release(packet, now);
      around_.lose(packet);
      lost += is_data(packet);
    }
    return lost;
  }

  void send_frame(Port& from, Time start) {
    Packet frame = from.frames.front();
    from.frames.pop();
    put_on_wire(frame, from, start);
  }

  void put_on_wire(Packet& packet, Port& from, Time start) {
    from.free_at = start + from.speed->of(packet.bytes);
    packet.time = from.free_at + from.delay;
    ++packet.hop;
    from.put_on_link(packet);
  }

  // Headers say what this port marks, whatever the ports before it did.
  void mark(Packet& packet, Port& at, const Lane& lane, Time now) const {
    if (!at.marks || (packet.marked && !headers && !sees_marked(at.marker))) return;
    const bool marked = marks(at, packet, lane.queued, now);
    if constexpr (headers) around_.headers->note_mark(packet, marked);
    packet.marked |= marked;
  }

  // --- what a departure frees

  void release(const Packet& packet, Time start) {
    if (!settings().lossless) return buffer_.give_back(packet.bytes);
    Port& from = port(first_ + packet.in_port);
    Lane& in = Own::of(from, packet.priority);
    buffer_.give_back(in, packet.bytes);
    if (in.pausing && buffer_.resumes(in, from.alpha)) tell(from, in, packet.priority, Kind::resume, start);
  }

  void tell(Port& from, Lane& in, std::uint8_t priority, Kind what, Time now) {
    in.pausing = what == Kind::pause;
    pausing_ += in.pausing ? 1 : -1;
    from.counts.pauses_sent += in.pausing;
    Packet frame;
    frame.time = now;
    frame.kind = what;
    frame.priority = priority;
    frame.bytes = static_cast<std::uint16_t>(settings().pfc_bytes);
    from.frames.push(frame);
    note_waiting(from);
  }

  // --- ports where something waits: they are few of a large switch's

  void note_waiting(const Port& at) {
    waiting_ |= std::uint64_t{1} << ((index(at) - static_cast<std::size_t>(first_)) >> group_);
  }

  // In their order.
  template <class Look>
  void each_waiting(const Look& look) {
    for (std::uint64_t bits = waiting_; bits != 0; bits &= bits - 1) {
      const int begin = first_ + (std::countr_zero(bits) << group_), end = std::min(begin + (1 << group_), last_);
      bool all_idle = true;
      for (int i = begin; i < end; ++i) {
        if (Own::idle(port(i))) continue;
        all_idle = false;
        look(port(i));
      }
      if (all_idle) waiting_ &= ~(bits & -bits);
    }
  }

  std::span<Port> ports_;
  int first_, last_;
  Surroundings around_;
  Buffer buffer_;
  int pausing_ = 0;            // classes of ingress ports whose peers are paused
  int group_;                  // the logarithm of how many ports have a bit together
  std::uint64_t waiting_ = 0;  // bits of the ports that may not be idle
};

}  // namespace remy_plus::fabric
