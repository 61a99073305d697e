#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "arrays.hpp"
#include "model_state.hpp"
#include "remy_plus/batch/observers.hpp"
#include "remy_plus/headers/stamping.hpp"
#include "remy_plus/workload/script.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

const Policy& policy_of(nb::handle handle);
std::shared_ptr<const Stamping> header_of(nb::handle handle);

namespace {

template <class P>
std::vector<TraceRow> traced(const Network& network, const Model& model, const P& policy, std::uint64_t seed,
                             double duration, const Stamping* header) {
  const RuleTable* table = nullptr;
  if constexpr (std::is_same_v<P, RuleTable>) table = &policy;
  TraceObserver observer(table);
  Workspace space;
  run_simulation(network, model, policy, seed, duration, space, observer, header);
  return observer.rows;
}

void require_duration(double us) {
  if (!(us > 0) || us == never) throw std::invalid_argument("duration must be > 0 µs and finite");
}

nb::dict trace(nb::handle policy, Network network, std::uint64_t seed, double duration, const nb::dict& options,
               const std::vector<std::vector<double>>& script) {
  const Model model = model_from(options);
  require_duration(duration);
  const auto measured = static_cast<std::size_t>(network.senders);
  if (!script.empty() && script.size() != measured && script.size() != network.all_senders())
    throw std::invalid_argument("a script needs one list of switch times per sender");
  if (!script.empty()) network.workload = std::make_shared<Script>(script);
  const auto header = header_of(policy);
  const std::vector<TraceRow> rows =
      std::visit([&](const auto& p) { return traced(network, model, of_trial(p), seed, duration, header.get()); },
                 policy_of(policy));
  nb::dict out;
  out["now_us"] = column<double>(rows, [](const TraceRow& r) { return r.now; });
  out["sent_us"] = column<double>(rows, [](const TraceRow& r) { return r.sent; });
  out["sender"] = column<std::int32_t>(rows, [](const TraceRow& r) { return r.sender; });
  out["flow"] = column<std::int32_t>(rows, [](const TraceRow& r) { return r.flow; });
  out["sequence"] = column<std::int64_t>(rows, [](const TraceRow& r) { return r.sequence; });
  out["stamp_queue"] = column<std::int64_t>(rows, [](const TraceRow& r) { return r.queue; });
  out["stamp_link"] = column<double>(rows, [](const TraceRow& r) { return r.link; });
  out["rule"] = column<std::int64_t>(rows, [](const TraceRow& r) { return r.rule; });
  out["window_packets"] = column<double>(rows, [](const TraceRow& r) { return r.window; });
  out["gap_us"] = column<double>(rows, [](const TraceRow& r) { return r.gap; });
  out["acknowledged"] = column<std::int64_t>(rows, [](const TraceRow& r) { return r.acknowledged; });
  out["packets_sent"] = column<std::int64_t>(rows, [](const TraceRow& r) { return r.packets_sent; });
  out["on"] = column<std::uint8_t>(rows, [](const TraceRow& r) { return r.on; });
  out["current"] = column<std::uint8_t>(rows, [](const TraceRow& r) { return r.current; });
  for (std::size_t s = 0; s < network_signals; ++s)
    out[std::string(signal_table[s].name).c_str()] =
        column<double>(rows, [s](const TraceRow& r) { return r.signals[s]; });
  const auto own = std::visit([](const auto& p) { return own_of(p); }, policy_of(policy));
  for (std::size_t i = 0; own && i < own->all().size(); ++i)
    out[own->all()[i].name.c_str()] =
        column<double>(rows, [i](const TraceRow& r) { return r.signals[own_signal + i]; });
  return out;
}

nb::tuple look_ups(nb::handle policy, const std::vector<Network>& networks, std::uint64_t seed, double duration,
                   const nb::dict& options, const std::vector<std::string>& axes, std::size_t every) {
  const Model model = model_from(options);
  require_duration(duration);
  const auto* table = std::get_if<RuleTable>(&policy_of(policy));
  if (!table) throw std::invalid_argument("only rule tables have look-ups");
  if (every == 0) throw std::invalid_argument("every must be > 0");
  std::vector<Signal> signals;
  for (const std::string& axis : axes) {
    signals.push_back(signal_by_name(axis, table->own.get()));
    if (!(table->wanted & bit(signals.back()))) throw std::invalid_argument("the table does not look at " + axis);
  }
  const auto header = header_of(policy);
  LookUps kept;
  Workspace space;
  for (const Network& network : networks) {
    LookUpObserver observer(*table, signals, every, kept);
    run_simulation(network, model, *table, seed, duration, space, observer, header.get());
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  const std::size_t rows = kept.rules.size();
  return nb::make_tuple(to_numpy(std::move(kept.rules)), to_numpy(std::move(kept.values), {rows, axes.size()}));
}

}  // namespace

void bind_trace(nb::module_& m) {
  m.def("trace", &trace, "policy"_a, "network"_a, "seed"_a, nb::kw_only(), "duration"_a, "model"_a, "script"_a,
        "One trial with a row per feedback. `script`: switch times (on, off, on, …) per sender, or [] for random ones. "
        "Senders that are not measured show in no row; a script for the measured ones alone leaves the others off.");
  m.def(
      "look_ups", &look_ups, "policy"_a, "networks"_a, "seed"_a, nb::kw_only(), "duration"_a, "model"_a, "axes"_a,
      "every"_a,
      "One trial of a rule table on each network: (n,) rules, and (n, axes) what they saw in single precision, of one "
      "in `every` look-ups at feedback of current flows.");
}

}  // namespace remy_plus::bindings
