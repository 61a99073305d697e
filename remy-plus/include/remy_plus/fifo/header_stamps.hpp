// The headers of the packets of one bottleneck, kept beside the port's ring: what its hop writes, what that costs in
// bytes, and what senders read. StampedPaths (paths.hpp) does the same hop by hop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "remy_plus/core/link_meter.hpp"
#include "remy_plus/core/network.hpp"
#include "remy_plus/core/packet.hpp"
#include "remy_plus/headers/hop.hpp"
#include "remy_plus/headers/reader.hpp"

namespace remy_plus {

// Storage that trials reuse: of each slot of the ring its header.
struct HeaderSpace {
  struct Slot {
    std::uint64_t until;  // bytes accepted up to it
    bool there;           // its packet has the header
    bool shown;           // its acknowledgement has it
  };
  std::vector<Slot> slots;
  std::vector<std::uint64_t> words;
  std::vector<Carried> carried;
};

class HeaderStamps {
 public:
  static constexpr bool any = true;
  static constexpr bool sized = true;
  using Meter = BasicLinkMeter<std::uint64_t, 65536>;

  HeaderStamps(const Network& network, const Model& model, HeaderSpace& space, const Stamping& stamping,
               std::uint64_t seed)
      : stamping_(&stamping),
        space_(&space),
        hop_(stamping, model, network.link_rate, network.rtt),
        seed_(seed),
        network_(network.id),
        width_(stamping.words),
        loads_{{stamping, false, network.link_rate}, {stamping, true, network.link_rate}},
        readers_(static_cast<std::size_t>(network.senders), Reader(stamping)),
        reflectors_(static_cast<std::size_t>(network.senders)) {}

  Hop& hop() { return hop_; }
  bool asks() const { return hop_.asks(); }
  void tell(const Told& told) { told_ = told; }
  // Whether senders are told of queue and link without bytes.
  bool plain() const { return stamping_->plain; }

  void resize(std::size_t slots) {
    space_->slots.resize(slots);
    space_->words.resize(slots * width_);
    space_->carried.resize(slots);
  }
  // The ring grew: what was in one slot of `before` is now in another.
  void move(const HeaderSpace& before, std::size_t from, std::size_t to) {
    space_->slots[to] = before.slots[from];
    space_->carried[to] = before.carried[from];
    std::copy_n(before.words.begin() + at(from), width_, space_->words.begin() + at(to));
  }
  HeaderSpace take() { return std::exchange(*space_, {}); }

  // A packet leaves its sender.
  const LinkLoad& depart(std::size_t slot, std::uint32_t sequence, std::uint16_t sender) {
    Carried& carried = space_->carried[slot];
    carried = departure(*stamping_, {seed_, network_, sender, sequence}, words(slot));
    carried.told = told_;
    space_->slots[slot].there = carried.there;
    return loads_[carried.there];
  }

  // It is put into the queue, where so many wait before it, the first of them in slot `first`.
  void enqueue(std::size_t slot, const Packet& packet, std::uint64_t waiting, std::size_t first, bool busy) {
    HeaderSpace::Slot& stored = space_->slots[slot];
    if (hop_.listens()) {
      const HeaderSpace::Slot& next = space_->slots[first];
      const std::uint64_t before = waiting == 0 ? accepted_ : next.until - loads_[next.there].bytes;
      Moment moment = moment_of(stored, packet);
      moment.queue_packets = busy ? static_cast<double>(waiting) : 0;
      moment.queue_bytes = busy ? static_cast<double>(accepted_ - before) : 0;
      hop_.enqueue(moment, draws(packet), stored.there ? &space_->carried[slot] : nullptr, words(slot));
    }
    accepted_ += loads_[stored.there].bytes;
    stored.until = accepted_;
  }

  // It leaves, and so many wait behind it.
  void dequeue(std::size_t slot, const Packet& packet, std::uint32_t behind) {
    const HeaderSpace::Slot& stored = space_->slots[slot];
    Moment moment = moment_of(stored, packet);
    moment.queue_packets = behind;
    moment.queue_bytes = static_cast<double>(accepted_ - stored.until);
    hop_.dequeue(moment, draws(packet), stored.there ? &space_->carried[slot] : nullptr, words(slot));
  }

  // It is at its receiver.
  void arrive(std::size_t slot, const Packet& packet) {
    HeaderSpace::Slot& stored = space_->slots[slot];
    stored.shown = stored.there && reflectors_[packet.sender].reflects(*stamping_, packet.arrives);
  }

  const Seen& look(std::size_t slot, const Packet& packet) {
    Carried& carried = space_->carried[slot];
    carried.shown = space_->slots[slot].shown;
    return readers_[packet.sender].read(packet.flow, carried, words(slot));
  }

 private:
  std::ptrdiff_t at(std::size_t slot) const { return static_cast<std::ptrdiff_t>(slot * width_); }
  std::uint64_t* words(std::size_t slot) { return space_->words.data() + slot * width_; }

  Draws draws(const Packet& packet) const { return {seed_, network_, packet.sender, packet.sequence}; }

  Moment moment_of(const HeaderSpace::Slot& stored, const Packet& packet) const {
    const LinkLoad& load = loads_[stored.there];
    Moment moment;
    moment.arrived = packet.sent;
    moment.start = packet.start;
    moment.service = load.service;
    moment.size = load.size;
    moment.bytes = load.bytes;
    return moment;
  }

  const Stamping* stamping_;
  HeaderSpace* space_;
  Hop hop_;
  std::uint64_t seed_, network_;
  std::size_t width_;                  // words of a packet
  LinkLoad loads_[2];                  // of packets without the header, and with it
  std::uint64_t accepted_ = 0;         // bytes
  Told told_;                          // of the next packet to be offered
  std::vector<Reader> readers_;        // per sender
  std::vector<Reflector> reflectors_;  // per sender's receiver
};

}  // namespace remy_plus
