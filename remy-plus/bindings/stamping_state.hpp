// A header from the plain values of lcca.remy_plus.core.stamping.Stamping.content().
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remy_plus/headers/stamping.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

template <class T>
T value_of(const nb::dict& d, const char* key) {
  if (!d.contains(key)) throw std::invalid_argument(std::string("a header lacks ") + key);
  return nb::cast<T>(d[key]);
}

template <class E>
E named(const std::string& name, const std::map<std::string, E>& known, const char* what) {
  const auto at = known.find(name);
  if (at == known.end()) throw std::invalid_argument(std::string("unknown ") + what + " '" + name + "'");
  return at->second;
}

inline Coding coding_from(const nb::dict& d) {
  using Kind = Coding::Kind;
  Coding coding;
  coding.kind = named<Kind>(value_of<std::string>(d, "kind"),
                            {{"linear", Kind::linear},
                             {"grid", Kind::grid},
                             {"float", Kind::floating},
                             {"enum", Kind::listed},
                             {"flag", Kind::flag},
                             {"exact", Kind::exact}},
                            "encoding");
  coding.bits = value_of<int>(d, "bits");
  coding.base = value_of<double>(d, "base");
  coding.step = value_of<double>(d, "step");
  coding.has_largest = !d["largest"].is_none();
  if (coding.has_largest) coding.largest = value_of<double>(d, "largest");
  coding.mantissa = value_of<int>(d, "mantissa");
  coding.numbers = value_of<std::vector<double>>(d, "numbers");
  coding.codes = value_of<std::vector<std::uint64_t>>(d, "codes");
  coding.rounding = named<Rounding>(value_of<std::string>(d, "rounding"),
                                    {{"floor", Rounding::floor},
                                     {"ceil", Rounding::ceil},
                                     {"nearest", Rounding::nearest},
                                     {"stochastic", Rounding::stochastic}},
                                    "rounding");
  coding.wraps = value_of<bool>(d, "wraps");
  coding.has_invalid = !d["invalid"].is_none();
  if (coding.has_invalid) coding.invalid = value_of<std::uint64_t>(d, "invalid");
  coding.nearest = value_of<bool>(d, "nearest");
  coding.prepare();
  return coding;
}

inline Source source_from(const std::string& name) {
  const auto at = std::ranges::find(source_table, name, &SourceRow::name);
  if (at == source_table.end()) throw std::invalid_argument("hops cannot write '" + name + "'");
  const auto index = static_cast<std::size_t>(at - source_table.begin());
  return index < source_count ? static_cast<Source>(index) : index == source_count ? Source::constant : Source::formula;
}

// What the steps of a formula are called, in the order of Formula::Op.
inline constexpr std::array<std::string_view, 23> operator_names = {
    "number", "source", "field", "+",   "-",  "*",   "/",   "//",  "%",   "<",     "<=",  ">",
    ">=",     "==",     "!=",    "and", "or", "min", "max", "neg", "not", "floor", "ceil"};

// A formula in postfix order; `source` gives the number of a source by its name.
template <class Numbered>
Formula formula_from(const nb::handle& tokens, const Numbered& source) {
  using Op = Formula::Op;
  std::vector<Formula::Step> steps;
  for (nb::handle token : tokens) {
    const auto kind = nb::cast<std::string>(token[0]);
    const auto at = std::find(operator_names.begin(), operator_names.end(), kind);
    if (at == operator_names.end()) throw std::invalid_argument("unknown operator '" + kind + "'");
    const auto op = static_cast<Op>(at - operator_names.begin());
    if (op == Op::source)
      steps.push_back({op, static_cast<double>(source(nb::cast<std::string>(token[1])))});
    else
      steps.push_back({op, op > Op::field ? 0 : nb::cast<double>(token[1])});
  }
  return Formula(std::move(steps));
}

inline Formula formula_from(const nb::handle& tokens) {
  return formula_from(tokens, [](const std::string& name) {
    const auto source = static_cast<std::size_t>(source_from(name));
    if (source >= source_count) throw std::invalid_argument("a formula can only have what hops measure");
    return source;
  });
}

inline StampedField field_from(const nb::dict& d) {
  using A = Aggregation;
  StampedField field;
  field.source = source_from(value_of<std::string>(d, "source"));
  field.coding = coding_from(value_of<nb::dict>(d, "coding"));
  field.aggregation = named<A>(value_of<std::string>(d, "agg"),
                               {{"min", A::min},
                                {"max", A::max},
                                {"sum", A::sum},
                                {"last", A::last},
                                {"first", A::first},
                                {"or", A::either},
                                {"and", A::both},
                                {"count", A::count},
                                {"per_hop", A::per_hop},
                                {"with", A::with}},
                               "aggregation");
  field.formula = formula_from(d["formula"]);
  field.when = formula_from(d["when"]);
  field.has_value = !d["value"].is_none();
  if (field.has_value) field.value = value_of<double>(d, "value");
  const auto scale = value_of<std::vector<double>>(d, "scale");
  field.times = scale.at(0);
  field.by = scale.at(1);
  field.window = named<Window>(value_of<std::string>(d, "window"),
                               {{"instant", Window::instant},
                                {"rolling", Window::rolling},
                                {"tumbling", Window::tumbling},
                                {"ewma", Window::ewma},
                                {"counter", Window::counter},
                                {"aged", Window::aged}},
                               "window");
  field.interval = value_of<double>(d, "interval");
  if (d.contains("rtts")) field.rtts = value_of<double>(d, "rtts");
  if (d.contains("memory_bits")) field.memory_bits = value_of<int>(d, "memory_bits");
  const auto gains = value_of<std::vector<double>>(d, "gains");
  for (const auto& [key, number] : {std::pair{"refresh", &field.imprecision.refresh},
                                    {"delay", &field.imprecision.delay},
                                    {"bias", &field.imprecision.bias},
                                    {"noise", &field.imprecision.noise},
                                    {"shift", &field.imprecision.shift},
                                    {"shift_noise", &field.imprecision.shift_noise}})
    if (d.contains(key)) *number = value_of<double>(d, key);
  field.gains = {gains.at(0), gains.at(1), gains.at(2), gains.at(3)};
  field.at_enqueue = value_of<std::string>(d, "at") == "enqueue";
  field.follows = value_of<int>(d, "follows");
  field.initial = value_of<std::uint64_t>(d, "init");
  field.only = value_of<int>(d, "only");
  field.writes = value_of<bool>(d, "writes");
  return field;
}

inline Reading reading_from(const nb::dict& d) {
  Reading reading;
  reading.signal = signal_by_name(value_of<std::string>(d, "signal"));
  reading.kind = named<Reading::Kind>(
      value_of<std::string>(d, "kind"),
      {{"value", Reading::Kind::value}, {"mark", Reading::Kind::mark}, {"throughput", Reading::Kind::throughput}},
      "reading");
  reading.field = value_of<int>(d, "field");
  reading.count = value_of<int>(d, "count");
  reading.rate = value_of<int>(d, "rate");
  reading.time = value_of<int>(d, "time");
  reading.rest = value_of<bool>(d, "rest");
  reading.least = value_of<std::string>(d, "over_hops") == "min";
  reading.marked = value_of<std::int64_t>(d, "marked");
  reading.factor = value_of<double>(d, "factor");
  reading.per_packet = value_of<bool>(d, "per_packet");
  const auto factors = value_of<std::vector<double>>(d, "factors");
  reading.rate_factor = factors.at(0);
  reading.time_factor = factors.at(1);
  return reading;
}

inline Stamping stamping_from(const nb::dict& d) {
  using Turns = Stamping::Turns;
  Stamping stamping;
  stamping.name = value_of<std::string>(d, "name");
  stamping.packet_bytes = value_of<std::uint32_t>(d, "packet_bytes");
  for (nb::handle field : d["fields"]) stamping.fields.push_back(field_from(nb::cast<nb::dict>(field)));
  for (nb::handle reading : d["readings"]) stamping.readings.push_back(reading_from(nb::cast<nb::dict>(reading)));
  stamping.two_way = value_of<bool>(d, "two_way");
  stamping.sent_bytes = value_of<std::vector<std::uint32_t>>(d, "sent_bytes");
  stamping.reflected_bytes = value_of<std::vector<std::uint32_t>>(d, "reflected_bytes");
  stamping.max_hops = value_of<std::uint32_t>(d, "max_hops");
  stamping.overwrites = value_of<bool>(d, "overwrites");
  stamping.labels = value_of<std::vector<int>>(d, "labels");
  stamping.turns =
      named<Turns>(value_of<std::string>(d, "turns"),
                   {{"fixed", Turns::fixed}, {"round_robin", Turns::round_robin}, {"random", Turns::random}}, "policy");
  stamping.probability = value_of<double>(d, "probability");
  stamping.every_packets = value_of<std::uint32_t>(d, "every_packets");
  stamping.every_us = value_of<double>(d, "every_us");
  if (d.contains("stamp_loss")) stamping.stamp_loss = value_of<double>(d, "stamp_loss");
  stamping.plain = value_of<bool>(d, "plain");
  stamping.prepare();
  return stamping;
}

}  // namespace remy_plus::bindings
