#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "arrays.hpp"
#include "model_state.hpp"
#include "remy_plus/batch/batch.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

const Policy& policy_of(nb::handle handle);
std::shared_ptr<const Stamping> header_of(nb::handle handle);

namespace {

template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Lets Python see a pending Ctrl-C while the threads work; the exception is raised after they stopped.
bool keep_going() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() == 0;
}

std::vector<Policy> policies_of(const nb::list& handles) {
  std::vector<Policy> policies;
  for (nb::handle handle : handles) policies.push_back(policy_of(handle));
  return policies;
}

std::vector<std::shared_ptr<const Stamping>> headers_of(const nb::list& handles) {
  std::vector<std::shared_ptr<const Stamping>> headers;
  for (nb::handle handle : handles) headers.push_back(header_of(handle));
  return headers;
}

std::vector<Trial> trials_of(const Values<std::uint32_t>& policy, const Values<std::uint32_t>& network,
                             const Values<std::uint64_t>& seed) {
  if (network.shape(0) != policy.shape(0) || seed.shape(0) != policy.shape(0))
    throw std::invalid_argument("policy_index, network_index and seed must have one entry per trial");
  std::vector<Trial> trials(policy.shape(0));
  for (std::size_t i = 0; i < trials.size(); ++i) trials[i] = {policy.data()[i], network.data()[i], seed.data()[i]};
  return trials;
}

nb::object begins(const std::vector<std::size_t>& begin) {
  return column<std::int64_t>(begin, [](std::size_t x) { return x; });
}

void add_trials(nb::dict& out, const BatchResult& r, bool delays) {
  add_columns(out, "trial_", r.trials, trial_columns);
  if (!delays) return;
  add_columns(out, "trial_", r.trials, trial_delay_columns);
  for (std::size_t i = 0; i < std::size(delay_quantile_names); ++i)
    out[("trial_" + std::string(delay_quantile_names[i])).c_str()] =
        column<double>(r.trials, [i](const TrialTotals& t) { return t.delay_quantiles[i]; });
}

// (senders, phases)
nb::object by_phase(const std::vector<PhaseTotals>& rows, std::array<double, phase_count> PhaseTotals::* member) {
  std::vector<double> values;
  values.reserve(rows.size() * phase_count);
  for (const PhaseTotals& row : rows) values.insert(values.end(), (row.*member).begin(), (row.*member).end());
  return to_numpy(std::move(values), {rows.size(), phase_count});
}

BatchResult run_released(const std::vector<Policy>& policies, const std::vector<Network>& networks,
                         const std::vector<Trial>& trials, const BatchOptions& options) {
  try {
    const nb::gil_scoped_release release;
    return run_batch(policies, networks, trials, options, keep_going);
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

nb::dict run(const nb::list& policies, const std::vector<Network>& networks, const Values<std::uint32_t>& policy_index,
             const Values<std::uint32_t>& network_index, const Values<std::uint64_t>& seed, double duration,
             const nb::dict& model, unsigned jobs, bool keep_delays, bool keep_flows, bool keep_rule_hits,
             bool keep_links, const std::vector<double>& phase_round_trips) {
  BatchOptions options;
  options.phase_round_trips = phase_round_trips;
  options.duration = duration;
  options.model = model_from(model);
  options.headers = headers_of(policies);
  options.jobs = std::max(jobs, 1u);
  options.keep_delays = keep_delays;
  options.keep_flows = keep_flows;
  options.keep_rule_hits = keep_rule_hits;
  options.keep_links = keep_links;
  BatchResult result =
      run_released(policies_of(policies), networks, trials_of(policy_index, network_index, seed), options);
  nb::dict out;
  out["sender_begin"] = begins(result.sender_begin);
  add_columns(out, "sender_", result.senders, sender_columns);
  add_trials(out, result, keep_delays);
  if (!phase_round_trips.empty()) {
    out["sender_phase_share_us"] = by_phase(result.phases, &PhaseTotals::share);
    out["sender_phase_delay_sum_us"] = by_phase(result.phases, &PhaseTotals::delay_sum);
    out["sender_phase_delivered"] = by_phase(result.phases, &PhaseTotals::delivered);
  }
  if (keep_flows) {
    out["flow_begin"] = begins(result.flow_begin);
    add_columns(out, "flow_", result.flows, flow_columns);
  }
  if (keep_links) {
    out["link_begin"] = begins(result.link_begin);
    add_columns(out, "link_", result.links, link_columns);
  }
  if (keep_rule_hits) {
    const std::size_t rows = result.trials.size();
    const std::size_t each = rows ? result.trial_rule_hits.size() / rows : 0;
    out["trial_rule_hits"] = to_numpy(std::move(result.trial_rule_hits), {rows, each});
  }
  nb::list rule_hits;
  for (const RuleHits& u : result.rule_hits)
    rule_hits.append(column<std::int64_t>(u, [](std::uint64_t x) { return x; }));
  out["rule_hits"] = rule_hits;
  return out;
}

nb::object census(nb::handle policy, const std::vector<Network>& networks, const Values<std::uint32_t>& network_index,
                  const Values<std::uint64_t>& seed, double duration, const nb::dict& model, unsigned jobs,
                  std::uint32_t rule, const std::vector<std::string>& axes, const std::vector<std::uint32_t>& prefix) {
  Census wanted;
  wanted.rule = rule;
  wanted.prefix = prefix;
  const auto own = std::visit([](const auto& p) { return own_of(p); }, policy_of(policy));
  for (const std::string& axis : axes) wanted.axes.push_back(signal_by_name(axis, own.get()));
  if (!prefix.empty() && prefix.size() != axes.size()) throw std::invalid_argument("one prefix per axis is needed");
  BatchOptions options;
  options.duration = duration;
  options.model = model_from(model);
  options.headers = {header_of(policy)};
  options.jobs = std::max(jobs, 1u);
  options.census = wanted;
  const std::vector<std::uint32_t> same(seed.shape(0), 0);
  const Values<std::uint32_t> policy_index(same.data(), {same.size()});
  BatchResult result =
      run_released({policy_of(policy)}, networks, trials_of(policy_index, network_index, seed), options);
  return to_numpy(std::move(result.census), {axes.size(), std::size_t{65536}});
}

}  // namespace

void bind_batch(nb::module_& m) {
  m.def("run_batch", &run, "policies"_a, "networks"_a, "policy_index"_a, "network_index"_a, "seed"_a, nb::kw_only(),
        "duration"_a, "model"_a, "jobs"_a, "keep_delays"_a, "keep_flows"_a, "keep_rule_hits"_a, "keep_links"_a,
        "phase_round_trips"_a = std::vector<double>{},
        "Runs one trial per entry of the index arrays on `jobs` threads, without the GIL; returns columns by name.");
  m.def("census", &census, "policy"_a, "networks"_a, "network_index"_a, "seed"_a, nb::kw_only(), "duration"_a,
        "model"_a, "jobs"_a, "rule"_a, "axes"_a, "prefix"_a,
        "Counts, per axis, the upper (no prefix) or lower 16 bits of the float32 values met by one rule.");
}

}  // namespace remy_plus::bindings
