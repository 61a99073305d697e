// A switch: a shared buffer with dynamic thresholds, PFC or drops, ECN and stamps at the ports, strict priority among
// classes of traffic. Here is what comes; departures.hpp has what leaves, and when.
#pragma once

#include "remy_plus/fabric/counters/flow_counter.hpp"
#include "remy_plus/fabric/switch/departures.hpp"

namespace remy_plus::fabric {

template <bool headers, bool several>
class Switch : public Departures<headers, several> {
 public:
  using Departures<headers, several>::Departures;

  // A packet has arrived by `in` and goes on by `out`.
  void receive(Packet packet, int in, int out) {
    const Time now = packet.time;
    if (pausing_ > 0) catch_up(now - 1);
    Port& to = port(out);
    if (!Own::idle(to)) depart_until(to, now - 1);
    packet.in_port = static_cast<std::uint16_t>(in - first_);
    if (counter_ && packet.hop == 1 && packet.kind == Kind::data) [[unlikely]]
      std::visit([&](auto& each) { each.insert(packet.flow, packet.bytes); }, *counter_);
    if constexpr (headers) packet.bytes = around_.headers->grown(packet, to);
    if (!admitted(packet, to, now)) return;
    enqueue(packet, to);
  }

  // Counts what hosts send into it, from now on.
  void count_into(FlowCounter& counter) { counter_ = &counter; }

  // PFC's frame from the peer of a port.
  void hear(const Packet& frame, int in) {
    Port& to = port(in);
    if (pausing_ > 0) catch_up(frame.time - 1);
    depart_until(to, frame.time - 1);
    if (frame.kind == Kind::pause)
      to.pause(Own::of(to, frame.priority), frame.time);
    else
      to.resume(Own::of(to, frame.priority), frame.time);
  }

 private:
  using Base = Departures<headers, several>;
  using Own = Lanes<several>;
  using Base::around_, Base::buffer_, Base::first_, Base::pausing_;
  using Base::catch_up, Base::depart_until, Base::index, Base::mark, Base::note_waiting, Base::port, Base::send,
      Base::settings, Base::tell;

  // --- arrivals

  void enqueue(Packet& packet, Port& to) {
    Lane& lane = Own::of(to, packet.priority);
    to.arrived += packet.bytes;
    if (to.fair_rate) offer(*to.fair_rate, packet, to);
    if (!settings().mark_at_dequeue && packet.kind == Kind::data) mark(packet, to, lane, packet.time);
    if constexpr (headers) around_.headers->join(packet, to, index(to));
    if (goes_at_once(to, packet.time) && !lane.paused) return send(packet, to, lane, packet.time);
    Own::push(to, lane, packet);
    note_waiting(to);
  }

  // A link that was free a moment before stands still, but for classes that are paused.
  static bool goes_at_once(const Port& to, Time now) {
    if constexpr (several)
      if (to.free_at < now) return to.frames.empty();
    return Own::idle(to) && to.free_at <= now;
  }

  // --- the shared buffer

  bool admitted(const Packet& packet, Port& to, Time now) {
    if (settings().lossless) return admitted_lossless(packet, now);
    const Lane& lane = Own::of(to, packet.priority);
    if (!buffer_.fits(packet.bytes, lane.queued, to.alpha)) {
      catch_up(now - 1);
      if (!buffer_.fits(packet.bytes, lane.queued, to.alpha)) {
        drop(packet, to);
        return false;
      }
    }
    buffer_.take(packet.bytes);
    return true;
  }

  bool admitted_lossless(const Packet& packet, Time now) {
    Port& from = port(first_ + packet.in_port);
    Lane& in = Own::of(from, packet.priority);
    if (buffer_.over(in, packet.bytes, from.alpha)) catch_up(now - 1);
    if (!buffer_.over(in, packet.bytes, from.alpha)) {
      buffer_.take(in, packet.bytes);
      return true;
    }
    if (in.headroom + packet.bytes > from.most_headroom) {
      drop(packet, from);
      return false;
    }
    in.headroom += packet.bytes;
    if (!in.pausing) tell(from, in, packet.priority, Kind::pause, now);
    return true;
  }

  void drop(const Packet& packet, Port& at) {
    ++at.counts.drops;
    around_.lose(packet);
  }

  FlowCounter* counter_ = nullptr;
};

}  // namespace remy_plus::fabric
