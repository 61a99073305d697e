// A FIFO output port: finite buffer, one server of constant rate, INT stamps as a packet starts service.
//
// Service is FIFO and deterministic, so a packet's start and departure are known when it is accepted: no event is
// needed for the link. Only the queue stamp has to wait: it counts the packets accepted before the start of service.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "remy_plus/core/link_meter.hpp"
#include "remy_plus/core/network.hpp"
#include "remy_plus/core/packet.hpp"
#include "remy_plus/core/record.hpp"
#include "remy_plus/fifo/alike_stamps.hpp"
#include "remy_plus/fifo/header_stamps.hpp"
#include "remy_plus/fifo/shares.hpp"

namespace remy_plus {

template <class Stamps>
class BasicPort {
 public:
  static constexpr bool many_hops = false;
  static constexpr bool stamped = Stamps::any;
  static constexpr bool sized = Stamps::sized;  // packets have bytes of their own
  static constexpr bool steps = sized;          // lost packets come to their end too
  using Clocks = SharedClock;

  // `ring` is borrowed storage (its size a power of two); it grows when more packets are under way. Packets bring the
  // link's utilisation where one of metered_signals is wanted, and the queue where one of queue_signals is.
  BasicPort(const Network& network, const Model& model, std::vector<Packet>& ring, SignalMask wanted,
            Stamps stamps = {})
      : ring_(ring),
        meter_(model, network.link_rate),
        link_rate_(network.link_rate),
        service_(1 / network.link_rate),
        rtt_(network.rtt),
        buffer_(network.buffer),
        metered_(wanted & metered_signals),
        counts_queue_(sized || (wanted & queue_signals)),
        mask_(ring.size() - 1),
        stamps_(std::move(stamps)) {
    if constexpr (stamped) {
      stamps_.resize(ring.size());
      if constexpr (!sized) counts_queue_ |= stamps_.reads();
    }
  }

  // Offers a packet at `now`; false if the buffer was full. `link_moved`: whether the link has already been
  // served at this very instant (R+ lets senders go first, then the link: it decides exact ties only).
  [[gnu::always_inline]] bool accept(double now, bool link_moved, std::uint32_t sequence, std::uint32_t flow,
                                     std::uint16_t sender, bool lost) {
    if (counts_queue_) settle(now, link_moved);
    const bool busy = link_moved ? free_at_ > now : free_at_ >= now;
    if (busy && static_cast<double>(tail_ - started_) >= buffer_) {
      if (!counts_queue_) catch_up(now, link_moved);
      if (static_cast<double>(tail_ - started_) >= buffer_) {
        ++dropped_;
        return false;
      }
    }
    if (tail_ - std::min(head_, started_) > mask_) {
      if (!counts_queue_) catch_up(now, link_moved);
      if (tail_ - std::min(head_, started_) > mask_) grow();
    }
    const std::uint64_t slot = tail_ & mask_, waiting = tail_ - started_;
    Packet& stored = ring_[slot];
    const double start = busy ? free_at_ : now;
    if constexpr (stamped) {
      const auto& load = stamps_.depart(slot, sequence, sender);
      free_at_ = start + load.service;
      work_ += load.size;
      stored.link = metered_ && stamps_.plain() ? meter_.count(start, load.weight) : 0;
    } else {
      free_at_ = start + service_;
      stored.link = metered_ ? meter_.count(start) : 0;
    }
    ++tail_;
    waiting_ += start - now;
    stored.sent = now;
    stored.start = start;
    stored.arrives = free_at_ + rtt_;
    stored.sequence = sequence;
    stored.flow = flow;
    stored.sender = sender;
    stored.lost = lost;
    if constexpr (stamped) stamps_.enqueue(slot, stored, waiting, started_ & mask_, busy);
    if (tail_ - head_ == 1) skip_lost();
    return true;
  }

  // The same, as a fate.
  [[gnu::always_inline]] Fate offer(double now, bool link_moved, std::uint32_t sequence, std::uint32_t flow,
                                    std::uint16_t sender, bool lost) {
    if (!accept(now, link_moved, sequence, flow, sender, lost)) return Fate::dropped;
    return lost ? Fate::lost : Fate::under_way;
  }

  double next_arrival() const { return next_arrival_; }

  // The packet that arrives at next_arrival(). The reference is valid until the next accept().
  const Packet& deliver() {
    if constexpr (sized) return ring_[(head_ - 1) & mask_];
    return next();
  }

  // The same in two steps, where lost packets come to their end too.
  Fate step(double)
    requires sized
  {
    const Packet& packet = next();
    if (packet.lost) {
      ++passed_;
      return Fate::under_way;
    }
    stamps_.arrive((head_ - 1) & mask_, packet);
    return Fate::home;
  }

  double spare(const Packet& packet) const { return link_rate_ * std::max(0.0, 1 - packet.link); }
  // All delay is on the way forward, but for half of the propagation.
  double one_way_delay(const Packet& packet, double now) const { return now - packet.sent - rtt_ / 2; }

  // --- with stamps of their own: see StampedPaths

  void join(std::size_t) { stamps_.hop().join(); }
  void leave(std::size_t) { stamps_.hop().leave(); }
  bool asks() const { return stamps_.asks(); }
  void tell(const Told& told) { stamps_.tell(told); }
  const Seen& look(const Packet& packet)
    requires sized
  {
    return stamps_.look(static_cast<std::size_t>(&packet - ring_.data()), packet);
  }
  // Where every packet brings the same signals.
  template <class Take>
  SignalMask look(const Packet& packet, const Take& take) const
    requires(stamped && !sized)
  {
    return stamps_.look(static_cast<std::size_t>(&packet - ring_.data()), take);
  }
  bool plain() const
    requires stamped
  {
    return stamps_.plain();
  }

  std::uint64_t accepted() const { return tail_; }
  std::uint64_t passed() const { return passed_; }

  // Fills in what happened on the link.
  void report(double end, TrialTotals& totals, std::vector<LinkTotals>& links) const {
    const double backlog = std::max(0.0, free_at_ - end) * link_rate_;
    totals.hops = tail_;
    totals.utilisation = ((stamped ? work_ : static_cast<double>(tail_)) - backlog) / link_rate_ / end;
    totals.queue_mean = waiting(end) / end;
    links.assign(1, {totals.utilisation, totals.queue_mean, tail_, dropped_});
  }

  // Sum of the waiting times up to `end`, packet·µs; packets still waiting then count until `end`.
  double waiting(double end) const {
    double later = 0;
    for (std::uint64_t i = tail_; i > started_ && ring_[(i - 1) & mask_].start > end; --i)
      later += ring_[(i - 1) & mask_].start - end;
    return waiting_ - later;
  }
  double served_until() const { return free_at_; }

 private:
  [[gnu::always_inline]] void settle(double now, bool link_moved) {
    while (started_ < tail_) {
      const double start = ring_[started_ & mask_].start;
      if (link_moved ? start > now : start >= now) return;
      stamp();
    }
  }

  // Where nobody reads the queue: only when it may be full, or the ring.
  [[gnu::noinline]] void catch_up(double now, bool link_moved) { settle(now, link_moved); }

  [[gnu::always_inline]] void stamp() {
    const auto behind = static_cast<std::uint32_t>(tail_ - started_ - 1);
    Packet& packet = ring_[started_ & mask_];
    packet.queue = behind;
    if constexpr (stamped) stamps_.dequeue(started_ & mask_, packet, behind);
    ++started_;
  }

  const Packet& next() {
    if (counts_queue_)
      while (started_ <= head_) stamp();
    const Packet& packet = ring_[head_++ & mask_];
    skip_lost();
    return packet;
  }

  void skip_lost() {
    if constexpr (!sized)
      while (head_ < tail_ && ring_[head_ & mask_].lost) ++head_;
    next_arrival_ = head_ < tail_ ? ring_[head_ & mask_].arrives : never;
  }

  void grow() {
    if (ring_.size() >= most_packets_)
      throw std::length_error(
          "over 16 million packets are under way: give the network a finite buffer, or the policy a lower rate");
    std::vector<Packet> larger(ring_.size() * 2);
    for (std::uint64_t i = std::min(head_, started_); i < tail_; ++i)
      larger[i & (larger.size() - 1)] = ring_[i & mask_];
    if constexpr (stamped) move_stamps(larger.size());
    ring_.swap(larger);
    mask_ = ring_.size() - 1;
  }

  void move_stamps(std::size_t slots) {
    const auto before = stamps_.take();
    stamps_.resize(slots);
    for (std::uint64_t i = std::min(head_, started_); i < tail_; ++i) stamps_.move(before, i & mask_, i & (slots - 1));
  }

  static constexpr std::size_t most_packets_ = std::size_t{1} << 24;

  std::vector<Packet>& ring_;
  typename Stamps::Meter meter_;
  double link_rate_;
  double service_;
  double rtt_;
  double buffer_;
  bool metered_;
  bool counts_queue_;
  double free_at_ = -1;
  double next_arrival_ = never;
  double waiting_ = 0;
  double work_ = 0;  // packets of size 1, where they differ
  std::uint64_t mask_;
  std::uint64_t head_ = 0;     // next to arrive at the receiver
  std::uint64_t started_ = 0;  // next to be stamped; where nobody reads the queue, none before it waits
  std::uint64_t tail_ = 0;     // next to be accepted
  std::uint64_t dropped_ = 0;
  std::uint64_t passed_ = 0;  // steps that did not bring a packet home
  [[no_unique_address]] Stamps stamps_;
};

using Port = BasicPort<NoStamps>;
using AlikePort = BasicPort<AlikeStamps>;
using HeaderPort = BasicPort<HeaderStamps>;

}  // namespace remy_plus
