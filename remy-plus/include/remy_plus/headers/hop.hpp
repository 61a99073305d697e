// A hop that writes headers: measures as the header says, encodes, and combines with what the packet brought.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "remy_plus/aqm/markers.hpp"
#include "remy_plus/core/random.hpp"
#include "remy_plus/headers/active_flows.hpp"
#include "remy_plus/headers/stamping.hpp"

namespace remy_plus {

// What happens to one packet at a hop (µs, packets, bytes).
struct Moment {
  double arrived = 0;  // at the hop
  double start = 0;    // of its service
  double service = 0;
  double size = 1;                            // packets
  double queue_packets = 0, queue_bytes = 0;  // waiting: before it at enqueue, behind it at dequeue
  std::uint64_t bytes = 0;                    // of the packet
  bool data = true;                           // its flow counts as active here; an acknowledgement's does not
  std::optional<bool> marked;                 // by the port; none: the hop's own marker is asked
};

// What a packet takes of a link, with the header that one hop wrote to or without.
struct LinkLoad {
  std::uint64_t bytes, weight;
  double size = 1;  // packets
  double service;   // µs

  LinkLoad(const Stamping& stamping, bool header, double rate)
      : bytes(stamping.packet_bytes + (header ? Stamping::bytes(stamping.sent_bytes, 1) : 0)) {
    if (header) size = 1 + Stamping::bytes(stamping.sent_bytes, 1) / static_cast<double>(stamping.packet_bytes);
    service = size / rate;
    weight = static_cast<std::uint64_t>(std::llround(size * 65536));
  }
};

// By whom and which packet, for random rounding.
struct Draws {
  std::uint64_t seed = 0, network = 0, sender = 0, packet = 0;
};

// A packet leaves its sender: fills in its words.
inline Carried departure(const Stamping& stamping, const Draws& draws, std::uint64_t* words) {
  Carried carried;
  carried.there = carried.shown = true;
  const auto chance = [&] {
    return Stream(draws.seed, draws.network, Component::selection, draws.sender, draws.packet).uniform();
  };
  if (stamping.probability < 1) carried.there = chance() <= stamping.probability;
  if (const auto labels = stamping.labels.size()) {
    std::size_t turn = 0;
    if (stamping.turns == Stamping::Turns::round_robin) turn = draws.packet % labels;
    if (stamping.turns == Stamping::Turns::random)
      turn = std::min(static_cast<std::size_t>((1 - chance()) * static_cast<double>(labels)), labels - 1);
    carried.label = static_cast<std::int16_t>(stamping.labels[turn]);
  }
  for (std::size_t i = 0; i < stamping.fields.size(); ++i) words[i] = stamping.fields[i].initial;
  if (stamping.unsaid) std::fill(words + stamping.fields.size(), words + stamping.words, 0);  // storage is used again
  return carried;
}

class Hop {
 public:
  // `rate` in packets/µs; `rtt` in µs, what the network's is without queues. With `by_packets` nobody says when flows
  // begin and end: they are known by their packets alone. `number` tells hops of a network apart where they draw.
  Hop(const Stamping& stamping, const Model& model, double rate, double rtt, bool by_packets = false,
      std::uint64_t number = 0)
      : stamping_(&stamping),
        rate_(rate),
        rtt_(rtt),
        by_packets_(by_packets),
        number_(number),
        marker_(StepMarker::of(model, rate, rtt)),
        bytes_per_ns_(rate * stamping.packet_bytes * 1e-3),
        bits_per_us_(stamping.packet_bytes * 8e6) {
    for (const StampedField& field : stamping.fields) add_meters(field, model, rtt);
    simple_ = !told_ && !stamping.imperfect &&
              std::ranges::all_of(stamping.fields, [](const StampedField& f) { return !f.writes || f.simple(); });
    if (simple_)
      for (std::size_t i = 0; i < stamping.fields.size(); ++i)
        if (stamping.fields[i].writes) simple_fields_.push_back({&stamping.fields[i], i, meters_[i].idle});
  }

  // The same hop at a link of another rate: what it measures begins anew, and it goes on counting.
  Hop at_rate(const Model& model, double rate) const {
    Hop made(*stamping_, model, rate, rtt_, by_packets_, number_);
    made.flows_ = flows_;
    made.sent_bytes_ = sent_bytes_;
    return made;
  }

  const Stamping& stamping() const { return *stamping_; }
  void join() { ++flows_; }
  void leave() { --flows_; }
  // Whether a number is made of what packets say of their senders.
  static bool told(Source s) { return s == Source::fair_rate || s == Source::xcp_feedback || s == Source::senders; }
  // Whether it makes something of that, or a field does.
  bool asks() const { return told_; }
  bool asks(std::size_t i) const {
    const Meters& meters = meters_[i];
    return meters.fair_rate || meters.feedback || meters.senders;
  }
  // Whether packets that are put into the queue matter to it.
  bool listens() const { return told_ || phases_[true]; }

  // A packet is put into the queue, at `moment.arrived`; or it leaves, at `moment.start`. Every packet of the link is
  // measured; those that carry the header are written to.
  void enqueue(const Moment& moment, const Draws& draws, Carried* carried, std::uint64_t* words) {
    if (told_) arrive(moment, carried);
    pass(moment, draws, carried, words, true);
  }
  void dequeue(const Moment& moment, const Draws& draws, Carried* carried, std::uint64_t* words) {
    if (simple_)
      pass_simple(moment, draws, carried, words);
    else
      pass(moment, draws, carried, words, false);
    if (carried) {
      if (stamping_->imperfect && lost(draws)) leave_out(*carried);
      ++carried->hops;
    }
    sent_bytes_ += moment.bytes;
  }

  // The number of a field as a packet leaves, in its source's unit or its formula's; whether it marks is 1 or 0.
  double number(std::size_t i, const Moment& moment, const Draws& draws, const Carried& carried) {
    const StampedField& field = stamping_->fields[i];
    if (!field.when.empty()) {
      const auto source = [&](std::size_t s) { return idle_number(static_cast<Source>(s), moment, carried); };
      return field.when.value(source, [](std::size_t) { return 0.0; }) != 0;
    }
    measure(i, field, moment, draws, &carried);
    return field.source == Source::formula ? derived(i, moment, &carried, [](std::size_t) { return 0.0; })
                                           : measured(meters_[i], field.source, moment, &carried);
  }
  // The same where nothing is measured for it and it is its source's number, and where the link's use is all.
  bool idle(std::size_t i) const {
    const auto& when = stamping_->fields[i].when.steps();
    const bool mark = when.size() == 1 && when[0] == Formula::Step{Formula::Op::source, double(Source::mark)};
    return meters_[i].idle && (when.empty() || mark) && stamping_->fields[i].source != Source::formula;
  }
  bool of_use_alone(std::size_t i) const { return meters_[i].of_use_alone && of_use(stamping_->fields[i].source); }
  [[gnu::always_inline]] double idle_number(Source source, const Moment& moment, const Carried& carried) const {
    return instant_here(nullptr, source, moment, &carried);
  }
  double use_number(std::size_t i, Source source, double start, const LinkLoad& load) {
    return use(source, meters_[i].use.read(start, load.service, load.size));
  }
  // What it writes into a packet that no hop wrote to, and whether that is the number's code and no more.
  std::uint64_t code(std::size_t i, double number) const {
    const StampedField& field = stamping_->fields[i];
    Carried carried;
    std::uint64_t made = field.initial;
    if (field.when.empty() || number != 0)
      merge(i, field.coding.encode(field.has_value ? field.value : scaled(field, number)), carried, made);
    return made;
  }
  bool codes_alone(std::size_t i) const {
    const StampedField& field = stamping_->fields[i];
    const bool replaces = field.aggregation == Aggregation::last || field.aggregation == Aggregation::first ||
                          (field.aggregation == Aggregation::max && field.initial == 0);
    return replaces && field.times == field.by && !field.has_value;
  }
  // So many bytes left through number() in place of dequeue().
  void sent(std::uint64_t bytes) { sent_bytes_ += bytes; }

 private:
  // What one field is measured with.
  struct Meters {
    bool uses = false;
    UseMeter use;
    double used = 0;
    std::vector<Source> sources;  // those that are averaged
    std::vector<SampleMeter> samples;
    std::vector<double> values;
    std::optional<FairRate> fair_rate;
    std::optional<XcpFeedback> feedback;
    std::optional<SenderCount> senders;
    double rate = 0, allowed = 0, counted = 0;  // of these three
    std::optional<ActiveFlows> flows, ranked;   // known by their packets, with the bytes that these say are left
    std::optional<LateNumber> late;
    bool idle = false, of_use_alone = false;  // whether nothing is measured, or the link's use alone
  };

  void pass(const Moment& moment, const Draws& draws, Carried* carried, std::uint64_t* words, bool enqueue) {
    if (carried && (enqueue || !phases_[1])) carried->replaced = 0;
    if (!phases_[enqueue]) return;
    const std::size_t count = stamping_->fields.size();
    const bool writes = carried && !(stamping_->imperfect && lost(draws));
    if (writes && stamping_->formulas_read_fields) arrived_.assign(words, words + count);
    for (std::size_t i = 0; i < count; ++i) {
      const StampedField& field = stamping_->fields[i];
      if (field.at_enqueue != enqueue || !field.writes) continue;
      if (!meters_[i].idle) measure(i, field, moment, draws, carried);
      if (writes) write(i, moment, draws, *carried, words);
    }
  }

  // A field whose number goes into every packet as it leaves, and nothing else does.
  struct SimpleField {
    const StampedField* field;
    std::size_t at;  // its number
    bool idle;       // nothing is measured for it
    double number = std::nan("");
    std::uint64_t code = 0;  // of the number
  };

  // As pass() does at dequeue. Numbers mostly are those of the packet before, and then so are their codes.
  void pass_simple(const Moment& moment, const Draws& draws, Carried* carried, std::uint64_t* words) {
    if (carried) carried->replaced = 0;
    for (SimpleField& simple : simple_fields_) {
      const std::size_t i = simple.at;
      const StampedField& field = *simple.field;
      if (!simple.idle) measure(i, field, moment, draws, carried);
      if (!carried) continue;
      const double number = scaled(field, simple.idle ? instant(meters_[i], field.source, moment, carried)
                                                      : measured(meters_[i], field.source, moment, carried));
      if (number != simple.number) {
        simple.code = field.coding.encode(number);
        simple.number = number;
      }
      combine(i, simple.code, *carried, words);
    }
  }

  // What hops say to senders follows from all packets that come, whether or not they carry the header.
  void arrive(const Moment& m, const Carried* carried) {
    const Told* told = carried ? &carried->told : nullptr;
    for (Meters& meters : meters_) {
      if (meters.fair_rate) meters.fair_rate->arrive(m.arrived, m.size, m.queue_packets, told);
      if (meters.feedback) meters.feedback->arrive(m.arrived, m.size, m.queue_packets, told);
      if (meters.senders && m.data) meters.senders->arrive(m.arrived, gap_said(m.size, told));
    }
  }

  // µs of a packet, as the bits of its field say it.
  double gap_said(double size, const Told* told) const {
    if (!told || !(told->rtt > 0) || !(told->window > 0)) return 0;
    const Coding& coding = stamping_->fields[static_cast<std::size_t>(stamping_->gap)].coding;
    return coding.decode(coding.encode(told->rtt * size / told->window));
  }

  // In the units of lcca.signal_sets.headers.sources, and of this instant; the use of the link is what meters say.
  double instant(const Meters& meters, Source source, const Moment& m, const Carried* carried) const {
    return instant_here(&meters, source, m, carried);
  }
  [[gnu::always_inline]] double instant_here(const Meters* meters, Source source, const Moment& m,
                                             const Carried* carried) const {
    switch (source) {
      case Source::qlen_bytes:
        return m.queue_bytes;
      case Source::qlen_pkts:
        return m.queue_packets;
      case Source::qdelay:
        return std::max(m.start - m.arrived, 0.0) * 1e3;
      case Source::hop_delay:
        return std::max(m.start + m.service - m.arrived, 0.0) * 1e3;
      case Source::tx_bytes:
        return static_cast<double>(sent_bytes_);
      case Source::link_rate:
        return bytes_per_ns_ * 8e9;
      case Source::ts_in:
        return m.arrived * 1e3;
      case Source::ts_out:
        return m.start * 1e3;
      case Source::nqd:
      case Source::drain_time:
        return m.queue_bytes / bytes_per_ns_;
      case Source::mark:
        return m.marked ? *m.marked : marker_.on_dequeue(m.queue_packets);
      case Source::flows:
        return meters && meters->flows ? meters->flows->flows() : flows_;
      case Source::rank:
        return meters && meters->ranked && carried ? meters->ranked->rank(carried->told.bytes_left) : 0;
      case Source::base_rtt:
        return rtt_ * 1e3;
      case Source::hop_count:
        return carried ? carried->hops + 1 : 1;
      default:  // nothing is trimmed
        return 0;
    }
  }

  double measured(const Meters& meters, Source source, const Moment& m, const Carried* carried) const {
    if (of_use(source)) return use(source, meters.used);
    if (source == Source::fair_rate) return meters.rate * bits_per_us_;
    if (source == Source::xcp_feedback) return meters.allowed;
    if (source == Source::senders) return meters.counted;
    for (std::size_t k = 0; k < meters.sources.size(); ++k)
      if (meters.sources[k] == source) return meters.values[k];
    return instant(meters, source, m, carried);
  }

  double use(Source source, double used) const {
    if (source == Source::util) return used;
    const double left = std::max(0.0, 1 - used);
    return source == Source::abw ? rate_ * left * bits_per_us_ : left;
  }

  void measure(std::size_t i, const StampedField& field, const Moment& m, const Draws& draws, const Carried* carried) {
    Meters& meters = meters_[i];
    const double now = field.at_enqueue ? m.arrived : m.start;
    if (meters.uses) meters.used = meters.use.read(now, m.service, m.size);
    if (meters.fair_rate) meters.rate = meters.fair_rate->read(now);
    if (meters.feedback && carried) meters.allowed = meters.feedback->read(now, m.size, &carried->told);
    if (meters.senders) meters.counted = meters.senders->read(now);
    if (meters.flows) {
      meters.flows->advance(now);
      if (m.data) meters.flows->see(flow_of(draws));
    }
    if (meters.ranked) {
      meters.ranked->advance(now);
      if (m.data && carried) meters.ranked->see(draws.sender, carried->told.bytes_left);
    }
    for (std::size_t k = 0; k < meters.sources.size(); ++k)
      meters.values[k] = meters.samples[k].read(now, instant(meters, meters.sources[k], m, carried));
    if (meters.late) read_late(i, now, m, draws, carried);
  }

  // What follows is kept out of the way of headers without imperfections.
  [[gnu::noinline]] void read_late(std::size_t i, double now, const Moment& m, const Draws& draws,
                                   const Carried* carried) {
    const auto nothing = [](std::size_t) { return 0.0; };  // formulas that are late read no fields
    meters_[i].late->advance(now, [&] { return estimate(i, m, draws, carried, nothing); });
  }
  // Whether it writes nothing into this packet.
  [[gnu::noinline]] bool lost(const Draws& draws) const {
    return stamping_->stamp_loss > 0 && stream(Component::stamp_loss, draws).uniform() <= stamping_->stamp_loss;
  }
  Stream stream(Component use, const Draws& draws, std::uint64_t field = 0) const {
    return Stream(draws.seed, draws.network, use, draws.sender, (draws.packet << 24) + (number_ << 8) + field);
  }
  // By which a map knows a flow: senders of a network are few and have the same numbers in all of them.
  [[gnu::noinline]] std::uint64_t flow_of(const Draws& draws) const {
    if (by_packets_) return draws.sender;
    return Stream(draws.seed, draws.network, Component::flow_hash, draws.sender, number_).next();
  }

  void write(std::size_t i, const Moment& m, const Draws& draws, Carried& carried, std::uint64_t* words) {
    const StampedField& field = stamping_->fields[i];
    if (field.only >= 0 && field.only != carried.label) return;
    const auto own = [&](std::size_t f) { return stamping_->fields[f].coding.decode(arrived_[f]); };
    const auto at_once = [&](std::size_t s) {
      const auto source = static_cast<Source>(s);
      return of_use(source) || told(source) ? measured(meters_[i], source, m, &carried)
                                            : instant(meters_[i], source, m, &carried);
    };
    if (stamping_->imperfect && !knows(i, carried)) return;
    if (!field.when.empty() && field.when.value(at_once, own) == 0) return;
    if (field.aggregation == Aggregation::with && !(carried.replaced >> field.follows & 1)) return;
    double draw = 0;
    if (field.coding.rounding == Rounding::stochastic)
      draw = 1 - Stream(draws.seed, draws.network, Component::rounding, draws.sender,
                        (draws.packet << 16) + (carried.hops << 8) + i)
                     .uniform();
    const double number = stamping_->imperfect ? imperfect(i, m, draws, carried, own) : local(i, m, &carried, own);
    combine(i, field.coding.encode(number, draw), carried, words);
  }

  // Whether it has a number, and its say on the field.
  [[gnu::noinline]] bool knows(std::size_t i, Carried& carried) const {
    if (meters_[i].late && !meters_[i].late->known()) {
      if (stamping_->fields[i].aggregation == Aggregation::per_hop) leave_out(carried);
      return false;
    }
    carried.known |= std::uint64_t{1} << i;
    return true;
  }

  template <class Own>
  [[gnu::noinline]] double imperfect(std::size_t i, const Moment& m, const Draws& draws, const Carried& carried,
                                     const Own& own) const {
    const std::optional<LateNumber>& late = meters_[i].late;
    return late ? late->value() : estimate(i, m, draws, &carried, own);
  }

  // The records that the hop has no number for.
  void leave_out(Carried& carried) const {
    if (carried.hops < stamping_->max_hops) carried.missing |= std::uint64_t{1} << carried.hops;
  }

  template <class Own>
  double estimate(std::size_t i, const Moment& m, const Draws& draws, const Carried* carried, const Own& own) const {
    const double number = local(i, m, carried, own);
    const Imprecision& imprecision = stamping_->fields[i].imprecision;
    return imprecision.estimates() ? imprecision.of(number, stream(Component::estimation, draws, i)) : number;
  }

  template <class Own>
  double local(std::size_t i, const Moment& m, const Carried* carried, const Own& own) const {
    const StampedField& field = stamping_->fields[i];
    if (field.source == Source::formula) return scaled(field, derived(i, m, carried, own));
    if (field.source == Source::constant) return field.value;
    const double value = measured(meters_[i], field.source, m, carried);
    if (field.source == Source::mark && field.has_value)
      return value != 0 || !field.when.empty() ? field.value : field.coding.decode(field.initial);
    return scaled(field, value);
  }

  // What a formula makes.
  template <class Own>
  double derived(std::size_t i, const Moment& m, const Carried* carried, const Own& own) const {
    const auto source = [&](std::size_t s) { return measured(meters_[i], static_cast<Source>(s), m, carried); };
    return stamping_->fields[i].formula.value(source, own);
  }

  static double scaled(const StampedField& field, double value) {
    return field.times == field.by ? value : value * field.times / field.by;
  }

  void combine(std::size_t i, std::uint64_t local, Carried& carried, std::uint64_t* words) const {
    if (stamping_->fields[i].aggregation == Aggregation::per_hop) {
      if (std::uint64_t* at = record(i, carried.hops, words)) *at = local;
      if (stamping_->overwrites) carried.missing &= ~(std::uint64_t{1} << carried.hops % stamping_->max_hops);
      return;
    }
    merge(i, local, carried, words[stamping_->place[i]]);
  }

  [[gnu::always_inline]] void merge(std::size_t i, std::uint64_t local, Carried& carried, std::uint64_t& code) const {
    const StampedField& field = stamping_->fields[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
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

  static bool of_use(Source s) { return s == Source::util || s == Source::abw || s == Source::abw_over_c; }
  static bool averaged(Source s) {
    return s <= Source::hop_delay || s == Source::nqd || s == Source::drain_time || s == Source::mark ||
           s == Source::flows;
  }

  void add_meters(const StampedField& field, const Model& model, double rtt) {
    const double own = field.rtts > 0 ? std::max(field.rtts * rtt, 1 / rate_) : 0;
    const double interval = field.interval > 0 ? field.interval : own;
    Meters meters{false, UseMeter(field.window, interval, model, rate_), 0, {}, {}, {}, {}, {}, {}, 0, 0, 0, {}, {},
                  {}};
    if (field.imprecision.late()) meters.late.emplace(field.imprecision);
    const bool window = field.window == Window::tumbling || field.window == Window::ewma;
    const auto add = [&](Source s, bool average) {
      meters.uses |= of_use(s);
      if (s == Source::fair_rate) meters.fair_rate.emplace(field.gains, rate_, rtt);
      if (s == Source::xcp_feedback) meters.feedback.emplace(field.gains, rate_, rtt);
      if (s == Source::senders) meters.senders.emplace(interval > 0 ? interval : std::max(rtt, 1 / rate_));
      told_ |= told(s);
      const bool count = s == Source::flows && (by_packets_ || field.window == Window::aged);
      if (count || s == Source::rank)
        (count ? meters.flows : meters.ranked).emplace(memory(field), !count, aging(field, interval));
      if (!average || !averaged(s) || std::ranges::count(meters.sources, s)) return;
      meters.sources.push_back(s);
      meters.samples.emplace_back(field.window, interval);
      meters.values.push_back(0);
    };
    if (field.writes && field.source < Source::constant) add(field.source, window);
    for (const Formula* formula : {&field.formula, &field.when})
      for (const Formula::Step& step : formula->steps())
        if (step.op == Formula::Op::source) add(static_cast<Source>(step.value), window && formula == &field.formula);
    const bool other = !meters.sources.empty() || meters.fair_rate || meters.feedback || meters.senders ||
                       meters.flows || meters.ranked || meters.late;
    meters.idle = !other && !meters.uses;
    meters.of_use_alone = !other && meters.uses;
    meters_.push_back(std::move(meters));
    if (field.writes) phases_[field.at_enqueue] = true;
  }

  static int memory(const StampedField& field) {
    return field.memory_bits < 0 ? ActiveFlows::usual_bits : field.memory_bits;
  }
  // µs; flows are remembered for a base RTT, or what a window says.
  double aging(const StampedField& field, double interval) const {
    return field.window == Window::aged ? interval : std::max(rtt_, 1 / rate_);
  }

  const Stamping* stamping_;
  double rate_;  // packets/µs
  double rtt_;   // µs
  bool by_packets_;
  std::uint64_t number_;
  StepMarker marker_;
  double bytes_per_ns_;  // of the link
  double bits_per_us_;   // × 1e6 of one packet/µs: bit/s
  int flows_ = 0;
  std::uint64_t sent_bytes_ = 0;
  bool phases_[2] = {false, false};  // whether something is written at dequeue, at enqueue
  bool told_ = false;                // whether it says a rate or a change of the window
  bool simple_ = false;              // whether all fields are
  std::vector<SimpleField> simple_fields_;
  std::vector<Meters> meters_;          // per field
  std::vector<std::uint64_t> arrived_;  // codes as the packet brought them, for formulas
};

}  // namespace remy_plus
