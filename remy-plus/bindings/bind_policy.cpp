#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "arrays.hpp"
#include "law_source.hpp"
#include "policy_state.hpp"
#include "stamping_state.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Actions = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

namespace {

// A policy, and the header that its packets carry with the plain values that it was made of.
struct PolicyHandle {
  Policy policy;
  std::shared_ptr<const Stamping> header = nullptr;
  nb::object content = nb::none();
};

PolicyHandle rule_table(const std::vector<std::string>& axes, const Matrix& lower, const Matrix& upper,
                        const Vector& increment, const Vector& multiple, const Vector& pacing, const std::string& over,
                        const std::string& under, bool real, const nb::list& own) {
  const std::size_t rules = lower.shape(0), k = axes.size();
  if (lower.shape(1) != k || upper.shape(0) != rules || upper.shape(1) != k || increment.shape(0) != rules ||
      multiple.shape(0) != rules || pacing.shape(0) != rules)
    throw std::invalid_argument("the arrays of a rule table must agree in rules and axes");
  RuleTable table;
  table.real = real;
  table.own = own_from(own);
  const std::vector<Signal> signals = signals_by_name(axes, table.own);
  table.pacing = {unit_part(over), unit_part(under)};
  table.wanted = table.pacing.wanted() | (table.own ? table.own->wanted() : 0);
  for (Signal s : signals) table.wanted |= bit(s);
  std::vector<Box> boxes(rules);
  for (std::size_t r = 0; r < rules; ++r) {
    boxes[r].lower.assign(lower.data() + r * k, lower.data() + (r + 1) * k);
    boxes[r].upper.assign(upper.data() + r * k, upper.data() + (r + 1) * k);
    table.actions.push_back(checked(increment.data()[r], multiple.data()[r], pacing.data()[r]));
  }
  table.tree = std::make_shared<RuleTree>(signals, boxes);
  return {table};
}

using Floats = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatRow = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using LayerArrays = std::tuple<Floats, FloatRow, std::string>;  // weights input by input, biases, activation
using LstmArrays = std::tuple<Floats, Floats, FloatRow>;        // from inputs, from hidden, biases

template <class Array>
std::vector<float> copy_of(const Array& array) {
  return {array.data(), array.data() + array.size()};
}

Activation activation_by_name(const std::string& name) {
  if (name == "linear") return Activation::linear;
  if (name == "tanh") return Activation::tanh;
  if (name == "relu") return Activation::relu;
  throw std::invalid_argument("an activation is linear, tanh or relu, not '" + name + "'");
}

PolicyHandle mlp(const Agent& agent, const std::vector<LayerArrays>& layers, const std::optional<LstmArrays>& memory) {
  NeuralNet net;
  for (const auto& [weights, biases, activation] : layers)
    net.layers.push_back(
        {weights.shape(0), weights.shape(1), copy_of(weights), copy_of(biases), activation_by_name(activation)});
  if (memory) {
    const auto& [from_input, from_hidden, biases] = *memory;
    net.memory =
        Lstm{from_input.shape(0), from_hidden.shape(0), copy_of(from_input), copy_of(from_hidden), copy_of(biases)};
  }
  return {Mlp(agent, std::move(net))};
}

// The network's outputs for rows of views, each with a state of its own, and the states afterwards.
std::tuple<nb::object, nb::object> outputs(const PolicyHandle& self, const Floats& views, const Floats& states) {
  const auto* policy = std::get_if<Mlp>(&self.policy);
  if (!policy) throw std::invalid_argument("this policy has no network");
  const NeuralNet& net = policy->net();
  const std::size_t rows = views.shape(0), inputs = net.inputs(), size = net.state_size();
  if (views.shape(1) != inputs || states.shape(0) != rows || states.shape(1) != size)
    throw std::invalid_argument("views must have " + std::to_string(inputs) + " columns, states as many rows and " +
                                std::to_string(size) + " columns");
  std::vector<float> said, after = copy_of(states), scratch(net.scratch_size());
  for (std::size_t r = 0; r < rows; ++r) {
    const auto out = net.run(views.data() + r * inputs, after.data() + r * size, scratch.data());
    said.insert(said.end(), out.begin(), out.end());
  }
  return {to_numpy(std::move(said), {rows, net.outputs()}), to_numpy(std::move(after), {rows, size})};
}

PolicyHandle with_action(const PolicyHandle& self, std::size_t rule, double increment, double multiple, double pacing) {
  RuleTable table = std::get<RuleTable>(self.policy);
  table.actions.at(rule) = checked(increment, multiple, pacing);
  return {table, self.header, self.content};
}

// Policies that share the compiled tree, one for each (rules, 3) part of `actions`.
std::vector<PolicyHandle> population(const PolicyHandle& self, const Actions& actions) {
  const auto& table = std::get<RuleTable>(self.policy);
  const std::size_t rules = table.actions.size();
  if (actions.shape(1) != rules || actions.shape(2) != 3)
    throw std::invalid_argument("actions must have the shape (policies, " + std::to_string(rules) + ", 3)");
  std::vector<PolicyHandle> policies(actions.shape(0), self);
  const double* next = actions.data();
  for (PolicyHandle& policy : policies)
    for (Action& action : std::get<RuleTable>(policy.policy).actions) {
      action = checked(next[0], next[1], next[2]);
      next += 3;
    }
  return policies;
}

PolicyHandle with_header(const PolicyHandle& self, const nb::dict& content) {
  return {self.policy, std::make_shared<const Stamping>(stamping_from(content)), content};
}

PolicyHandle mixture(const PolicyHandle& adopters, const PolicyHandle& others, double share) {
  const auto population = [](const PolicyHandle& of) {
    return Population{of.policy, of.header, std::visit([](const auto& p) { return own_of(p); }, of.policy)};
  };
  return {Mixture(population(adopters), population(others), share), nullptr, nb::make_tuple(adopters, others, share)};
}

nb::tuple state(const PolicyHandle& self) {
  if (std::holds_alternative<Mixture>(self.policy)) {
    const auto parts = nb::cast<nb::tuple>(self.content);
    return nb::make_tuple("mixture", state(nb::cast<const PolicyHandle&>(parts[0])),
                          state(nb::cast<const PolicyHandle&>(parts[1])), parts[2]);
  }
  return self.header ? nb::make_tuple("with-header", state_of(self.policy), self.content) : state_of(self.policy);
}

PolicyHandle from_state(const nb::tuple& state) {
  if (nb::cast<std::string>(state[0]) == "mixture")
    return mixture(from_state(nb::cast<nb::tuple>(state[1])), from_state(nb::cast<nb::tuple>(state[2])),
                   nb::cast<double>(state[3]));
  if (nb::cast<std::string>(state[0]) != "with-header") return {policy_from(state)};
  return with_header({policy_from(nb::cast<nb::tuple>(state[1]))}, nb::cast<nb::dict>(state[2]));
}

std::uint32_t find(const PolicyHandle& self, const std::vector<double>& values) {
  Signals signals{};
  if (values.size() != network_signals) throw std::invalid_argument("one value per engine signal is needed");
  std::copy(values.begin(), values.end(), signals.begin());
  return std::get<RuleTable>(self.policy).tree->find(signals);
}

}  // namespace

const Policy& policy_of(nb::handle handle) { return nb::cast<const PolicyHandle&>(handle).policy; }
std::shared_ptr<const Stamping> header_of(nb::handle handle) { return nb::cast<const PolicyHandle&>(handle).header; }

void bind_policy(nb::module_& m) {
  m.attr("LAW_SOURCE") = law_source;                // C of laws: what an exported one begins with
  m.attr("FABRIC_LAW_SOURCE") = fabric_law_source;  // and what follows it in one for fabrics
  m.def(
      "fabric_form", [](const std::string& signal) { return static_cast<int>(fabric_form(signal_by_name(signal))); },
      "signal"_a, "Number of the form that a signal has as a feature of a law for fabrics (fabric_law.h).");
  nb::class_<PolicyHandle>(m, "Policy", "A policy compiled for the engine.")
      .def_static("rule_table", &rule_table, "axes"_a, "lower"_a, "upper"_a, "increment"_a, "multiple"_a, "pacing"_a,
                  "over"_a, "under"_a, "real"_a = false, "own"_a = nb::list(),
                  "Rules as boxes over the named signals, their gaps in units of signal over / signal under ('1' for "
                  "none), their windows real numbers or whole; raises ValueError if they overlap or leak. `own`: see "
                  "lcca.remy_plus.core.formulas.")
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
      .def_static(
          "explicit_rate",
          [](const std::string& over, const std::string& under, double factor, double initial_gap) {
            return PolicyHandle{ExplicitRate{{unit_part(over), unit_part(under)}, factor, initial_gap}};
          },
          "over"_a, "under"_a, "factor"_a, "initial_gap"_a)
      .def_static(
          "xcp", [](double initial, double smallest) { return PolicyHandle{Xcp{initial, smallest}}; }, "initial"_a,
          "smallest"_a)
      .def_static(
          "mlp", &mlp, "agent"_a, "layers"_a, "memory"_a.none(),
          "A trained network: layers of (weights, inputs × outputs; biases; activation), and perhaps an LSTM of "
          "(inputs × 4 cells; cells × 4 cells; biases) before them.")
      .def_static(
          "law",
          [](const std::vector<double>& terms, const std::vector<double>& map, const std::vector<std::string>& signals,
             const std::string& over, const std::string& under, double bound, double largest, double refresh,
             const nb::list& own) {
            return PolicyHandle{law_of(terms, map, signals, over, under, bound, largest, refresh, own_from(own))};
          },
          "terms"_a, "map"_a, "signals"_a, "over"_a, "under"_a, "bound"_a, "largest"_a, "refresh"_a,
          "own"_a = nb::list(),
          "A control law (law.h): its terms, three rows of coefficients of features or none, the signals whose "
          "features "
          "follow those of every law, and the rate that hops grant as signal over / signal under ('1' for none).")
      .def_static(
          "fabric_law",
          [](const std::vector<double>& terms, const std::vector<double>& map,
             const std::vector<std::string>& signals) { return PolicyHandle{fabric_law_of(terms, map, signals)}; },
          "terms"_a, "map"_a, "signals"_a,
          "A control law for fabrics (fabric_law.h): its terms, a coefficient for each feature that all have and three "
          "for each of its signals.")
      .def_static(
          "path_law",
          [](const std::string& transport, const std::vector<double>& terms, const std::vector<std::string>& signals,
             const std::vector<double>& weights) {
            return PolicyHandle{path_law_of(transport, terms, signals, weights)};
          },
          "transport"_a, "terms"_a, "signals"_a, "weights"_a,
          "A law that chooses ways over a transport (path_law.hpp): its terms, and a weight for each signal.")
      .def_static(
          "python", [](const nb::object& control) { return PolicyHandle{foreign_of(control)}; }, "control"_a,
          "A class in Python; see lcca.remy_plus.policies.python_control.")
      .def_static("mixture", &mixture, "adopters"_a, "others"_a, "share"_a,
                  "Two policies in one trial: a share of the senders adopts the first; see "
                  "lcca.remy_plus.policies.mixture.")
      .def("outputs", &outputs, "views"_a, "states"_a,
           "A network's outputs for (n, inputs) views and (n, 2 × cells) states, and the states afterwards.")
      .def("with_action", &with_action, "rule"_a, "increment"_a, "multiple"_a, "pacing"_a,
           "The same table with another action for one rule; the compiled tree is shared.")
      .def("population", &population, "actions"_a,
           "Tables with other actions for all rules, one for each (rules, 3) part of (policies, rules, 3) increments, "
           "multiples and pacings; the compiled tree is shared.")
      .def("with_header", &with_header, "content"_a,
           "The same with a header on its packets: the content of a Stamping; ValueError names what is wrong with it.")
      .def("find", &find, "signals"_a, "Index of the rule that holds these values (one per engine signal).")
      .def("__getstate__", &state)
      .def("__setstate__",
           [](PolicyHandle& self, const nb::tuple& state) { new (&self) PolicyHandle(from_state(state)); })
      .def_prop_ro("rules", [](const PolicyHandle& self) {
        return std::visit([](const auto& p) { return p.rules(); }, self.policy);
      });
}

}  // namespace remy_plus::bindings
