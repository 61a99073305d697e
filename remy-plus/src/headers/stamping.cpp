#include "remy_plus/headers/stamping.hpp"

#include <stdexcept>

namespace remy_plus {

void Stamping::prepare() {
  const auto fail = [this](const char* what) { throw std::invalid_argument("header " + name + ": " + what); };
  if (fields.size() > 64) fail("more than 64 fields");
  if (sent_bytes.empty() || reflected_bytes.empty() || packet_bytes == 0) fail("bytes are missing");
  if (every_packets == 0 || !(probability > 0)) fail("no packet would carry it");
  const auto count = static_cast<int>(fields.size());
  record = 0;
  place.clear();
  for (const StampedField& field : fields) {
    if (field.follows >= count) fail("a field follows one that is not there");
    if (field.aggregation == Aggregation::with && field.follows < 0) fail("with names no field");
    if (field.aggregation == Aggregation::per_hop && max_hops == 0) fail("records need room for hops");
    if ((field.window == Window::tumbling || field.window == Window::ewma) && !(field.interval > 0))
      fail("the window of a field needs an interval");
    place.push_back(field.aggregation == Aggregation::per_hop ? record++ : place.size());
    for (const Formula* formula : {&field.formula, &field.when})
      for (const Formula::Step& step : formula->steps()) {
        if (step.op == Formula::Op::field && !(step.value < count)) fail("a formula names a field that is not there");
        formulas_read_fields |= step.op == Formula::Op::field;
      }
  }
  for (Reading& reading : readings) {
    if (reading.per_packet) reading.factor /= packet_bytes;
    reading.per_packet = false;
    for (const int field : {reading.field, reading.count, reading.rate, reading.time})
      if (field >= count) fail("a signal is read from a field that is not there");
  }
  words = fields.size() + max_hops * record;
}

}  // namespace remy_plus
