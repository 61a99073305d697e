#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "namespaces.hpp"
#include "policy_state.hpp"
#include "stamping_state.hpp"
#include "trial.hpp"
#include "workload_state.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lcca_linux {
namespace {

template <class T>
T get(const nb::dict& dict, const char* key) {
  return nb::cast<T>(dict[key]);
}

remy_plus::Network network_of(const nb::dict& d) {
  remy_plus::Network network;
  network.id = get<std::uint64_t>(d, "id");
  network.link_rate = get<double>(d, "link_rate");
  network.rtt = get<double>(d, "rtt");
  network.senders = get<int>(d, "senders");
  network.buffer = get<double>(d, "buffer");
  network.loss = get<double>(d, "loss");
  network.workload = remy_plus::bindings::workload_from(get<nb::tuple>(d, "workload"));
  return network;
}

ControlPlan control_of(const nb::tuple& state) {
  if (nb::cast<std::string>(state[0]) == "kernel") return KernelControl{nb::cast<std::string>(state[1])};
  return remy_plus::bindings::policy_from(state);
}

Plan plan_of(const nb::dict& d) {
  Plan plan;
  plan.network = network_of(get<nb::dict>(d, "network"));
  for (nb::handle each : get<nb::list>(d, "policies")) plan.policies.push_back(control_of(nb::cast<nb::tuple>(each)));
  if (!d["header"].is_none()) {
    plan.header =
        std::make_shared<const remy_plus::Stamping>(remy_plus::bindings::stamping_from(get<nb::dict>(d, "header")));
    for (const auto& [begins, bits] : get<std::vector<std::pair<std::size_t, std::size_t>>>(d, "positions"))
      plan.wire.fields.push_back({begins, bits});
    plan.wire.bytes = get<std::size_t>(d, "header_bytes");
  }
  plan.seed = get<std::uint64_t>(d, "seed");
  plan.duration = get<double>(d, "duration");
  const auto options = get<nb::dict>(d, "options");
  plan.options = {get<std::uint32_t>(options, "packet_bytes"),
                  get<bool>(options, "keep_delays"),
                  get<bool>(options, "single_segments"),
                  get<bool>(options, "quick_acks"),
                  get<bool>(options, "real_time"),
                  get<double>(options, "start_spread"),
                  get<double>(options, "time_scale")};
  return plan;
}

nb::dict flows_of(const std::vector<Row>& rows) {
  nb::dict out;
  const auto add = [&](const auto& c) {
    nb::list values;
    for (const Row& row : rows) values.append(row.*c.member);
    out[std::string(c.name).c_str()] = values;
  };
  std::apply([&](const auto&... c) { (add(c), ...); }, remy_plus::flow_columns);
  return out;
}

nb::dict dict_of(const Result& result) {
  nb::dict out;
  const auto add = [&](const auto& c) { out[std::string(c.name).c_str()] = result.totals.*c.member; };
  std::apply([&](const auto&... c) { (add(c), ...); }, remy_plus::trial_columns);
  std::apply([&](const auto&... c) { (add(c), ...); }, remy_plus::trial_delay_columns);
  out["rtt_us"] = std::vector<double>(result.totals.delay_quantiles, result.totals.delay_quantiles + 5);
  out["first_on_us"] = result.first_on;
  out["flows"] = flows_of(result.flows);
  out["late_us"] = nb::make_tuple(result.lateness.p50, result.lateness.p99, result.lateness.most);
  out["missed"] = result.missed;
  out["real_time"] = result.real_time;
  out["host_delay_us"] = result.host_delay_mean;
  return out;
}

nb::dict run(const nb::dict& description) {
  const Plan plan = plan_of(description);
  const auto keep_going = [] {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
  Result result;
  {
    const nb::gil_scoped_release released;  // a policy may be a class in Python
    result = run_trial(plan, keep_going);
  }
  return dict_of(result);
}

NB_MODULE(_core, m) {
  m.doc() = "Trials on this machine's own network stack.";
  m.def("privileged", privileged, "Whether this process may make network namespaces.");
  m.def("enter_user_namespace", enter_user_namespace,
        "Puts this process, which may have no other threads, into a user namespace in which it may.");
  m.def("run_trial", run, "plan"_a,
        "Runs the trial that a dictionary describes, in real time; returns what was measured. One at a time in a "
        "process.");
}

}  // namespace
}  // namespace lcca_linux
