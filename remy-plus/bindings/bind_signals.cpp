#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "remy_plus/headers/active_flows.hpp"
#include "remy_plus/headers/explicit_rate.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

namespace {

const char* words(Smoothing smoothing) {
  switch (smoothing) {
    case Smoothing::none:
      return "none";
    case Smoothing::fast:
      return "EWMA, weight 1/8";
    case Smoothing::slow:
      return "EWMA, weight 1/256";
    case Smoothing::of_parts:
      return "that of its parts";
    case Smoothing::acks_128:
      return "EWMA, weight 1/128";
    case Smoothing::rtts_2:
      return "EWMA over 2 RTTs";
    case Smoothing::rtts_8:
      return "EWMA over 8 RTTs";
  }
  return "";
}

constexpr const char* forms[] = {"level", "excess", "ratio", "utilisation", "rare", "even"};

nb::dict dict_of(const SignalRow& row) {
  const bool in_network = row.carried != signal_count;
  nb::dict d;
  d["name"] = std::string(row.name);
  d["label"] = std::string(row.label);
  d["unit"] = std::string(row.unit);
  d["smoothing"] = words(row.smoothing);
  d["largest"] = row.scale.divisor == 0 ? 1.0 : signal_ceiling;
  d["scale_unit"] = row.scale.unit;
  d["scale_divisor"] = row.scale.divisor;
  d["form"] = forms[static_cast<int>(row.form)];
  d["of_hosts"] = row.signal >= network_signals;
  d["carried"] = in_network ? nb::cast(std::string(signal_table[row.carried].name)) : nb::none();
  d["field"] = in_network ? nb::cast(std::string(signal_table[row.carried].field)) : nb::none();
  return d;
}

// alpha, beta, portion, interval (µs)
nb::tuple tuple_of(const RateGains& gains) {
  return nb::make_tuple(gains.alpha, gains.beta, gains.portion, gains.interval);
}

nb::list table() {
  nb::list rows;
  for (const SignalRow& row : signal_table) rows.append(dict_of(row));
  return rows;
}

}  // namespace

void bind_signals(nb::module_& m) {
  m.def("signal_table", &table, "A row per signal in engine order; see lcca.remy_plus.core.signals.");
  m.attr("SIGNAL_CEILING") = signal_ceiling;
  m.attr("OWN_SIGNAL") = static_cast<std::size_t>(own_signal);
  m.attr("MOST_OWN_SIGNALS") = most_own_signals;
  m.attr("RCP_GAINS") = tuple_of(rcp_gains);
  m.attr("XCP_GAINS") = tuple_of(xcp_gains);
  m.attr("COUNT_BITS") = ActiveFlows::usual_bits;
  m.attr("RANK_BUCKETS") = AgingBuckets::count;
  m.attr("RANK_CELL_BITS") = AgingBuckets::cell_bits;
}

}  // namespace remy_plus::bindings
