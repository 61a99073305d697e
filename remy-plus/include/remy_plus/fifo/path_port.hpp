// One link of many: a FIFO output port for packets of two sizes, whose stamps are collected along the way.
//
// As in Port, a packet's start and departure are known when it is accepted; the queue stamp alone has to wait.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "remy_plus/core/layout.hpp"
#include "remy_plus/core/link_meter.hpp"
#include "remy_plus/core/network.hpp"
#include "remy_plus/core/packet.hpp"
#include "remy_plus/core/record.hpp"
#include "remy_plus/headers/hop.hpp"

namespace remy_plus {

// Its stamps are the largest met so far, its spare capacity the smallest; `arrives` is set at the receiver.
struct PathPacket : Packet {
  double spare;       // packets/µs, available capacity
  std::uint32_t hop;  // entry of Layout::hops: the link it is on
};
static_assert(sizeof(PathPacket) <= 64);

enum class Kind : std::uint8_t { data, ack };

// What a packet takes of a link: its size in packets, and in bytes where headers are stamped.
struct Load {
  double size;
  std::uint64_t bytes = 0;
};

// The headers of the packets under way, by their numbers. A port without headers has none of this.
struct Headers {
  Stampings stampings;
  bool plain = false;     // some sender is told of queues and links without bytes
  std::size_t width = 0;  // words of a packet, of the widest header
  std::uint64_t seed = 0, network = 0;
  std::vector<Carried> carried;
  std::vector<std::uint64_t> words;

  std::uint64_t* of(std::uint32_t packet) { return words.data() + packet * width; }
  void resize(std::size_t packets) {
    carried.resize(packets);
    words.resize(packets * width);
  }
};

// With `headers`, hops stamp what packets carry, and packets have sizes of their own.
template <bool headers>
class BasicPathPort {
 public:
  struct Slot {
    double start;    // µs, start of service
    double arrives;  // µs, at the far end of the link
    std::uint32_t packet;
    bool collect;
  };
  struct Stamped : Slot {
    double arrived;       // µs, at this hop
    double size;          // packets
    std::uint64_t bytes;  // of the packet
    std::uint64_t until;  // bytes accepted up to it
    bool data;
  };
  using Entry = std::conditional_t<headers, Stamped, Slot>;

  // `ring` and `packets` are borrowed; the ring's size is a power of two, and it grows.
  BasicPathPort(const Link& link, const Model& model, std::vector<Entry>& ring, std::vector<PathPacket>& packets)
      : ring_(&ring),
        packets_(&packets),
        meter_(model, link.rate),
        rate_(link.rate),
        size_{1, model.ack_size},
        service_{1 / link.rate, model.ack_size / link.rate},
        weight_{unit_, weight_of(model.ack_size)},
        delay_(link.delay),
        buffer_(link.buffer),
        mask_(ring.size() - 1) {}

  // `hops`: one for each header that there is.
  void stamp(Headers& found, std::vector<Hop> hops) {
    headers_ = &found;
    hops_ = std::move(hops);
  }
  std::vector<Hop>& hops() { return hops_; }

  // Packets of a train on links of one rate arrive at the very end of a service, but for rounding: what arrives so
  // little early finds the service ended.
  double rounding() const { return 1e-6 * service_[0]; }

  // Offers a packet at `now`; false if the buffer was full. `link_moved` is as in Port::accept, and services that end
  // by `settled` >= now have ended. With `collect` the link's stamps are added to the packet's. `load` matters with
  // headers alone: without them, it follows from the kind.
  bool accept(double now, double settled, bool link_moved, std::uint32_t packet, Kind kind, bool collect,
              Load load = {}) {
    settle(settled, link_moved);
    const bool busy = link_moved ? free_at_ > settled : free_at_ >= settled;
    if (busy && static_cast<double>(tail_ - started_) >= buffer_) {
      ++dropped_;
      return false;
    }
    if (tail_ - std::min(head_, started_) > mask_) grow();
    const auto k = static_cast<std::size_t>(kind);
    const double start = busy ? free_at_ : std::max(now, free_at_);
    const double size = headers ? load.size : size_[k];
    free_at_ = start + (headers ? size / rate_ : service_[k]);
    waiting_ += start - now;
    work_ += size;
    if constexpr (headers)
      put(now, {{start, free_at_ + delay_, packet, collect}, now, size, load.bytes, 0, kind == Kind::data}, busy);
    else
      slot(tail_++) = {start, free_at_ + delay_, packet, collect};
    if (headers && !headers_->plain) return true;  // its fields have meters of their own
    const std::uint64_t weight = headers ? weight_of(size) : weight_[k];
    if (collect)
      stamp_link((*packets_)[packet], meter_.count(start, weight));
    else
      meter_.add(start, weight);
    return true;
  }

  // When the next packet is at the far end, and that packet.
  double next_arrival() const { return head_ < tail_ ? slot(head_).arrives : never; }
  std::uint32_t leave() {
    while (started_ <= head_) stamp_queue();
    return slot(head_++).packet;
  }

  std::uint64_t accepted() const { return tail_; }
  std::uint64_t under_way() const { return tail_ - head_; }

  LinkTotals totals(double end) const {
    const double backlog = std::max(0.0, free_at_ - end) * rate_;
    return {(work_ - backlog) / rate_ / end, waiting(end) / end, tail_, dropped_};
  }

 private:
  static constexpr std::uint64_t unit_ = 65536;  // sizes are metered to 1/65536 of a packet

  static std::uint64_t weight_of(double size) {
    return static_cast<std::uint64_t>(std::llround(size * static_cast<double>(unit_)));
  }

  Entry& slot(std::uint64_t i) { return (*ring_)[i & mask_]; }
  const Entry& slot(std::uint64_t i) const { return (*ring_)[i & mask_]; }

  // Packets still waiting at `end` count until then.
  double waiting(double end) const {
    double later = 0;
    for (std::uint64_t i = tail_; i > started_ && slot(i - 1).start > end; --i) later += slot(i - 1).start - end;
    return waiting_ - later;
  }

  void settle(double now, bool link_moved) {
    while (started_ < tail_) {
      const double start = slot(started_).start;
      if (link_moved ? start > now : start >= now) return;
      stamp_queue();
    }
  }

  void stamp_queue() {
    const Entry& s = slot(started_);
    const auto behind = static_cast<std::uint32_t>(tail_ - started_ - 1);
    ++started_;
    if constexpr (headers) write_at_dequeue(s, behind);
    if (!s.collect) return;
    PathPacket& packet = (*packets_)[s.packet];
    packet.queue = std::max(packet.queue, behind);
  }

  void stamp_link(PathPacket& packet, double utilisation) const {
    packet.link = std::max(packet.link, utilisation);
    packet.spare = std::min(packet.spare, rate_ * std::max(0.0, 1 - utilisation));
  }

  // --- headers

  void put(double now, Stamped entry, bool busy) {
    const std::uint64_t waiting = tail_ - started_;
    const std::uint64_t before = waiting == 0 ? accepted_bytes_ : slot(started_).until - slot(started_).bytes;
    Moment moment = moment_of(entry);
    moment.queue_packets = busy ? static_cast<double>(waiting) : 0;
    moment.queue_bytes = busy ? static_cast<double>(accepted_bytes_ - before) : 0;
    accepted_bytes_ += entry.bytes;
    entry.until = accepted_bytes_;
    slot(tail_++) = entry;
    Carried* carried = carrying(entry);
    for (Hop& hop : hops_) {
      Carried* own = writes(hop, entry) ? carried : nullptr;
      hop.enqueue(moment, draws(entry), own, own ? headers_->of(entry.packet) : nullptr);
    }
    (void)now;
  }

  void write_at_dequeue(const Stamped& entry, std::uint32_t behind) {
    Moment moment = moment_of(entry);
    moment.queue_packets = behind;
    moment.queue_bytes = static_cast<double>(accepted_bytes_ - entry.until);
    Carried* carried = carrying(entry);
    for (Hop& hop : hops_) {
      Carried* own = writes(hop, entry) ? carried : nullptr;
      hop.dequeue(moment, draws(entry), own, own ? headers_->of(entry.packet) : nullptr);
    }
  }

  // Hops measure all packets, and write into those that carry their header.
  bool writes(const Hop& hop, const Stamped& entry) const {
    return headers_->stampings.of((*packets_)[entry.packet].sender) == &hop.stamping();
  }

  Moment moment_of(const Stamped& entry) const {
    Moment moment;
    moment.arrived = entry.arrived;
    moment.start = entry.start;
    moment.service = entry.size / rate_;
    moment.size = entry.size;
    moment.bytes = entry.bytes;
    moment.data = entry.data;
    return moment;
  }

  Carried* carrying(const Stamped& entry) {
    Carried& carried = headers_->carried[entry.packet];
    return entry.collect && carried.there ? &carried : nullptr;
  }

  Draws draws(const Stamped& entry) const {
    const PathPacket& packet = (*packets_)[entry.packet];
    return {headers_->seed, headers_->network, packet.sender, packet.sequence};
  }

  void grow() {
    std::vector<Entry> larger(ring_->size() * 2);
    for (std::uint64_t i = std::min(head_, started_); i < tail_; ++i) larger[i & (larger.size() - 1)] = slot(i);
    ring_->swap(larger);
    mask_ = ring_->size() - 1;
  }

  std::vector<Entry>* ring_;
  std::vector<PathPacket>* packets_;
  Headers* headers_ = nullptr;
  std::vector<Hop> hops_;
  std::uint64_t accepted_bytes_ = 0;
  BasicLinkMeter<std::uint64_t, unit_> meter_;
  double rate_;
  double size_[2];
  double service_[2];
  std::uint64_t weight_[2];
  double delay_;
  double buffer_;
  double free_at_ = -1;
  double waiting_ = 0;
  double work_ = 0;
  std::uint64_t mask_;
  std::uint64_t head_ = 0;     // next to be at the far end
  std::uint64_t started_ = 0;  // next to be stamped
  std::uint64_t tail_ = 0;     // next to be accepted
  std::uint64_t dropped_ = 0;
};

using PathPort = BasicPathPort<false>;

}  // namespace remy_plus
