// What a sender reads from the headers that come back.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "remy_plus/headers/stamping.hpp"
#include "remy_plus/signals/seen.hpp"

namespace remy_plus {

class Reader {
 public:
  explicit Reader(const Stamping& stamping) : stamping_(&stamping) {
    const auto& fields = stamping.fields;
    const auto simple = [&](const Reading& r) {
      const StampedField& field = fields[static_cast<std::size_t>(r.field)];
      return field.aggregation != Aggregation::per_hop && field.only < 0 && r.count < 0;
    };
    simple_ = !stamping.gaps && std::ranges::all_of(stamping.readings, simple);
    differences_ = std::ranges::any_of(stamping.readings, is_difference);
    if (simple_) codes_.resize(stamping.readings.size());
  }

  static bool is_difference(const Reading& reading) { return reading.kind == Reading::Kind::throughput; }

  // A header of the flow came back, of a packet with this entropy. Differences are to the flow's previous one with the
  // same entropy: others may have come through other ports.
  const Seen& read(std::uint32_t flow, const Carried& carried, const std::uint64_t* words, std::uint8_t entropy = 0) {
    seen_.fresh = 0;
    if (!carried.there || !carried.shown) return seen_;
    if (flow != flow_) before_.clear();
    flow_ = flow;
    if (simple_) {
      read_simple(carried, words);
      return seen_;
    }
    if (differences_ && entropy >= before_.size()) before_.resize(entropy + 1u);
    const Before& before = differences_ ? before_[entropy] : nothing_;
    for (const Reading& reading : stamping_->readings) decode(reading, carried, words, before);
    if (differences_) remember(carried, words, before_[entropy]);
    return seen_;
  }

 private:
  // What the flow's header before had written in it.
  struct Before {
    std::vector<std::uint64_t> records;
    std::uint32_t hops = 0;
    std::uint64_t missing = 0;
  };

  // Every header has a number of each field. A code that did not change says what it said.
  void read_simple(const Carried& carried, const std::uint64_t* words) {
    for (std::size_t i = 0; i < codes_.size(); ++i) {
      const Reading& reading = stamping_->readings[i];
      Code& before = codes_[i];
      const std::uint64_t code = words[stamping_->place[static_cast<std::size_t>(reading.field)]];
      if (before.known && before.code == code) {
        seen_.fresh |= before.fresh;
        continue;
      }
      const SignalMask others = std::exchange(seen_.fresh, 0);
      decode(reading, carried, words, nothing_);
      before = {code, seen_.fresh, true};
      seen_.fresh |= others;
    }
  }

  void decode(const Reading& reading, const Carried& carried, const std::uint64_t* words, const Before& before) {
    const StampedField& field = stamping_->fields[static_cast<std::size_t>(reading.field)];
    if (field.only >= 0 && field.only != carried.label) return;
    double value = std::nan("");
    if (field.aggregation != Aggregation::per_hop) {
      if (stamping_->gaps && !(carried.known >> reading.field & 1)) return;
      value = scalar(reading, words);
    } else {
      for (std::uint32_t hop = 0; hop < records(carried); ++hop) {
        if (stamping_->gaps && carried.missing >> hop & 1) continue;
        const double one = of_record(reading, hop, words, before);
        if (std::isnan(value) || (reading.least ? one < value : one > value)) value = one;
      }
    }
    if (std::isnan(value)) return;
    seen_.values[reading.signal] = reading.signal_of(value);
    seen_.fresh |= bit(reading.signal);
  }

  double scalar(const Reading& reading, const std::uint64_t* words) const {
    const double value = decoded(reading, word(reading.field, 0, words));
    if (reading.count < 0) return value;
    const auto& count = stamping_->fields[static_cast<std::size_t>(reading.count)];
    return value / count.coding.decode(word(reading.count, 0, words));
  }

  double of_record(const Reading& reading, std::uint32_t hop, const std::uint64_t* words, const Before& before) const {
    if (!is_difference(reading)) return decoded(reading, word(reading.field, hop, words));
    if (hop >= before.hops || (stamping_->gaps && before.missing >> hop & 1)) return std::nan("");
    const double ns = elapsed(reading.time, hop, words, before) * reading.time_factor;
    const double bytes = elapsed(reading.field, hop, words, before) * reading.factor;
    const auto& rate = stamping_->fields[static_cast<std::size_t>(reading.rate)].coding;
    const double bits_per_ns = rate.decode(word(reading.rate, hop, words)) * reading.rate_factor * 1e-9;
    return ns > 0 && bytes >= 0 ? 8 * bytes / ns / bits_per_ns : std::nan("");
  }

  // How far a number went since the header before; less than one turn where it wraps.
  double elapsed(int field, std::uint32_t hop, const std::uint64_t* words, const Before& before) const {
    const Coding& coding = stamping_->fields[static_cast<std::size_t>(field)].coding;
    const std::uint64_t later = word(field, hop, words);
    const std::uint64_t earlier =
        before.records[hop * stamping_->record + stamping_->place[static_cast<std::size_t>(field)]];
    if (!coding.wraps) return coding.decode(later) - coding.decode(earlier);
    const std::uint64_t ones = coding.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << coding.bits) - 1;
    return static_cast<double>((later - earlier) & ones) * coding.step;
  }

  double decoded(const Reading& reading, std::uint64_t code) const {
    return reading.number_of(stamping_->fields[static_cast<std::size_t>(reading.field)].coding, code);
  }

  std::uint64_t word(int field, std::uint32_t hop, const std::uint64_t* words) const {
    const auto f = static_cast<std::size_t>(field);
    const bool record = stamping_->fields[f].aggregation == Aggregation::per_hop;
    return words[record ? stamping_->fields.size() + hop * stamping_->record + stamping_->place[f]
                        : stamping_->place[f]];
  }

  std::uint32_t records(const Carried& carried) const { return std::min(carried.hops, stamping_->max_hops); }

  void remember(const Carried& carried, const std::uint64_t* words, Before& before) const {
    before.hops = records(carried);
    before.missing = carried.missing;
    const std::uint64_t* first = words + stamping_->fields.size();
    before.records.assign(first, first + before.hops * stamping_->record);
  }

  // What a reading saw last, and which signal that brought.
  struct Code {
    std::uint64_t code = 0;
    SignalMask fresh = 0;
    bool known = false;
  };

  const Stamping* stamping_;
  bool simple_, differences_;
  std::vector<Code> codes_;  // of simple readings
  Seen seen_;
  std::uint32_t flow_ = UINT32_MAX;
  std::vector<Before> before_;  // by entropy
  Before nothing_;
};

// Whether a receiver reflects the header of the packet that it got.
class Reflector {
 public:
  bool reflects(const Stamping& stamping, double now) {
    if (count_++ % stamping.every_packets != 0) return false;
    if (stamping.every_us > 0 && now - last_ < stamping.every_us) return false;
    last_ = now;
    return true;
  }

 private:
  std::uint64_t count_ = 0;
  double last_ = -1e300;
};

}  // namespace remy_plus
