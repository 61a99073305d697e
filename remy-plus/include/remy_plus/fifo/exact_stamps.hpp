// What one bottleneck tells senders beside queue and link where headers are exact: numbers kept beside the port's ring.
// HeaderStamps says the same of any header.
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
#include "remy_plus/signals/seen.hpp"

namespace remy_plus {

// A port that stamps queue and link alone.
struct NoStamps {
  static constexpr bool any = false, sized = false;
  using Meter = LinkMeter;
};

// Storage that trials reuse: of each slot of the ring its numbers, one per field, and what its packet said.
struct ExactSpace {
  std::vector<double> numbers;
  std::vector<Told> told;
};

class ExactStamps {
 public:
  static constexpr bool any = true, sized = false;
  using Meter = LinkMeter;

  ExactStamps(const Network& network, const Model& model, ExactSpace& space, const Stamping& stamping)
      : stamping_(&stamping),
        space_(&space),
        hop_(stamping, model, network.link_rate, network.rtt),
        service_(1 / network.link_rate) {
    for (const Reading& reading : stamping.readings) seen_.fresh |= bit(reading.signal);
  }

  Hop& hop() { return hop_; }
  void tell(const Told& told) { carried_.told = told; }

  void resize(std::size_t slots) {
    space_->numbers.resize(slots * fields());
    if (hop_.asks()) space_->told.resize(slots);
  }
  // The ring grew: what was in one slot of `before` is now in another.
  void move(const ExactSpace& before, std::size_t from, std::size_t to) {
    std::copy_n(before.numbers.begin() + at(from), fields(), space_->numbers.begin() + at(to));
    if (hop_.asks()) space_->told[to] = before.told[from];
  }
  ExactSpace take() { return std::move(*space_); }

  // A packet is put into the queue, where so many wait before it.
  void enqueue(std::size_t slot, double now, double waiting) {
    if (!hop_.asks()) return;
    space_->told[slot] = carried_.told;
    Moment moment;
    moment.arrived = now;
    moment.queue_packets = waiting;
    hop_.enqueue(moment, {}, &carried_, nullptr);
  }

  // It leaves, and so many wait behind it.
  void dequeue(std::size_t slot, const Packet& packet, std::uint32_t behind) {
    Carried carried;
    if (hop_.asks()) carried.told = space_->told[slot];
    Moment moment;
    moment.arrived = packet.sent;
    moment.start = packet.start;
    moment.service = service_;
    moment.queue_packets = behind;
    double* numbers = space_->numbers.data() + slot * fields();
    for (std::size_t i = 0; i < fields(); ++i) numbers[i] = hop_.number(i, moment, carried);
  }

  const Seen& look(std::size_t slot) {
    const double* numbers = space_->numbers.data() + slot * fields();
    for (const Reading& reading : stamping_->readings) {
      const double number = std::max(numbers[reading.field], 0.0);
      const double value = reading.kind == Reading::Kind::mark ? number != 0 : number * reading.factor;
      seen_.values[reading.signal] = std::clamp(value, 0.0, signal_ceiling - 1);
    }
    return seen_;
  }

 private:
  std::size_t fields() const { return stamping_->fields.size(); }
  std::ptrdiff_t at(std::size_t slot) const { return static_cast<std::ptrdiff_t>(slot * fields()); }

  const Stamping* stamping_;
  ExactSpace* space_;
  Hop hop_;
  double service_;   // µs
  Carried carried_;  // of the next packet to be offered
  Seen seen_;
};

}  // namespace remy_plus
