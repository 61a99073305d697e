// A hop that writes headers: measures as the header says, encodes, and combines with what the packet brought.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "remy_plus/random.hpp"
#include "remy_plus/stamping.hpp"

namespace remy_plus {

// What happens to one packet at a hop (µs, packets, bytes).
struct Moment {
  double arrived = 0;  // at the hop
  double start = 0;    // of its service
  double service = 0;
  double size = 1;  // packets
  double queue_packets = 0, queue_bytes = 0;  // waiting: before it at enqueue, behind it at dequeue
  std::uint64_t bytes = 0;                    // of the packet
};

// By whom and which packet, for random rounding.
struct Draws {
  std::uint64_t seed = 0, network = 0, sender = 0, packet = 0;
};

class Hop {
 public:
  // `rate` in packets/µs; a queue longer than `mark_above` packets marks.
  Hop(const Stamping& stamping, const Model& model, double rate, double mark_above)
      : stamping_(&stamping), rate_(rate), mark_above_(mark_above), now_(stamping.fields.size()) {
    for (const StampedField& field : stamping.fields) {
      uses_.emplace_back(field.window, field.interval, model, rate);
      samples_.emplace_back(source_count, SampleGauge(field.window, field.interval));
    }
    find_needed();
  }

  void join() { ++flows_; }
  void leave() { --flows_; }

  // A packet is put into the queue, at `moment.arrived`; or it leaves, at `moment.start`. Every packet of the link is
  // measured; those that carry the header are written to.
  void enqueue(const Moment& moment, const Draws& draws, Carried* carried, std::uint64_t* words) {
    pass(moment, draws, carried, words, true);
  }
  void dequeue(const Moment& moment, const Draws& draws, Carried* carried, std::uint64_t* words) {
    pass(moment, draws, carried, words, false);
    if (carried) ++carried->hops;
    sent_bytes_ += moment.bytes;
  }

 private:
  using Values = std::array<double, source_count>;

  void pass(const Moment& moment, const Draws& draws, Carried* carried, std::uint64_t* words, bool enqueue) {
    if (!phases_[enqueue]) {
      if (carried && enqueue) carried->replaced = 0;
      return;
    }
    instant_ = instants(moment, enqueue, carried ? carried->hops + 1 : 1);
    for (std::size_t i = 0; i < stamping_->fields.size(); ++i)
      if (needed_[i] && stamping_->fields[i].at_enqueue == enqueue) measure(i, moment);
    if (!carried) return;
    if (enqueue || !phases_[1]) carried->replaced = 0;
    if (stamping_->formulas_read_fields) arrived_.assign(words, words + stamping_->fields.size());
    for (std::size_t i = 0; i < stamping_->fields.size(); ++i)
      if (stamping_->fields[i].at_enqueue == enqueue) write(i, draws, *carried, words);
  }

  // In the units of lcca.signal_sets.headers.sources.
  Values instants(const Moment& m, bool enqueue, std::uint32_t hop) const {
    Values v{};
    const auto set = [&](Source s, double x) { v[static_cast<std::size_t>(s)] = x; };
    const double bytes_per_ns = rate_ * stamping_->packet_bytes * 1e-3;
    set(Source::qlen_bytes, m.queue_bytes);
    set(Source::qlen_pkts, m.queue_packets);
    set(Source::qdelay, std::max(m.start - m.arrived, 0.0) * 1e3);
    set(Source::hop_delay, std::max(m.start + m.service - m.arrived, 0.0) * 1e3);
    set(Source::tx_bytes, static_cast<double>(sent_bytes_));
    set(Source::link_rate, bytes_per_ns * 8e9);
    set(Source::ts_in, m.arrived * 1e3);
    set(Source::ts_out, m.start * 1e3);
    set(Source::nqd, m.queue_bytes / bytes_per_ns);
    set(Source::drain_time, m.queue_bytes / bytes_per_ns);
    set(Source::mark, m.queue_packets > mark_above_);
    set(Source::flows, flows_);
    set(Source::hop_count, hop);
    (void)enqueue;
    return v;
  }

  void measure(std::size_t i, const Moment& m) {
    const StampedField& field = stamping_->fields[i];
    Values& values = now_[i];
    values = instant_;
    if (needed_[i] & use_bits_) {
      const double use = uses_[i].read(field.at_enqueue ? m.arrived : m.start, m.service, m.size);
      values[static_cast<std::size_t>(Source::util)] = use;
      values[static_cast<std::size_t>(Source::abw_over_c)] = std::max(0.0, 1 - use);
      values[static_cast<std::size_t>(Source::abw)] =
          rate_ * std::max(0.0, 1 - use) * (stamping_->packet_bytes * 8e6);
    }
    if (field.window != Window::tumbling && field.window != Window::ewma) return;
    for (std::uint32_t left = needed_[i] & sampled_bits_; left != 0; left &= left - 1) {
      const auto s = static_cast<std::size_t>(std::countr_zero(left));
      values[s] = samples_[i][s].read(field.at_enqueue ? m.arrived : m.start, values[s]);
    }
  }

  void write(std::size_t i, const Draws& draws, Carried& carried, std::uint64_t* words) {
    const StampedField& field = stamping_->fields[i];
    if (!field.writes || (field.only >= 0 && field.only != carried.label)) return;
    const auto own = [&](std::size_t f) { return stamping_->fields[f].coding.decode(arrived_[f]); };
    const auto at_once = [&](std::size_t s) { return s == use_ ? now_[i][s] : instant_[s]; };
    if (!field.when.empty() && field.when.value(at_once, own) == 0) return;
    if (field.aggregation == Aggregation::with && !(carried.replaced >> field.follows & 1)) return;
    const double value = local(field, now_[i], own);
    double draw = 0;
    if (field.coding.rounding == Rounding::stochastic)
      draw = 1 - Stream(draws.seed, draws.network, Component::rounding, draws.sender,
                        (draws.packet << 16) + (carried.hops << 8) + i)
                     .uniform();
    combine(i, field.coding.encode(value, draw), carried, words);
  }

  template <class Own>
  static double local(const StampedField& field, const Values& values, const Own& own) {
    if (field.source == Source::formula)
      return field.formula.value([&](std::size_t s) { return values[s]; }, own) * field.times / field.by;
    if (field.source == Source::constant) return field.value;
    const double value = values[static_cast<std::size_t>(field.source)];
    if (field.source == Source::mark && field.has_value)
      return value != 0 || !field.when.empty() ? field.value : field.coding.decode(field.initial);
    return field.times == field.by ? value : value * field.times / field.by;
  }

  void combine(std::size_t i, std::uint64_t local, Carried& carried, std::uint64_t* words) const {
    const StampedField& field = stamping_->fields[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (field.aggregation == Aggregation::per_hop) {
      if (std::uint64_t* at = record(i, carried.hops, words)) *at = local;
      return;
    }
    std::uint64_t& code = words[stamping_->place[i]];
    const bool first = !(carried.written & bit);
    const bool unknown = field.coding.has_invalid && local == field.coding.invalid;
    if (unknown) return;
    const bool empty = field.coding.has_invalid && code == field.coding.invalid;
    const std::uint64_t before = code;
    bool replaced = true;
    switch (field.aggregation) {
      case Aggregation::min:
        replaced = local < code || empty;
        if (replaced) code = local;
        break;
      case Aggregation::max:
        replaced = local > code || empty;
        if (replaced) code = local;
        break;
      case Aggregation::sum:
        code = empty ? local : bounded(field, code, local);
        break;
      case Aggregation::count:
        code = bounded(field, code, 1);
        break;
      case Aggregation::either:
        code |= local;
        replaced = code != before;
        break;
      case Aggregation::both:
        code &= local;
        replaced = code != before;
        break;
      case Aggregation::first:
        replaced = first;
        if (first) code = local;
        break;
      default:  // last, and with: what it follows was replaced
        code = local;
    }
    carried.written |= bit;
    if (replaced) carried.replaced |= bit;
  }

  std::uint64_t* record(std::size_t i, std::uint32_t hop, std::uint64_t* words) const {
    if (hop >= stamping_->max_hops) {
      if (!stamping_->overwrites) return nullptr;
      hop %= stamping_->max_hops;
    }
    return words + stamping_->fields.size() + hop * stamping_->record + stamping_->place[i];
  }

  static std::uint64_t bounded(const StampedField& field, std::uint64_t code, std::uint64_t more) {
    const int bits = field.coding.bits;
    const std::uint64_t ones = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    if (field.coding.wraps) return (code + more) & ones;
    const std::uint64_t most = ones - (field.coding.has_invalid && field.coding.invalid == ones);
    return more > most || code > most - more ? most : code + more;
  }

  void find_needed() {
    constexpr auto bit_of = [](Source s) { return std::uint32_t{1} << static_cast<std::uint32_t>(s); };
    use_bits_ = bit_of(Source::util) | bit_of(Source::abw) | bit_of(Source::abw_over_c);
    for (const Source s : {Source::qlen_bytes, Source::qlen_pkts, Source::qdelay, Source::hop_delay, Source::nqd,
                           Source::drain_time, Source::mark, Source::flows})
      sampled_bits_ |= bit_of(s);
    for (const StampedField& field : stamping_->fields) {
      std::uint32_t bits = 0;
      if (field.writes && field.source < Source::constant) bits |= bit_of(field.source);
      for (const Formula* formula : {&field.formula, &field.when})
        for (const Formula::Step& step : formula->steps())
          if (step.op == Formula::Op::source) bits |= std::uint32_t{1} << static_cast<std::uint32_t>(step.value);
      needed_.push_back(field.writes ? bits | 1u << 31 : 0);
      if (field.writes) phases_[field.at_enqueue] = true;
    }
  }

  static constexpr auto use_ = static_cast<std::size_t>(Source::util);

  const Stamping* stamping_;
  double rate_;
  double mark_above_;
  int flows_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint32_t use_bits_ = 0, sampled_bits_ = 0;
  bool phases_[2] = {false, false};     // whether something is written at dequeue, at enqueue
  std::vector<std::uint32_t> needed_;   // sources that each field needs
  std::vector<UseGauge> uses_;          // per field
  std::vector<std::vector<SampleGauge>> samples_;  // per field and source
  std::vector<Values> now_;             // per field: what its sources say of the packet at hand
  Values instant_{};
  std::vector<std::uint64_t> arrived_;  // codes as the packet brought them, for formulas
};

}  // namespace remy_plus
