// A switch: a shared buffer with dynamic thresholds, PFC or drops, ECN and stamps at the ports.
//
// Ports are brought up to date only when something comes to them: with one class of traffic a queue's departures follow
// from its arrivals. The shared buffer's account is then behind, and never too low: only where that makes a difference
// are all ports brought up to date, in the order of their departures; and always while a peer is paused, since then a
// departure may end the pause. What arrives at the moment of a departure comes first.
#pragma once

#include <bit>
#include <cmath>

#include "remy_plus/fabric/elastic_sketch.hpp"
#include "remy_plus/fabric/headers.hpp"
#include "remy_plus/fabric/port.hpp"
#include "remy_plus/fabric/settings.hpp"

namespace remy_plus::fabric {

// What a switch shares with the fabric that it is in.
struct Surroundings {
  const Settings& settings;
  Stacks& stacks;
  bool stamps;              // packets carry stacks
  Headers* headers;         // packets carry these; null: none
  std::vector<Time>& next;  // (nodes,) when something comes to do

  // A packet is no more.
  void discard(const Packet& packet) const {
    if (stamps) stacks.give_back(packet.extra);
    if (headers) [[unlikely]]
      headers->give_back(packet.extra);
  }
};

// With `headers`, packets carry headers of the catalogue; without, nothing is asked for them.
template <bool headers>
class BasicSwitch {
 public:
  BasicSwitch(std::vector<Port>& ports, int first, int last, const Surroundings& around)
      : ports_(ports), first_(first), last_(last), around_(around), free_(around.settings.buffer) {}

  // A packet has arrived by `in` and goes on by `out`.
  void receive(Packet packet, int in, int out) {
    const Time now = packet.time;
    if (pausing_ > 0) catch_up(now - 1);
    Port& to = port(out);
    if (!to.idle()) depart_until(to, now - 1);
    packet.in_port = static_cast<std::uint16_t>(in - first_);
    if (sketch_ && packet.hop == 1 && packet.kind == Kind::data) [[unlikely]]
      sketch_->insert(packet.flow, packet.bytes);
    if constexpr (headers) packet.bytes = around_.headers->grown(packet);
    if (!admitted(packet, to, now)) return;
    enqueue(packet, to);
  }

  // Counts what hosts send into it, from now on.
  void count_into(ElasticSketch& sketch) { sketch_ = &sketch; }

  // PFC's frame from the peer of a port.
  void hear(const Packet& frame, int in) {
    Port& to = port(in);
    if (pausing_ > 0) catch_up(frame.time - 1);
    depart_until(to, frame.time - 1);
    if (frame.kind == Kind::pause)
      to.pause(frame.time);
    else
      to.resume(frame.time);
  }

  // Lets all go that can begin before `end`; returns when the next one can, if it is known.
  Time finish(Time end) {
    if (pausing_ > 0) catch_up(end - 1);
    Time next = never;
    for (int i = first_; i < last_; ++i) {
      Port& each = port(i);
      if (each.idle()) continue;
      depart_until(each, end - 1);
      next = std::min(next, each.next_start());
    }
    return next;
  }

 private:
  std::size_t index(const Port& port) const { return static_cast<std::size_t>(&port - ports_.data()); }
  Port& port(int number) { return ports_[static_cast<std::size_t>(number)]; }
  const Settings& settings() const { return around_.settings; }

  // --- departures

  void depart_until(Port& from, Time now) {
    bool is_frame;
    for (Time start = from.next_start(is_frame); start <= now; start = from.next_start(is_frame)) {
      if (is_frame)
        send_frame(from, start);
      else
        depart(from, start);
    }
  }

  // All ports, in the order of their departures.
  void catch_up(Time now) {
    for (;;) {
      Port* earliest = nullptr;
      Time start = never;
      for (int i = first_; i < last_; ++i)
        if (const Time each = port(i).next_start(); each < start) {
          start = each;
          earliest = &port(i);
        }
      if (start > now) return;
      depart_until(*earliest, start);
    }
  }

  void depart(Port& from, Time start) {
    Packet packet = from.queue.front();
    from.queue.pop();
    from.queue_changes(start, -packet.bytes);
    send(packet, from, start);
  }

  void send(Packet& packet, Port& from, Time start) {
    release(packet, start);
    if (packet.kind == Kind::data) {
      if (settings().mark_at_dequeue) mark(packet, from, start);
      if (around_.stamps) stamp(packet, from, start);
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

  void send_frame(Port& from, Time start) {
    Packet frame = from.frames.front();
    from.frames.pop();
    put_on_wire(frame, from, start);
  }

  void put_on_wire(Packet& packet, Port& from, Time start) {
    from.free_at = start + from.speed->of(packet.bytes);
    packet.time = from.free_at + from.delay;
    ++packet.hop;
    from.wire.push(packet);
    Time& next = around_.next[from.peer];
    next = std::min(next, packet.time);
  }

  void stamp(const Packet& packet, const Port& from, Time start) {
    Stack& stack = around_.stacks[packet.extra];
    if (stack.count >= most_stamps) return;
    const auto counted = static_cast<double>(settings().arrival_bytes ? from.arrived : from.sent);
    stack.stamps[stack.count++] = {
        static_cast<std::uint32_t>(start / nanosecond),
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(counted / settings().bytes_quantum)),
        static_cast<std::uint32_t>(static_cast<double>(from.queued) / settings().queue_quantum),
        static_cast<float>(from.speed->gbps())};
  }

  // Headers say what this port marks, whatever the ports before it did.
  void mark(Packet& packet, Port& at, Time now) const {
    if (packet.marked && !headers && !sees_marked(at.marker)) return;
    const bool marked = marks(at, packet, now);
    if constexpr (headers) around_.headers->note_mark(packet, marked);
    packet.marked |= marked;
  }

  static bool marks(Port& at, const Packet& packet, Time now) {
    const Sight sight{now, now - packet.time, at.queued, packet.bytes, packet.flow, at.speed->gbps()};
    return std::visit([&](auto& marker) { return marker.marks(sight, at.draws); }, at.marker);
  }

  // --- arrivals

  void enqueue(Packet& packet, Port& to) {
    to.arrived += packet.bytes;
    if (to.fair_rate) offer(*to.fair_rate, packet, to);
    if (!settings().mark_at_dequeue && packet.kind == Kind::data) mark(packet, to, packet.time);
    if constexpr (headers) around_.headers->join(packet, to, index(to));
    if (to.idle() && to.free_at <= packet.time && !to.paused) {
      send(packet, to, packet.time);
      return;
    }
    to.queue_changes(packet.time, packet.bytes);
    to.queue.push(packet);
  }

  // Data packets go on with the least rate of the ports on their way.
  static void offer(FairRate& fair, Packet& packet, const Port& to) {
    const double now = static_cast<double>(packet.time) / microsecond, queued = static_cast<double>(to.queued);
    if (packet.kind != Kind::data) return fair.arrive(now, packet.bytes, queued, nullptr);
    auto header = std::bit_cast<FairHeader>(packet.extra);
    const Told told{0, header.rtt_us};
    fair.arrive(now, packet.bytes, queued, &told);
    header.gbps = std::min(header.gbps, static_cast<float>(fair.read(now) * 8e-3));
    packet.extra = std::bit_cast<std::uint64_t>(header);
  }

  // --- the shared buffer

  bool admitted(const Packet& packet, Port& to, Time now) {
    if (settings().lossless) return admitted_lossless(packet, now);
    if (fits(packet, to)) {
      free_ -= packet.bytes;
      return true;
    }
    catch_up(now - 1);
    if (fits(packet, to)) {
      free_ -= packet.bytes;
      return true;
    }
    drop(packet, to);
    return false;
  }

  bool fits(const Packet& packet, const Port& to) const {
    return free_ >= packet.bytes && static_cast<double>(to.queued + packet.bytes) <= to.alpha * free_;
  }

  bool admitted_lossless(const Packet& packet, Time now) {
    Port& in = port(first_ + packet.in_port);
    if (over(in, packet)) catch_up(now - 1);
    if (!over(in, packet)) {
      in.ingress += packet.bytes;
      free_ -= packet.bytes;
      return true;
    }
    if (in.headroom + packet.bytes > in.most_headroom) {
      drop(packet, in);
      return false;
    }
    in.headroom += packet.bytes;
    if (!in.pausing) tell(in, Kind::pause, now);
    return true;
  }

  bool over(const Port& in, const Packet& packet) const {
    return in.headroom > 0 || static_cast<double>(in.ingress + packet.bytes) > in.alpha * free_;
  }

  void drop(const Packet& packet, Port& at) {
    ++at.counts.drops;
    around_.discard(packet);
  }

  void release(const Packet& packet, Time start) {
    Port& in = port(first_ + packet.in_port);
    if (!settings().lossless) {
      free_ += packet.bytes;
      return;
    }
    const std::int64_t spare = std::min<std::int64_t>(in.headroom, packet.bytes);
    in.headroom -= spare;
    in.ingress -= packet.bytes - spare;
    free_ += static_cast<double>(packet.bytes - spare);
    if (in.pausing && resumes(in)) tell(in, Kind::resume, start);
  }

  bool resumes(const Port& in) const {
    const auto held = static_cast<double>(in.ingress);
    return in.headroom == 0 && (held < settings().resume_below || held + settings().resume_offset <= in.alpha * free_);
  }

  void tell(Port& in, Kind what, Time now) {
    in.pausing = what == Kind::pause;
    pausing_ += in.pausing ? 1 : -1;
    in.counts.pauses_sent += in.pausing;
    Packet frame;
    frame.time = now;
    frame.kind = what;
    frame.bytes = static_cast<std::uint16_t>(settings().pfc_bytes);
    in.frames.push(frame);
  }

  std::vector<Port>& ports_;
  int first_, last_;
  Surroundings around_;
  ElasticSketch* sketch_ = nullptr;
  double free_;      // bytes of the shared buffer
  int pausing_ = 0;  // ingress ports whose peers are paused
};

using Switch = BasicSwitch<false>;
using StampingSwitch = BasicSwitch<true>;

}  // namespace remy_plus::fabric
