// SPDX-License-Identifier: GPL-2.0-only
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/plan_of.hpp"
#include "fabric/markers.hpp"
#include "model_state.hpp"
#include "policy_state.hpp"
#include "stamping_state.hpp"
#include "workload_state.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lcca_ns3 {
namespace {

using remy_plus::bindings::policy_from;
using Pairs = std::vector<std::pair<double, double>>;

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

ControlPlan policy_of(const nb::tuple& state) {
  if (nb::cast<std::string>(state[0]) != "stock") return policy_from(state);
  const auto stock = nb::cast<nb::dict>(state[1]);
  StockControl control{get<std::string>(stock, "type"), get<std::map<std::string, std::string>>(stock, "attributes"),
                       get<bool>(stock, "ecn"),         get<bool>(stock, "timestamps"),
                       get<bool>(stock, "needs_queue"), get<bool>(stock, "needs_link"),
                       get<bool>(stock, "stock_rates"), {}};
  if (!stock["congested"].is_none()) {
    const auto congested = get<nb::tuple>(stock, "congested");
    control.congested = Threshold{nb::cast<std::string>(congested[0]), nb::cast<double>(congested[1])};
  }
  return control;
}

Options options_of(const nb::dict& d) {
  Options options;
  options.packet_bytes = get<std::uint32_t>(d, "packet_bytes");
  options.header_bytes = get<std::int64_t>(d, "header_bytes");
  options.host_gbps = get<double>(d, "host_gbps");
  options.min_rto = get<double>(d, "min_rto");
  options.initial_window = get<std::uint32_t>(d, "initial_window");
  options.time_scale = get<double>(d, "time_scale");
  options.keep_delays = get<bool>(d, "keep_delays");
  options.one_way = get<bool>(d, "one_way");
  options.late_handshakes = get<bool>(d, "late_handshakes");
  return options;
}

std::vector<TracedFlow> flows_of_trace(nb::handle pairs) {
  std::vector<TracedFlow> flows;
  for (nb::handle pair : nb::cast<nb::list>(pairs)) {
    const auto flow = nb::cast<nb::tuple>(pair);
    flows.push_back({nb::cast<double>(flow[0]), nb::cast<std::uint64_t>(flow[1])});
  }
  return flows;
}

}  // namespace

Plan plan_of(const nb::dict& d) {
  Plan plan;
  plan.network = network_of(get<nb::dict>(d, "network"));
  plan.routers = get<int>(d, "routers");
  for (nb::handle h : get<nb::list>(d, "links")) {
    const auto link = nb::cast<nb::tuple>(h);
    plan.links.push_back({nb::cast<int>(link[0]),
                          nb::cast<int>(link[1]),
                          nb::cast<double>(link[2]),
                          nb::cast<double>(link[3]),
                          nb::cast<double>(link[4]),
                          {}});
    if (link.size() > 5)
      for (const auto& [from, rate] : nb::cast<Pairs>(link[5])) plan.links.back().steps.push_back({from, rate});
  }
  for (nb::handle h : get<nb::list>(d, "routes")) {
    const auto route = nb::cast<nb::tuple>(h);
    plan.routes.push_back(
        {nb::cast<std::vector<int>>(route[0]), nb::cast<std::vector<int>>(route[1]), nb::cast<bool>(route[2])});
  }
  if (d.contains("policies"))
    for (nb::handle each : get<nb::list>(d, "policies")) plan.policies.push_back(policy_of(nb::cast<nb::tuple>(each)));
  if (d.contains("windows"))
    for (const auto& [from, to] : get<Pairs>(d, "windows")) plan.windows.push_back({from, to});
  auto policy = get<nb::tuple>(d, "policy");
  if (nb::cast<std::string>(policy[0]) == "with-header") {
    const auto content = nb::cast<nb::dict>(policy[2]);
    plan.header = std::make_shared<const remy_plus::Stamping>(remy_plus::bindings::stamping_from(content));
    policy = nb::cast<nb::tuple>(policy[1]);
  }
  if (plan.policies.empty()) plan.policies.push_back(policy_of(policy));
  plan.queue.kind = get<std::string>(d, "queue");
  plan.queue.attributes = get<std::map<std::string, std::string>>(d, "queue_attributes");
  if (plan.queue.kind == "marker") {
    const auto marker = get<nb::tuple>(d, "marker");
    plan.queue.marker =
        remy_plus::bindings::marker_from(nb::cast<std::string>(marker[0]), nb::cast<nb::dict>(marker[1]));
  }
  if (d.contains("flow_trace"))
    for (nb::handle flows : get<nb::list>(d, "flow_trace")) plan.trace.push_back(flows_of_trace(flows));
  plan.seed = get<std::uint64_t>(d, "seed");
  plan.duration = get<double>(d, "duration");
  plan.model = remy_plus::bindings::model_from(get<nb::dict>(d, "model"));
  plan.options = options_of(get<nb::dict>(d, "options"));
  return plan;
}

namespace {

nb::list windows_of(const std::vector<WindowRow>& rows) {
  nb::list out;
  for (const WindowRow& row : rows)
    out.append(nb::make_tuple(row.packets, row.bytes, row.sent, row.dropped, row.first, row.last, row.delay_sum,
                              row.echoes, row.rtt_sum));
  return out;
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

}  // namespace

void keep_going() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

nb::dict dict_of(const Result& result) {
  nb::dict out;
  const auto add = [&](const auto& c) { out[std::string(c.name).c_str()] = result.totals.*c.member; };
  const auto add_all = [&](const auto&... c) { (add(c), ...); };
  std::apply(add_all, remy_plus::trial_columns);
  std::apply(add_all, remy_plus::trial_delay_columns);
  out["marked"] = result.marked;
  out["rtt_us"] = std::vector<double>(result.totals.delay_quantiles, result.totals.delay_quantiles + 5);
  out["first_on_us"] = result.first_on;
  out["flows"] = flows_of(result.flows);
  out["windows"] = windows_of(result.windows);
  return out;
}

NB_MODULE(_core, m) {
  m.doc() = "Trials in ns-3.";
  m.attr("NS3_VERSION") = LCCA_NS3_VERSION;
  m.def(
      "run_trial", [](const nb::dict& plan) { return dict_of(run_trial(plan_of(plan), keep_going)); }, "plan"_a,
      "Runs the trial that a dictionary describes; returns what was measured. One at a time in a process.");
  bind_buffers(m);
  bind_controls(m);
  bind_drivers(m);
}

}  // namespace lcca_ns3
