#include "remy_plus/headers/stamping.hpp"

#include <algorithm>
#include <stdexcept>

namespace remy_plus {
namespace {

bool as_it_leaves(const StampedField& field) {
  const bool scalar = field.aggregation != Aggregation::with && field.aggregation != Aggregation::per_hop;
  return field.writes && scalar && !field.at_enqueue && field.only < 0 && field.coding.rounding != Rounding::stochastic;
}

bool is_instant(const Formula::Step& step) {
  return step.op != Formula::Op::field &&
         (step.op != Formula::Op::source || source_table[static_cast<std::size_t>(step.value)].instant);
}

// A number that hops make of what they know, or a formula over such numbers and no field.
bool is_of_hop(const StampedField& field) {
  if (field.source != Source::formula) return field.simple();
  return as_it_leaves(field) && field.when.empty() && !field.has_value &&
         std::ranges::none_of(field.formula.steps(), [](const auto& step) { return step.op == Formula::Op::field; });
}

// Numbers of flows that are averaged also depend on when packets are looked at that are lost behind the hop.
bool is_alike(const StampedField& field) {
  const bool averaged = field.window == Window::tumbling || field.window == Window::ewma;
  if (!field.writes || field.marks()) return !field.imprecision.any();
  return is_of_hop(field) && !field.imprecision.any() && !field.coding.has_invalid &&
         field.coding.kind != Coding::Kind::listed && !(averaged && field.takes(Source::flows));
}

bool is_alike(const Stamping& s) {
  const bool always = s.probability >= 1 && s.every_packets == 1 && s.every_us == 0;
  const auto of_field = [&](const Reading& reading) {
    const StampedField& field = s.fields[static_cast<std::size_t>(reading.field)];
    // A number, of every code; those that no hop writes to included.
    const bool says = !field.coding.has_invalid && (field.coding.kind != Coding::Kind::listed || reading.marked >= 0);
    return reading.kind != Reading::Kind::throughput && reading.count < 0 && says &&
           field.aggregation != Aggregation::per_hop;
  };
  return always && s.labels.empty() && !s.imperfect &&
         std::ranges::all_of(s.fields, [](const StampedField& field) { return is_alike(field); }) &&
         std::ranges::all_of(s.readings, of_field);
}

}  // namespace

bool StampedField::takes(Source number) const {
  return source == number || std::ranges::any_of(formula.steps(), [number](const Formula::Step& step) {
           return step == Formula::Step{Formula::Op::source, double(number)};
         });
}

bool StampedField::simple() const {
  return as_it_leaves(*this) && when.empty() && !has_value && source < Source::constant;
}

bool StampedField::marks() const {
  return as_it_leaves(*this) && window == Window::instant && source == Source::mark && has_value && !when.empty() &&
         !coding.has_invalid && std::ranges::all_of(when.steps(), is_instant);
}

void Stamping::prepare() {
  const auto fail = [this](const char* what) { throw std::invalid_argument("header " + name + ": " + what); };
  if (fields.size() > 64) fail("more than 64 fields");
  if (sent_bytes.empty() || reflected_bytes.empty() || packet_bytes == 0) fail("bytes are missing");
  if (every_packets == 0 || !(probability > 0)) fail("no packet would carry it");
  const auto count = static_cast<int>(fields.size());
  record = 0;
  place.clear();
  left = gap = -1;
  ranks = unsaid = false;
  bool counts = false;
  if (!(stamp_loss >= 0 && stamp_loss < 1)) fail("stamps are lost with a probability from 0 to below 1");
  gaps = imperfect = stamp_loss > 0;
  for (const StampedField& field : fields) {
    if (field.source == Source::bytes_left && !field.writes) left = static_cast<int>(&field - fields.data());
    if (field.source == Source::gap && !field.writes) gap = static_cast<int>(&field - fields.data());
    ranks |= field.writes && field.source == Source::rank;
    counts |= field.writes && field.source == Source::senders;
    if (field.follows >= count) fail("a field follows one that is not there");
    if (field.aggregation == Aggregation::with && field.follows < 0) fail("with names no field");
    if (field.aggregation == Aggregation::per_hop && max_hops == 0) fail("records need room for hops");
    if ((field.window == Window::tumbling || field.window == Window::ewma) && !(field.interval > 0 || field.rtts > 0))
      fail("the window of a field needs an interval");
    gaps |= field.imprecision.late();
    unsaid |= field.aggregation == Aggregation::per_hop && (!field.when.empty() || field.only >= 0);
    imperfect |= field.imprecision.any();
    if (field.imprecision.late() && overwrites) fail("records that overwrite others cannot be written late");
    place.push_back(field.aggregation == Aggregation::per_hop ? record++ : place.size());
    for (const Formula* formula : {&field.formula, &field.when})
      for (const Formula::Step& step : formula->steps()) {
        if (step.op == Formula::Op::field && !(step.value < count)) fail("a formula names a field that is not there");
        formulas_read_fields |= step.op == Formula::Op::field;
        if (step.op == Formula::Op::field && formula == &field.formula && field.imprecision.late())
          fail("a formula of what a packet brings cannot be written late");
        ranks |= step.op == Formula::Op::source && step.value == static_cast<double>(Source::rank);
        counts |= step.op == Formula::Op::source && step.value == static_cast<double>(Source::senders);
      }
  }
  for (Reading& reading : readings) {
    if (reading.per_packet) reading.factor /= packet_bytes;
    reading.per_packet = false;
    for (const int field : {reading.field, reading.count, reading.rate, reading.time})
      if (field >= count) fail("a signal is read from a field that is not there");
  }
  if (ranks && left < 0) fail("a rank needs a field in which senders say the bytes left");
  if (counts && gap < 0) fail("a number of senders needs a field in which they say their gap");
  if (gaps && max_hops > 64) fail("more than 64 records, of which some may be left out");
  words = fields.size() + max_hops * record;
  alike = is_alike(*this);
}

}  // namespace remy_plus
