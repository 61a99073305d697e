// What one bottleneck tells senders where all its packets are alike: as many bytes, and numbers that its hop writes
// into each as it leaves (Stamping::alike). What senders read of them is kept beside the port's ring; HeaderStamps says
// the same of any header.
#pragma once

#include <algorithm>
#include <cmath>
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

// A port that stamps queue and link alone.
struct NoStamps {
  static constexpr bool any = false, sized = false;
  using Meter = LinkMeter;
};

// Storage that trials reuse: of each slot of the ring what is read, one number per reading, and what its packet said.
struct AlikeSpace {
  std::vector<double> values;
  std::vector<Told> told;
};

class AlikeStamps {
 public:
  static constexpr bool any = true, sized = false;
  using Meter = BasicLinkMeter<std::uint64_t, 65536>;

  // Of what packets say, that alone is kept which `wanted` signals are made of.
  AlikeStamps(const Network& network, const Model& model, AlikeSpace& space, const Stamping& stamping,
              std::uint64_t seed, SignalMask wanted)
      : plain_(stamping.plain),
        space_(&space),
        hop_(stamping, model, network.link_rate, network.rtt),
        seed_(seed),
        network_(network.id),
        load_(stamping, true, network.link_rate) {
    for (std::size_t i = 0; i < stamping.fields.size(); ++i) {
      const StampedField& field = stamping.fields[i];
      const bool counts = hop_.idle(i) && field.source == Source::qlen_pkts;
      written_.push_back(
          {i, &field, counts, hop_.idle(i), hop_.of_use_alone(i), hop_.codes_alone(i), field.initial, {}});
    }
    const SignalMask kept = carried_for(wanted);
    for (const Reading& reading : stamping.readings) {
      if (!(kept & bit(reading.signal))) continue;
      Written& field = written_[static_cast<std::size_t>(reading.field)];
      field.readings.push_back({&reading, latest_.size()});
      latest_.push_back(reading.signal_of(field.field->coding, field.code));
      signals_.push_back(reading.signal);
      fresh_ |= bit(reading.signal);
    }
    std::erase_if(written_, [](const Written& field) { return !field.field->writes || field.readings.empty(); });
    width_ = std::max<std::size_t>(latest_.size(), 2);
    latest_.resize(width_);
    asks_ = std::ranges::any_of(written_, [this](const Written& field) { return hop_.asks(field.at); });
  }

  Hop& hop() { return hop_; }
  // Whether senders are to say how they send: what is read is made of it.
  bool asks() const { return asks_; }
  void tell(const Told& told) { offered_.told = told; }
  // Whether anything is read.
  bool reads() const { return !signals_.empty(); }
  // Whether senders are told of queue and link without bytes.
  bool plain() const { return plain_; }

  void resize(std::size_t slots) {
    space_->values.resize(slots * width_);
    if (asks_) space_->told.resize(slots);
  }
  // The ring grew: what was in one slot of `before` is now in another.
  void move(const AlikeSpace& before, std::size_t from, std::size_t to) {
    const auto at = [&](std::size_t slot) { return static_cast<std::ptrdiff_t>(slot * width_); };
    std::copy_n(before.values.begin() + at(from), width_, space_->values.begin() + at(to));
    if (asks_) space_->told[to] = before.told[from];
  }
  AlikeSpace take() { return std::exchange(*space_, {}); }

  // A packet leaves its sender.
  const LinkLoad& depart(std::size_t, std::uint32_t, std::uint16_t) const { return load_; }

  // It is put into the queue, where so many wait before it.
  void enqueue(std::size_t slot, const Packet& packet, std::uint64_t waiting, std::size_t, bool busy) {
    if (!asks_) return;
    space_->told[slot] = offered_.told;
    Moment moment = moment_of(packet, 0);
    moment.queue_packets = busy ? static_cast<double>(waiting) : 0;
    hop_.enqueue(moment, {}, &offered_, nullptr);
  }

  // It leaves, and so many wait behind it.
  void dequeue(std::size_t slot, const Packet& packet, std::uint32_t behind) {
    if (asks_) passing_.told = space_->told[slot];
    for (Written& field : written_) {
      const Source source = field.field->source;
      const double number = field.counts   ? behind
                            : field.idle   ? hop_.idle_number(source, moment_of(packet, behind), passing_)
                            : field.of_use ? hop_.use_number(field.at, source, packet.start, load_)
                                           : measured(field.at, packet, behind);
      if (number == field.number) continue;
      field.number = number;
      const Coding& coding = field.field->coding;
      const std::uint64_t code = field.codes_alone ? coding.encode(number) : hop_.code(field.at, number);
      if (code == field.code) continue;
      field.code = code;
      for (const auto& [reading, at] : field.readings) latest_[at] = reading->signal_of(coding, code);
    }
    hop_.sent(load_.bytes);
    double* values = space_->values.data() + slot * width_;
    values[0] = latest_[0];  // most have no more than two: a call would cost more than they do
    values[1] = latest_[1];
    if (width_ > 2) std::copy_n(latest_.data() + 2, width_ - 2, values + 2);
  }

  // Hands on each signal, with what its packet says of it.
  template <class Take>
  SignalMask look(std::size_t slot, const Take& take) const {
    const double* value = space_->values.data() + slot * width_;
    for (const Signal signal : signals_) take(signal, *value++);
    return fresh_;
  }

 private:
  // A field that the hop writes to, how its number is had (it counts what waits; or no meter is asked) and coded, and
  // the latest; who reads it, and where that is in latest_.
  struct Written {
    std::size_t at;
    const StampedField* field;
    bool counts, idle, of_use, codes_alone;
    std::uint64_t code;
    std::vector<std::pair<const Reading*, std::size_t>> readings;
    double number = std::nan("");
  };

  Moment moment_of(const Packet& packet, std::uint32_t behind) const {
    Moment moment;
    moment.arrived = packet.sent;
    moment.start = packet.start;
    moment.service = load_.service;
    moment.size = load_.size;
    moment.queue_packets = behind;
    moment.queue_bytes = static_cast<double>(behind * load_.bytes);
    moment.bytes = load_.bytes;
    return moment;
  }
  [[gnu::noinline]] double measured(std::size_t field, const Packet& packet, std::uint32_t behind) {
    const Draws draws{seed_, network_, packet.sender, packet.sequence};
    return hop_.number(field, moment_of(packet, behind), draws, passing_);
  }

  bool plain_, asks_ = false;
  AlikeSpace* space_;
  Hop hop_;
  std::uint64_t seed_, network_;
  LinkLoad load_;
  Carried offered_, passing_;  // of the next packet to be offered, and of the one that leaves
  std::vector<Written> written_;
  std::vector<Signal> signals_;  // that are read
  std::vector<double> latest_;   // what the latest packet says of them, at least two numbers
  std::size_t width_;            // of these
  SignalMask fresh_ = 0;         // the signals that each packet brings
};

}  // namespace remy_plus
