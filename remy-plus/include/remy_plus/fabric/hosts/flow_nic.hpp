// A host's end of one link, whose flows send one after the other in the order of the host's scheduling.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/hosts/arriving.hpp"
#include "remy_plus/fabric/hosts/paced.hpp"
#include "remy_plus/fabric/hosts/turns.hpp"
#include "remy_plus/fabric/link_end.hpp"

namespace remy_plus::fabric {

// `Own` is the NIC of a kind of host. It says whether a flow may send a packet, its pace apart: may_send(flow); how
// many bytes it has left to send: left(flow); its key in a rotation: rotation(turns, flow); and it sends its packet:
// send_packet(flow's number, flow, now). send_next(now) says what goes first, with send_data() and send_control(), and
// returns whether anything went.
template <class Own, bool several>
class FlowNic : public LinkEnd<several> {
  using Base = LinkEnd<several>;

 public:
  FlowNic(Port& port, const Surroundings& around, const Hosting& hosting)
      : Base(port, around),
        hosting_(hosting),
        turns_(std::max<std::size_t>(port.lanes.size(), 1)),
        paced_(hosting.flows) {}

  Arriving& arriving() { return arriving_; }

  // A flow may have something to send from now on.
  void ready(std::uint32_t number, Time now) {
    Flow& flow = hosting_.flows[number];
    if (flow.in_turn || !own().may_send(number)) return;
    if (flow.next_send > (Own::has_places ? std::max(now, port_.free_at) : now)) return pace(number, flow);
    paced_.remove(number);
    take_turn(number, flow);
    wake(now);
  }

  // A flow has less left to send than it had, or has sent less, by something else than a packet that was sent.
  void reorder(std::uint32_t number) {
    Flow& flow = hosting_.flows[number];
    if (flow.in_turn && !rotates()) own().turns_of(flow).push(key(number), number);
  }

  // At next(): sends what is due, if anything is, and says when to try again.
  void send(Time now) {
    paced_.release(now, [&](std::uint32_t number) {
      Flow& flow = hosting_.flows[number];
      if (flow.next_send > now)
        pace(number, flow);
      else if (!flow.in_turn && (Own::has_places || own().may_send(number)))
        take_turn(number, flow);
    });
    const bool busy = port_.free_at > now || own().send_next(now);
    next_ = paced_.next();
    if (busy && own().anything_waits()) next_ = std::min(next_, port_.free_at);
  }

 protected:
  using Base::around_, Base::next_, Base::port_, Base::put_on_wire, Base::send_control, Base::wake;
  using Lanes = typename Base::Own;

  Turns& turns_of(const Flow& flow) { return turns_[several ? flow.priority : 0]; }

  bool anything_waits() const {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const Lane& lane = Lanes::of(port_, static_cast<int>(i));
      if (!lane.paused && !(turns_[i].empty() && lane.queue.empty())) return true;
    }
    return false;
  }

  // Of the flow whose turn it is. `held` says of a flow that its next packet has to wait for others.
  template <class Held>
  bool send_data(Turns& turns, Time now, const Held& held) {
    while (!turns.empty()) {
      const auto [at, number] = turns.take();
      Flow& flow = hosting_.flows[number];
      if (!flow.in_turn) continue;  // another entry of it came first
      if (!rotates() && key(number) > at) {
        turns.push(key(number), number);
        continue;
      }
      if (held(number)) {
        aside_.emplace_back(at, number);
        continue;
      }
      flow.in_turn = false;
      if (!own().may_send(number)) continue;
      if (flow.next_send > now) {
        pace(number, flow);
        continue;
      }
      turns.serve(at);
      own().send_packet(number, flow, now);
      ready(number, now);
      put_back(turns);
      return true;
    }
    put_back(turns);
    return false;
  }
  bool send_data(Turns& turns, Time now) {
    return send_data(turns, now, [](std::uint32_t) { return false; });
  }

  const Hosting& hosting_;
  std::vector<Turns> turns_;  // of every class

 private:
  Own& own() { return static_cast<Own&>(*this); }
  bool rotates() const { return around_.settings.scheduling == Scheduling::round_robin; }
  // Bytes: the fewest go first.
  std::uint64_t key(std::uint32_t number) {
    if (around_.settings.scheduling == Scheduling::shortest) return own().left(number);
    const Flow& flow = hosting_.flows[number];
    return flow.bytes_before(flow.next);
  }

  void take_turn(std::uint32_t number, Flow& flow) {
    flow.in_turn = true;
    Turns& turns = own().turns_of(flow);
    turns.push(rotates() ? own().rotation(turns, flow) : key(number), number);
  }

  void pace(std::uint32_t number, Flow& flow) {
    paced_.add(number);
    next_ = std::min(next_, std::max(flow.next_send, port_.free_at));
  }

  void put_back(Turns& turns) {
    if (aside_.empty()) return;
    for (const auto& [at, number] : aside_) turns.push(at, number);
    aside_.clear();
  }

  Paced paced_;
  Arriving arriving_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> aside_;
};

}  // namespace remy_plus::fabric
