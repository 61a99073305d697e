// A switch whose ports have queues of their own, as those that trim have: data wait in one with a limit, everything
// else goes before them. Above the limit a fair coin picks the packet that comes or the newest that waits, which is
// trimmed to its header and goes on before data, or is dropped (Handley et al., SIGCOMM 2017, section 3.1). With
// several classes the limit is of all together, and what waits in a lower class goes for a packet of a higher one. No
// PFC.
//
// A packet counts for the limit until its last bit has left, and is on the wire only then; so ports are brought up to
// date in every window while they send. At that moment, unlike in departures.hpp, it leaves first, and the next one
// begins: what arrives then finds its place free, and waits for the one that has begun.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "remy_plus/fabric/counters/flow_counter.hpp"
#include "remy_plus/fabric/surroundings.hpp"
#include "remy_plus/fabric/switch/writing.hpp"

namespace remy_plus::fabric {

// With `headers`, packets carry headers of the catalogue; without, nothing is asked for them. With `several`, there are
// classes of traffic.
template <bool headers, bool several>
class Composite {
 public:
  static constexpr bool is_host = false;

  Composite(std::span<Port> ports, int first, int last, const Surroundings& around)
      : ports_(ports), first_(first), around_(around), lines_(static_cast<std::size_t>(last - first)) {}

  // A packet has arrived by `in` and goes on by `out`.
  void receive(Packet packet, int in, int out) {
    const Time now = packet.time;
    Port& to = port(out);
    Line& line = lines_[static_cast<std::size_t>(out - first_)];
    advance(to, line, now);
    if (counter_ && packet.hop == 1 && packet.kind == Kind::data) [[unlikely]]
      std::visit([&](auto& each) { each.insert(packet.flow, packet.bytes); }, *counter_);
    packet.in_port = static_cast<std::uint16_t>(in - first_);
    if constexpr (headers) packet.bytes = around_.headers->grown(packet, to);
    if (packet.kind == Kind::data)
      take_data(packet, to, line);
    else
      take_control(packet, to, line);
    if (!line.sends) begin(to, line, now);
  }

  void hear(const Packet&, int) {}  // PFC's frames: nobody sends them

  // The link of a port has failed: what waits for it is lost. Returns how many data packets are.
  std::uint64_t fail(int number, Time now) {
    Port& from = port(number);
    Line& line = lines_[static_cast<std::size_t>(number - first_)];
    std::uint64_t lost = 0;
    const auto lose = [&](const Packet& packet) {
      around_.lose(packet);
      lost += is_data(packet);
    };
    if (line.sends) lose(line.packet);
    for (; !from.frames.empty(); from.frames.pop()) lose(from.frames.front());
    while (Lane* lane = first_lane(from)) lose(Own::pop(from, *lane, now));
    line = Line{};
    from.fail(now);
    return lost;
  }

  // Counts what hosts send into it, from now on.
  void count_into(FlowCounter& counter) { counter_ = &counter; }

  // Bytes of data that a packet would find at a port now.
  std::int64_t backlog(int out, Time now) {
    Line& line = lines_[static_cast<std::size_t>(out - first_)];
    advance(port(out), line, now);
    return port(out).queued + (line.sends ? line.packet.bytes : 0);
  }

  // Lets all end that do before `end`, where looks come first; returns when the next one does.
  Time finish(Time end) {
    Time next = never;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Line& line = lines_[i];
      if (!line.sends) continue;
      Port& from = port(first_ + static_cast<int>(i));
      advance(from, line, end - 1);
      if (line.sends) next = std::min(next, from.free_at);
    }
    return next;
  }

 private:
  using Own = Lanes<several>;

  // What a port is sending, until Port::free_at.
  struct Line {
    Packet packet;
    bool sends = false;
    std::int64_t control = 0;  // bytes that wait or are being sent
  };

  Port& port(int number) { return ports_[static_cast<std::size_t>(number)]; }
  const Settings& settings() const { return around_.settings; }

  void take_data(Packet& packet, Port& to, Line& line) {
    const std::int64_t sending = line.sends && line.packet.kind == Kind::data ? line.packet.bytes : 0;
    if (to.queued + sending + packet.bytes > to.most_queued) {
      Lane* lane = victims(packet, to);
      if (!lane) return shorten(packet, to, line);
      Packet newest = Own::pop_newest(to, *lane, packet.time);
      newest.time = packet.time;
      shorten(newest, to, line);
    }
    Lane& lane = Own::of(to, packet.priority);
    to.arrived += packet.bytes;
    if (to.fair_rate) offer(*to.fair_rate, packet, to);
    if (!settings().mark_at_dequeue) mark(packet, to, packet.time);
    if constexpr (headers) around_.headers->join(packet, to, index(to));
    Own::push(to, lane, packet);
  }

  // Whose newest packet goes for one that comes; null: that one itself.
  static Lane* victims(const Packet& packet, Port& to) {
    Lane* lane = last_lane(to);
    if (!lane || lane < &Own::of(to, packet.priority)) return nullptr;
    return lane > &Own::of(to, packet.priority) || to.coin.next() > 0.5 ? lane : nullptr;
  }

  // Of the classes with packets; null: there are none.
  static Lane* first_lane(Port& from) {
    if constexpr (several) {
      for (Lane& lane : from.lanes)
        if (!lane.queue.empty()) return &lane;
      return nullptr;
    } else {
      return from.queue.empty() ? nullptr : &from;
    }
  }
  static Lane* last_lane(Port& from) {
    if constexpr (several) {
      for (std::size_t i = from.lanes.size(); i-- > 0;)
        if (!from.lanes[i].queue.empty()) return &from.lanes[i];
      return nullptr;
    } else {
      return first_lane(from);
    }
  }

  void shorten(Packet packet, Port& to, Line& line) {
    if (settings().trim_bytes == 0) return drop(packet, to);
    around_.discard(packet);
    packet.kind = Kind::trimmed;
    packet.bytes = static_cast<std::uint16_t>(std::min<int>(packet.bytes, settings().trim_bytes));
    packet.flags |= bare;
    if (static_cast<int>(to.peer) < around_.hosts) packet.flags |= at_last_hop;
    ++to.counts.trims;
    take_control(packet, to, line);
  }

  void take_control(const Packet& packet, Port& to, Line& line) {
    if (line.control + packet.bytes > 2 * to.most_queued) return drop(packet, to);
    line.control += packet.bytes;
    if constexpr (headers) around_.headers->join(packet, to, index(to));
    to.frames.push(packet);
  }

  void drop(const Packet& packet, Port& at) {
    ++at.counts.drops;
    around_.lose(packet);
  }

  // What waits when a packet has left came before: the next one follows at once.
  void advance(Port& from, Line& line, Time now) {
    while (line.sends && from.free_at <= now) {
      end(from, line);
      begin(from, line, from.free_at);
    }
  }

  void begin(Port& from, Line& line, Time now) {
    if (!from.frames.empty()) {
      line.packet = from.frames.front();
      from.frames.pop();
    } else if (Lane* lane = first_lane(from)) {
      line.packet = Own::pop(from, *lane, now);
    } else {
      return;
    }
    line.sends = true;
    from.free_at = now + from.speed->of(line.packet.bytes);
    if (!settings().mark_when_sent) write(line.packet, from, now);
  }

  void end(Port& from, Line& line) {
    Packet& packet = line.packet;
    line.sends = false;
    const bool data = packet.kind == Kind::data;
    if (settings().mark_when_sent) write(packet, from, from.free_at);
    if (data) {
      ++from.counts.data_packets;
      from.counts.data_bytes += packet.bytes;
      from.counts.marked_packets += packet.marked != 0;
    } else {
      ++from.counts.ack_packets;
      line.control -= packet.bytes;
    }
    from.sent += packet.bytes;
    packet.time = from.free_at + from.delay;
    ++packet.hop;
    from.put_on_link(packet);
  }

  // Marks, stamps and headers say what waits behind the packet.
  void write(Packet& packet, Port& from, Time now) {
    if (packet.kind == Kind::data) {
      if (settings().mark_at_dequeue) mark(packet, from, now);
      if (from.stamps && around_.stacked(packet)) stamp(packet, around_.stacks, from, now, settings());
    }
    if constexpr (headers) around_.headers->leave(packet, now, from, index(from));
  }

  std::size_t index(const Port& port) const { return static_cast<std::size_t>(&port - ports_.data()); }

  void mark(Packet& packet, Port& at, Time now) const {
    if (!at.marks || (packet.marked && !headers && !sees_marked(at.marker))) return;
    const bool marked = marks(at, packet, Own::of(at, packet.priority).queued, now);
    if constexpr (headers) around_.headers->note_mark(packet, marked);
    packet.marked |= marked;
  }

  std::span<Port> ports_;
  int first_;
  Surroundings around_;
  std::vector<Line> lines_;
  FlowCounter* counter_ = nullptr;
};

}  // namespace remy_plus::fabric
