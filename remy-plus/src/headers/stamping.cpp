#include "remy_plus/headers/stamping.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace remy_plus {
namespace {

// Measured at this instant as the packet leaves, from what Moment knows without bytes.
bool is_instant(const StampedField& field) {
  static constexpr Source sources[] = {Source::qdelay, Source::hop_delay, Source::link_rate,   Source::mark,
                                       Source::flows,  Source::fair_rate, Source::xcp_feedback};
  return std::ranges::count(sources, field.source) && field.window == Window::instant && !field.at_enqueue;
}

// Any number that one hop writes replaces what the sender wrote, and is read as it is.
bool is_exact(const StampedField& field) {
  constexpr auto largest = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::max());
  const bool replaced = (field.aggregation == Aggregation::max && field.initial == 0) ||
                        (field.aggregation == Aggregation::min && field.initial == largest);
  return field.coding.kind == Coding::Kind::exact && replaced && field.formula.empty() && field.when.empty() &&
         !field.has_value && field.only < 0 && field.writes && !field.imprecision.any() && is_instant(field);
}

bool is_exact(const Reading& reading) {
  const bool known =
      reading.kind == Reading::Kind::value || (reading.kind == Reading::Kind::mark && reading.marked < 0);
  return known && reading.count < 0 && !reading.rest;
}

bool is_zero(const std::vector<std::uint32_t>& bytes) {
  return std::ranges::all_of(bytes, [](std::uint32_t b) { return b == 0; });
}

bool is_exact(const Stamping& s) {
  const bool always =
      s.probability >= 1 && s.every_packets == 1 && s.every_us == 0 && s.labels.empty() && s.stamp_loss == 0;
  return s.plain && always && is_zero(s.sent_bytes) && is_zero(s.reflected_bytes) &&
         std::ranges::all_of(s.fields, [](const StampedField& field) { return is_exact(field); }) &&
         std::ranges::all_of(s.readings, [](const Reading& reading) { return is_exact(reading); });
}

}  // namespace

void Stamping::prepare() {
  const auto fail = [this](const char* what) { throw std::invalid_argument("header " + name + ": " + what); };
  if (fields.size() > 64) fail("more than 64 fields");
  if (sent_bytes.empty() || reflected_bytes.empty() || packet_bytes == 0) fail("bytes are missing");
  if (every_packets == 0 || !(probability > 0)) fail("no packet would carry it");
  const auto count = static_cast<int>(fields.size());
  record = 0;
  place.clear();
  left = -1;
  ranks = unsaid = false;
  if (!(stamp_loss >= 0 && stamp_loss < 1)) fail("stamps are lost with a probability from 0 to below 1");
  gaps = imperfect = stamp_loss > 0;
  for (const StampedField& field : fields) {
    if (field.source == Source::bytes_left && !field.writes) left = static_cast<int>(&field - fields.data());
    ranks |= field.writes && field.source == Source::rank;
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
      }
  }
  for (Reading& reading : readings) {
    if (reading.per_packet) reading.factor /= packet_bytes;
    reading.per_packet = false;
    for (const int field : {reading.field, reading.count, reading.rate, reading.time})
      if (field >= count) fail("a signal is read from a field that is not there");
  }
  if (ranks && left < 0) fail("a rank needs a field in which senders say the bytes left");
  if (gaps && max_hops > 64) fail("more than 64 records, of which some may be left out");
  words = fields.size() + max_hops * record;
  exact = is_exact(*this);
}

}  // namespace remy_plus
