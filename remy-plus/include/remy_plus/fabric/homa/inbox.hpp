// What a host receives under Homa, and what it grants: to the messages with the fewest bytes left, one of a sender,
// as many as its overcommitment says.
#pragma once

#include <algorithm>
#include <vector>

#include "remy_plus/fabric/homa/homa.hpp"
#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/link_end.hpp"

namespace remy_plus::fabric {

class Inbox {
 public:
  explicit Inbox(const Hosting& hosting) : hosting_(hosting), homa_(static_cast<Homa&>(hosting.transport)) {}

  bool complete(std::uint32_t number) const {
    return hosting_.flows[number].expected == hosting_.flows[number].packets;
  }

  // The message, which may not have been heard of before.
  Incoming& open(std::uint32_t number) {
    auto& held = homa_.incoming(number);
    if (held) return *held;
    const Flow& flow = hosting_.flows[number];
    const std::uint32_t unscheduled = homa_.unscheduled(flow);
    held = std::make_unique<Incoming>(flow.packets, homa_.window(flow), unscheduled);
    const auto before = [this](std::uint32_t a, std::uint32_t b) { return shorter(a, b); };
    if (unscheduled < flow.packets)
      waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), number, before), number);
    return *held;
  }

  // Takes a packet of a message that is open; returns whether it is new.
  bool take(std::uint32_t number, std::uint32_t packet) {
    Incoming& in = *homa_.incoming(number);
    if (in.has(packet)) return false;
    in.take(packet);
    Flow& flow = hosting_.flows[number];
    ++flow.expected;
    if (in.granted < flow.packets) move_up(number);
    return true;
  }

  void close(std::uint32_t number) { homa_.incoming(number).reset(); }

  // Calls grant(flow, packets, class) for what may be sent now and could not before.
  template <class Grant>
  void grant(const Grant& grant) {
    for (bool again = true; again;) {
      again = false;
      find_active();
      for (std::size_t rank = 0; rank < active_.size(); ++rank) {
        const std::uint32_t number = active_[rank];
        if (!extend(number)) continue;
        Incoming& in = *homa_.incoming(number);
        grant(number, in.granted, homa_.scheduled_level(static_cast<int>(rank), static_cast<int>(active_.size())));
        if (in.granted < hosting_.flows[number].packets) continue;
        waiting_.erase(std::find(waiting_.begin(), waiting_.end(), number));
        again = true;
      }
    }
  }

 private:
  bool shorter(std::uint32_t a, std::uint32_t b) const { return std::pair(left(a), a) < std::pair(left(b), b); }

  std::uint64_t left(std::uint32_t number) const {
    const Flow& flow = hosting_.flows[number];
    return flow.size - flow.bytes_before(flow.expected);
  }

  // It alone has fewer bytes left than before.
  void move_up(std::uint32_t number) {
    auto at = std::find(waiting_.begin(), waiting_.end(), number);
    for (; at != waiting_.begin() && shorter(number, *(at - 1)); --at) std::iter_swap(at, at - 1);
  }

  void find_active() {
    active_.clear();
    for (const std::uint32_t number : waiting_) {
      if (static_cast<int>(active_.size()) == homa_.overcommitment()) return;
      const std::uint32_t src = hosting_.flows[number].src;
      const auto same = [&](std::uint32_t other) { return hosting_.flows[other].src == src; };
      if (std::none_of(active_.begin(), active_.end(), same)) active_.push_back(number);
    }
  }

  // Whether more of an active message may be sent than before.
  bool extend(std::uint32_t number) {
    const Flow& flow = hosting_.flows[number];
    Incoming& in = *homa_.incoming(number);
    const std::uint32_t most = std::min(flow.packets, flow.expected + in.window);
    if (most <= in.granted) return false;
    if (most < flow.packets && most - in.granted < homa_.grant_packets()) return false;
    in.granted = most;
    return true;
  }

  const Hosting& hosting_;
  Homa& homa_;
  std::vector<std::uint32_t> waiting_;  // for grants: messages, those with the fewest bytes left first
  std::vector<std::uint32_t> active_;   // that are granted now, in the same order
};

}  // namespace remy_plus::fabric
