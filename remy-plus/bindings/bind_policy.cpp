#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "remy_plus/policy.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

namespace {

struct PolicyHandle {
  Policy policy;
};

Signal signal_by_name(const std::string& name) {
  const auto at = std::find(signal_names.begin(), signal_names.end(), name);
  if (at == signal_names.end()) throw std::invalid_argument("unknown signal '" + name + "'");
  return static_cast<Signal>(at - signal_names.begin());
}

Action checked(double increment, double multiple, double pacing) {
  if (!std::isfinite(increment) || std::abs(increment) > largest_window)
    throw std::invalid_argument("increment must be a number of at most 1e6 packets");
  if (!std::isfinite(multiple) || multiple < 0 || multiple > 1000)
    throw std::invalid_argument("multiple must be in [0, 1000]");
  if (!std::isfinite(pacing) || pacing < 0) throw std::invalid_argument("pacing must be >= 0");
  return {increment, multiple, pacing};
}

PolicyHandle rule_table(const std::vector<std::string>& axes, const Matrix& lower, const Matrix& upper,
                        const Column& increment, const Column& multiple, const Column& pacing, bool absolute) {
  const std::size_t rules = lower.shape(0), k = axes.size();
  if (lower.shape(1) != k || upper.shape(0) != rules || upper.shape(1) != k || increment.shape(0) != rules ||
      multiple.shape(0) != rules || pacing.shape(0) != rules)
    throw std::invalid_argument("the arrays of a rule table must agree in rules and axes");
  RuleTable table;
  std::vector<Signal> signals;
  for (const std::string& name : axes) signals.push_back(signal_by_name(name));
  for (Signal s : signals) table.wanted |= bit(s);
  std::vector<Box> boxes(rules);
  for (std::size_t r = 0; r < rules; ++r) {
    boxes[r].lower.assign(lower.data() + r * k, lower.data() + (r + 1) * k);
    boxes[r].upper.assign(upper.data() + r * k, upper.data() + (r + 1) * k);
    table.actions.push_back(checked(increment.data()[r], multiple.data()[r], pacing.data()[r]));
  }
  table.tree = std::make_shared<RuleTree>(signals, boxes);
  table.pacing = absolute ? Pacing::absolute : Pacing::relative;
  return {table};
}

PolicyHandle with_action(const PolicyHandle& self, std::size_t rule, double increment, double multiple, double pacing) {
  RuleTable table = std::get<RuleTable>(self.policy);
  table.actions.at(rule) = checked(increment, multiple, pacing);
  return {table};
}

std::uint32_t find(const PolicyHandle& self, const std::vector<double>& values) {
  Signals signals{};
  if (values.size() != signals.size()) throw std::invalid_argument("one value per engine signal is needed");
  std::copy(values.begin(), values.end(), signals.begin());
  return std::get<RuleTable>(self.policy).tree->find(signals);
}

// The compiled form of a policy as plain values, so that it can be sent to another process.
nb::tuple state_of(const PolicyHandle& self) {
  if (const auto* p = std::get_if<FixedWindow>(&self.policy)) return nb::make_tuple("fixed-window", p->window);
  if (const auto* p = std::get_if<FixedRate>(&self.policy)) return nb::make_tuple("fixed-rate", p->gap);
  if (const auto* p = std::get_if<Aimd>(&self.policy))
    return nb::make_tuple("aimd", p->increase, p->decrease, p->initial);
  const auto& table = std::get<RuleTable>(self.policy);
  std::vector<double> cuts, actions;
  std::vector<std::int64_t> links;
  for (const RuleTree::Node& node : table.tree->nodes()) {
    cuts.push_back(node.cut);
    links.insert(links.end(), {node.axis, node.child[0], node.child[1]});
  }
  for (const Action& a : table.actions) actions.insert(actions.end(), {a.increment, a.multiple, a.pacing});
  return nb::make_tuple("rule-table", cuts, links, table.tree->root(), actions, table.pacing == Pacing::absolute,
                        table.wanted);
}

RuleTable table_of(const nb::tuple& state) {
  const auto cuts = nb::cast<std::vector<double>>(state[1]);
  const auto links = nb::cast<std::vector<std::int64_t>>(state[2]);
  const auto actions = nb::cast<std::vector<double>>(state[4]);
  if (links.size() != 3 * cuts.size() || actions.size() % 3 != 0)
    throw std::invalid_argument("damaged compiled rule table");
  std::vector<RuleTree::Node> nodes;
  for (std::size_t i = 0; i < cuts.size(); ++i)
    nodes.push_back({cuts[i],
                     static_cast<std::uint32_t>(links[3 * i]),
                     {static_cast<std::int32_t>(links[3 * i + 1]), static_cast<std::int32_t>(links[3 * i + 2])}});
  RuleTable table;
  for (std::size_t i = 0; i < actions.size(); i += 3)
    table.actions.push_back(checked(actions[i], actions[i + 1], actions[i + 2]));
  table.tree = std::make_shared<RuleTree>(std::move(nodes), nb::cast<std::int32_t>(state[3]), table.actions.size());
  table.pacing = nb::cast<bool>(state[5]) ? Pacing::absolute : Pacing::relative;
  table.wanted = nb::cast<SignalMask>(state[6]);
  return table;
}

void set_state(PolicyHandle& self, const nb::tuple& state) {
  const auto kind = nb::cast<std::string>(state[0]);
  const auto number = [&](std::size_t i) { return nb::cast<double>(state[i]); };
  if (kind == "fixed-window")
    new (&self) PolicyHandle{FixedWindow{number(1)}};
  else if (kind == "fixed-rate")
    new (&self) PolicyHandle{FixedRate{number(1)}};
  else if (kind == "aimd")
    new (&self) PolicyHandle{Aimd{number(1), number(2), number(3)}};
  else
    new (&self) PolicyHandle{table_of(state)};
}

}  // namespace

const Policy& policy_of(nb::handle handle) { return nb::cast<const PolicyHandle&>(handle).policy; }

void bind_policy(nb::module_& m) {
  nb::class_<PolicyHandle>(m, "Policy", "A policy compiled for the engine.")
      .def_static("rule_table", &rule_table, "axes"_a, "lower"_a, "upper"_a, "increment"_a, "multiple"_a, "pacing"_a,
                  "absolute"_a, "Rules as boxes over the named signals; raises ValueError if they overlap or leak.")
      .def_static(
          "fixed_window", [](double window) { return PolicyHandle{FixedWindow{window}}; }, "window"_a)
      .def_static(
          "fixed_rate", [](double rate) { return PolicyHandle{FixedRate{1 / rate}}; }, "rate"_a)
      .def_static(
          "aimd",
          [](double increase, double decrease, double initial) {
            return PolicyHandle{Aimd{increase, decrease, initial}};
          },
          "increase"_a, "decrease"_a, "initial"_a)
      .def("with_action", &with_action, "rule"_a, "increment"_a, "multiple"_a, "pacing"_a,
           "The same table with another action for one rule; the compiled tree is shared.")
      .def("find", &find, "signals"_a, "Index of the rule that holds these values (one per engine signal).")
      .def("__getstate__", &state_of)
      .def("__setstate__", &set_state)
      .def_prop_ro("rules", [](const PolicyHandle& self) {
        return std::visit([](const auto& p) { return p.rules(); }, self.policy);
      });
}

}  // namespace remy_plus::bindings
