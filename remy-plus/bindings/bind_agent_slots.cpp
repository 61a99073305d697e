#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "agent_state.hpp"
#include "arrays.hpp"
#include "model_state.hpp"
#include "remy_plus/envs/agent_slots.hpp"
#include "stamping_state.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

const Policy& policy_of(nb::handle handle);

namespace {

using Actions = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What an agent sees of rows of raw signals, without history.
nb::object see(const Agent& agent, const Values& rows) {
  if (rows.shape(1) != network_signals) throw std::invalid_argument("one value per engine signal is needed");
  if (agent.actions.law) throw std::invalid_argument("an agent with a law sees what it remembers of a flow");
  std::vector<float> seen;
  for (std::size_t r = 0; r < rows.shape(0); ++r)
    for (const Signal s : agent.signals) seen.push_back(scaled(s, rows.data()[r * network_signals + s]));
  return to_numpy(std::move(seen), {rows.shape(0), agent.signals.size()});
}

// Window and gap after an action, for a flow with this receive EWMA (µs).
std::tuple<double, double> steer(const Agent& agent, double window, double gap, double receive_interval,
                                 const std::vector<float>& action) {
  const ActionMap& map = agent.actions;
  if (map.law) throw std::invalid_argument("a law is steered along a flow, not by itself");
  if (action.size() != map.numbers()) throw std::invalid_argument("an action of this agent has other numbers");
  if (map.steering == Steering::table && !(action[0] >= 0 && action[0] < static_cast<float>(map.table.size())))
    throw std::invalid_argument("an action is not an index of the action table");
  Control control;
  control.window = window;
  control.gap = gap;
  map.apply(control, receive_interval, action.data());
  return {control.window, control.gap};
}

void init_slots(AgentSlots* self, const Agent& agent, const Reward& reward, nb::handle others, double duration,
                const nb::dict& model, double patience, const std::vector<std::uint32_t>& slots, bool all_senders,
                bool whole_rows, bool endless, bool keep_records, unsigned jobs, const nb::object& header) {
  AgentSlotsOptions options;
  options.rules.agent = agent;
  options.rules.reward = reward;
  if (!others.is_none()) options.rules.others = policy_of(others);
  options.rules.duration = duration;
  options.rules.model = model_from(model);
  options.rules.patience = patience;
  if (!header.is_none())
    options.rules.header = std::make_shared<const Stamping>(stamping_from(nb::cast<nb::dict>(header)));
  options.slots = slots;
  options.all_senders = all_senders;
  options.whole_rows = whole_rows;
  options.endless = endless;
  options.keep_records = keep_records;
  options.jobs = std::max(jobs, 1u);
  new (self) AgentSlots(std::move(options));
}

void set_networks(AgentSlots& self, const std::vector<Network>& networks, const std::vector<double>& base_delay) {
  if (networks.size() != base_delay.size()) throw std::invalid_argument("one base delay per network is needed");
  std::vector<TrainingNetwork> chosen;
  for (std::size_t i = 0; i < networks.size(); ++i)
    chosen.push_back({std::make_shared<const Network>(networks[i]), base_delay[i]});
  self.set_networks(std::move(chosen));
}

void step(AgentSlots& self, const Actions& actions) {
  const std::span<const float> rows(actions.data(), actions.size());
  const nb::gil_scoped_release release;
  self.step(rows);
}

// Views of what the slots own: valid as long as they live, and overwritten by the next step.
template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, const T, nb::ndim<2>>;

template <class T, class Get>
auto column_of(Get get) {
  return [get](nb::handle_t<AgentSlots> self) {
    const std::vector<T>& values = get(nb::cast<const AgentSlots&>(self));
    return View<T>(values.data(), {values.size()}, self);
  };
}

template <class Get>
auto matrix_of(Get get) {
  return [get](nb::handle_t<AgentSlots> self) {
    const AgentSlots& slots = nb::cast<const AgentSlots&>(self);
    const std::size_t inputs = slots.options().rules.agent.inputs();
    return Matrix<float>(get(slots).data(), {slots.slots(), inputs}, self);
  };
}

auto signals_of(const AgentSlots& self, const std::vector<std::uint32_t>& slots) {
  std::vector<double> values;
  for (const std::uint32_t slot : slots) {
    const Signals& signals = self.sender(slot).memory.signals();
    values.insert(values.end(), signals.begin(), signals.begin() + network_signals);
  }
  return nb::cast<Matrix<double>>(to_numpy(std::move(values), {slots.size(), network_signals}));
}

nb::dict record(const AgentSlots& self, std::size_t env) {
  if (env >= self.environments() || !self.options().keep_records)
    throw std::invalid_argument("no such environment, or its records are not kept");
  const std::vector<Flow>& flows = self.flows(env);
  nb::dict out;
  add_columns(out, "", flows, flow_columns);
  out["events"] = self.totals(env).events;
  out["utilisation"] = self.totals(env).utilisation;
  return out;
}

nb::dict steering_defaults(const std::string& kind) {
  const ActionMap map = ActionMap::usual(steering_by_name(kind));
  nb::list actions;
  for (const Action& a : map.table) actions.append(nb::make_tuple(a.increment, a.multiple, a.pacing));
  nb::dict d;
  d["multiple"] = map.multiple;
  d["increment"] = map.increment;
  d["pacing"] = map.pacing;
  d["initial"] = map.initial;
  d["smallest"] = map.smallest;
  d["largest"] = map.largest;
  d["actions"] = nb::tuple(actions);
  return d;
}

void bind_agent(nb::module_& m) {
  m.def("steering_defaults", &steering_defaults, "kind"_a,
        "Numbers of window, rate, table or law steering; see "
        "lcca.remy_plus.policies.agents.");
  nb::class_<Agent>(m, "Agent", "How a network sees and steers a flow; see lcca.remy_plus.policies.agents.")
      .def(nb::new_(&make_agent), nb::kw_only(), "signals"_a, "history"_a, "rtts"_a, "smallest_rtt"_a, "late"_a,
           "steering"_a, "multiple"_a, "increment"_a, "pacing"_a, "initial"_a, "smallest"_a, "largest"_a, "table"_a,
           "law"_a = nb::none())
      .def_prop_ro("inputs", &Agent::inputs, "Numbers that it sees.")
      .def_prop_ro(
          "numbers", [](const Agent& self) { return self.actions.numbers(); }, "Numbers of an action.")
      .def("see", &see, "signals"_a, "What it sees of (n, engine signals) raw signals, without history: (n, signals).")
      .def("steer", &steer, "window"_a, "gap"_a, "receive_interval"_a, "action"_a,
           "Window (packets) and gap (µs) after an action.");
  nb::class_<Reward>(m, "Reward", "What a step is worth; see lcca.gym_envs.interface.episode.")
      .def(nb::new_(&make_reward), "kind"_a, nb::kw_only(), "throughput_weight"_a, "delay_weight"_a, "interval"_a,
           "aurora_second"_a);
}

}  // namespace

void bind_agent_slots(nb::module_& m) {
  bind_agent(m);
  nb::class_<AgentSlots>(m, "AgentSlots",
                         "Many environments, stepped by threads without the GIL; see lcca.gym_envs.batch.agent_slots.")
      .def("__init__", &init_slots, "agent"_a, "reward"_a, "others"_a.none(), nb::kw_only(), "duration"_a, "model"_a,
           "patience"_a, "slots"_a, "all_senders"_a, "whole_rows"_a, "endless"_a, "keep_records"_a, "jobs"_a,
           "header"_a = nb::none())
      .def("set_networks", &set_networks, "networks"_a, "base_delay"_a)
      .def("reset", &AgentSlots::reset, "seed"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("start", &AgentSlots::start, "environment"_a, "network"_a, "seed"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("stop", &AgentSlots::stop, "environment"_a)
      .def("step", &step, "actions"_a, "Acts for the ready slots, and plays on; the arrays below are overwritten.")
      .def_prop_ro("slots", &AgentSlots::slots)
      .def_prop_ro("environments", &AgentSlots::environments)
      .def_prop_ro("observation", matrix_of([](const AgentSlots& l) -> auto& { return l.rows().observation; }))
      .def_prop_ro("last_observation", matrix_of([](const AgentSlots& l) -> auto& { return l.rows().last; }))
      .def_prop_ro("reward", column_of<float>([](const AgentSlots& l) -> auto& { return l.rows().reward; }))
      .def_prop_ro("elapsed", column_of<float>([](const AgentSlots& l) -> auto& { return l.rows().elapsed; }))
      .def_prop_ro("rivals", column_of<std::uint32_t>([](const AgentSlots& l) -> auto& { return l.rows().rivals; }))
      .def_prop_ro("ended", column_of<std::uint8_t>([](const AgentSlots& l) -> auto& { return l.rows().ended; }))
      .def_prop_ro("acting", column_of<std::uint8_t>([](const AgentSlots& l) -> auto& { return l.rows().acting; }))
      .def_prop_ro("ready", column_of<std::uint32_t>([](const AgentSlots& l) -> auto& { return l.rows().ready; }))
      .def_prop_ro("network", column_of<std::uint32_t>([](const AgentSlots& l) -> auto& { return l.training_network; }))
      .def_prop_ro("trial_seed", column_of<std::uint64_t>([](const AgentSlots& l) -> auto& { return l.trial_seed; }))
      .def_prop_ro("trials", column_of<std::uint64_t>([](const AgentSlots& l) -> auto& { return l.trials; }))
      .def_prop_ro("packets", column_of<std::uint64_t>([](const AgentSlots& l) -> auto& { return l.packets; }))
      .def_prop_ro("over", column_of<std::uint8_t>([](const AgentSlots& l) -> auto& { return l.over; }))
      .def("now", &AgentSlots::now, "environment"_a, "µs since the start of the environment's trial.")
      .def("signals", &signals_of, "slots"_a, "Raw signals of some slots, (n, engine signals).")
      .def(
          "control",
          [](const AgentSlots& self, std::size_t slot) {
            const Sender& sender = self.sender(slot);
            return std::make_tuple(sender.control.window, sender.control.gap, sender.sent);
          },
          "slot"_a, "Window (packets), gap (µs) and packets sent of a slot.")
      .def("record", &record, "environment"_a, "Flows of the latest trial that came to its end, by column.");
}

}  // namespace remy_plus::bindings
