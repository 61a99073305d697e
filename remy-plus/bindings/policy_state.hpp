// The compiled form of a policy as plain values, so that it can be sent to another process or to another module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python_control.hpp"
#include "remy_plus/policies/policy.hpp"
#include "stamping_state.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

inline Action checked(double increment, double multiple, double pacing) {
  if (!std::isfinite(increment) || std::abs(increment) > largest_window)
    throw std::invalid_argument("increment must be a number of at most 1e6 packets");
  if (!std::isfinite(multiple) || multiple < 0 || multiple > 1000)
    throw std::invalid_argument("multiple must be in [0, 1000]");
  if (!std::isfinite(pacing) || pacing < 0) throw std::invalid_argument("pacing must be >= 0");
  return {increment, multiple, pacing};
}

// A part of a pacing unit by the name of its signal; "1" for none.
inline Signal unit_part(const std::string& name) { return name == "1" ? signal_count : signal_by_name(name); }
inline std::string name_of(Signal part, const OwnSignals* own = nullptr) {
  if (part >= own_signal) return own->all()[part - own_signal].name;
  return part == signal_count ? "1" : std::string(signal_table[part].name);
}

using Own = std::shared_ptr<const OwnSignals>;

// A policy's own signals from (name, formula in postfix order, registered signal whose form it has) each; null for
// none.
inline Own own_from(const nb::handle& rows) {
  std::vector<OwnSignal> all;
  for (nb::handle row : rows) {
    const auto source = [](const std::string& name) { return signal_by_name(name); };
    all.push_back(
        {nb::cast<std::string>(row[0]), formula_from(row[1], source), signal_by_name(nb::cast<std::string>(row[2]))});
  }
  return all.empty() ? nullptr : std::make_shared<const OwnSignals>(std::move(all));
}

// The same of those of a policy.
inline nb::list rows_of(const OwnSignals& own) {
  nb::list rows;
  for (const OwnSignal& each : own.all()) {
    nb::list tokens;
    for (const Formula::Step& step : each.formula.steps()) {
      const std::string kind(operator_names[static_cast<std::size_t>(step.op)]);
      if (step.op == Formula::Op::source)
        tokens.append(nb::make_tuple(kind, std::string(signal_table[static_cast<std::size_t>(step.value)].name)));
      else
        tokens.append(nb::make_tuple(kind, step.value));
    }
    rows.append(nb::make_tuple(each.name, tokens, std::string(signal_table[each.like].name)));
  }
  return rows;
}

// A state, with the policy's own signals at its end if it has any.
inline nb::tuple with_own(const nb::tuple& state, const Own& own) {
  return own ? nb::tuple(state + nb::make_tuple(rows_of(*own))) : state;
}

// The policy's own signals at the end of a state that has so many parts without them.
inline Own own_at(const nb::tuple& state, std::size_t parts) {
  return state.size() > parts ? own_from(state[parts]) : nullptr;
}

inline std::vector<Signal> signals_by_name(const std::vector<std::string>& names, const Own& own = nullptr) {
  std::vector<Signal> signals;
  for (const std::string& name : names) signals.push_back(signal_by_name(name, own.get()));
  return signals;
}

inline nb::bytes bytes_of(const std::vector<float>& numbers) {
  return nb::bytes(numbers.data(), numbers.size() * sizeof(float));
}

inline std::vector<float> floats_of(nb::handle handle) {
  const auto bytes = nb::cast<nb::bytes>(handle);
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.c_str(), numbers.size() * sizeof(float));
  return numbers;
}

inline nb::tuple state_of(const Law& policy);
inline Policy policy_from(const nb::tuple& state);

// The law of an agent from its plain values, or none.
inline std::shared_ptr<const Law> agent_law(const nb::object& state) {
  if (state.is_none()) return nullptr;
  return std::make_shared<const Law>(std::get<Law>(policy_from(nb::cast<nb::tuple>(state))));
}

inline nb::tuple state_of(const Agent& agent) {
  const ActionMap& map = agent.actions;
  const std::vector<std::size_t> signals(agent.signals.begin(), agent.signals.end());
  std::vector<double> table;
  for (const Action& a : map.table) table.insert(table.end(), {a.increment, a.multiple, a.pacing});
  return nb::make_tuple(signals, agent.history, agent.decisions.rtts, agent.decisions.smallest, agent.decisions.late,
                        static_cast<int>(map.steering), map.multiple, map.increment, map.pacing, map.initial,
                        map.smallest, map.largest, table, map.law ? nb::object(state_of(*map.law)) : nb::none());
}

inline Agent agent_of(const nb::tuple& state) {
  const auto number = [&](std::size_t i) { return nb::cast<double>(state[i]); };
  Agent agent;
  for (const std::size_t s : nb::cast<std::vector<std::size_t>>(state[0]))
    agent.signals.push_back(static_cast<Signal>(s));
  agent.history = nb::cast<std::size_t>(state[1]);
  agent.decisions = {number(2), nb::cast<bool>(state[3]), nb::cast<bool>(state[4])};
  const int steering = nb::cast<int>(state[5]);
  if (steering < 0 || steering > static_cast<int>(Steering::law)) throw std::invalid_argument("damaged agent");
  agent.actions = {
      static_cast<Steering>(steering), number(6), number(7), number(8), number(9), number(10), number(11), {}};
  const auto table = nb::cast<std::vector<double>>(state[12]);
  for (std::size_t i = 0; i + 2 < table.size(); i += 3)
    agent.actions.table.push_back({table[i], table[i + 1], table[i + 2]});
  agent.actions.law = agent_law(nb::object(state[13]));
  return agent;
}

inline nb::tuple state_of(const Mlp& policy) {
  nb::list layers;
  for (const Dense& d : policy.net().layers)
    layers.append(
        nb::make_tuple(d.inputs, d.outputs, static_cast<int>(d.activation), bytes_of(d.weights), bytes_of(d.biases)));
  nb::object memory = nb::none();
  if (const auto& m = policy.net().memory)
    memory =
        nb::make_tuple(m->inputs, m->cells, bytes_of(m->from_input), bytes_of(m->from_hidden), bytes_of(m->biases));
  return nb::make_tuple("mlp", state_of(policy.agent()), memory, layers);
}

inline Mlp mlp_of(const nb::tuple& state) {
  NeuralNet net;
  const auto size = [](const nb::tuple& t, std::size_t i) { return nb::cast<std::size_t>(t[i]); };
  if (!state[2].is_none()) {
    const auto m = nb::cast<nb::tuple>(state[2]);
    net.memory = Lstm{size(m, 0), size(m, 1), floats_of(m[2]), floats_of(m[3]), floats_of(m[4])};
  }
  for (nb::handle layer : nb::cast<nb::list>(state[3])) {
    const auto d = nb::cast<nb::tuple>(layer);
    const int activation = nb::cast<int>(d[2]);
    if (activation < 0 || activation > static_cast<int>(Activation::relu))
      throw std::invalid_argument("damaged network");
    net.layers.push_back(
        {size(d, 0), size(d, 1), floats_of(d[3]), floats_of(d[4]), static_cast<Activation>(activation)});
  }
  return {agent_of(nb::cast<nb::tuple>(state[1])), std::move(net)};
}

// `map`: three rows of a coefficient for each feature, or nothing.
inline Law law_of(const std::vector<double>& terms, const std::vector<double>& map,
                  const std::vector<std::string>& signals, const std::string& over, const std::string& under,
                  double bound, double largest, double refresh, Own own) {
  const std::size_t features = map.size() / 3;
  if (terms.size() != lcca_terms || map.size() != 3 * features || features > lcca_most_features)
    throw std::invalid_argument("a law has " + std::to_string(+lcca_terms) +
                                " terms, and as many features for all outputs");
  for (const auto* numbers : {&terms, &map})
    for (const double each : *numbers)
      if (!std::isfinite(each)) throw std::invalid_argument("a coefficient of a law is no finite number");
  if (!(bound >= 0) || !(refresh >= 0 && refresh <= 1) || !(largest >= 1 && largest <= largest_window))
    throw std::invalid_argument(
        "a law's bound must be at least 0 and its largest window from 1 to 1e6 packets, its refresh from 0 to 1 RTT");
  lcca_law law{};
  std::copy(terms.begin(), terms.end(), law.terms);
  law.features = static_cast<int>(features);
  law.bound = bound;
  law.largest = largest;
  law.refresh = refresh;
  for (std::size_t i = 0; i < 3; ++i)
    std::copy_n(map.begin() + static_cast<std::ptrdiff_t>(i * features), features, law.map[i]);
  std::vector<Signal> seen = signals_by_name(signals, own);
  return {law, std::move(seen), {unit_part(over), unit_part(under)}, std::move(own)};
}

inline nb::tuple state_of(const Law& policy) {
  const lcca_law& law = policy.law();
  std::vector<double> map;
  for (const auto& row : law.map) map.insert(map.end(), row, row + law.features);
  std::vector<std::string> signals;
  for (const Signal s : policy.signals()) signals.push_back(name_of(s, policy.own.get()));
  return with_own(
      nb::make_tuple("law", std::vector<double>(law.terms, law.terms + lcca_terms), map, signals,
                     name_of(policy.rate().over), name_of(policy.rate().under), law.bound, law.largest, law.refresh),
      policy.own);
}

inline FabricLaw fabric_law_of(const std::vector<double>& terms, const std::vector<double>& map,
                               const std::vector<std::string>& signals) {
  lcca_fabric_law law{};
  if (terms.size() != lcca_fabric_terms || signals.size() > lcca_fabric_most_signals ||
      map.size() != lcca_fabric_features + 3 * signals.size())
    throw std::invalid_argument("a law for fabrics has " + std::to_string(+lcca_fabric_terms) + " terms, " +
                                std::to_string(+lcca_fabric_features) +
                                " coefficients and three for each of at most 8 signals");
  for (const auto* numbers : {&terms, &map})
    for (const double each : *numbers)
      if (!std::isfinite(each)) throw std::invalid_argument("a coefficient of a law is no finite number");
  std::copy(terms.begin(), terms.end(), law.terms);
  std::copy(map.begin(), map.end(), law.map);
  law.signals = static_cast<int>(signals.size());
  return {law, signals_by_name(signals)};
}

inline nb::tuple state_of(const FabricLaw& policy) {
  const lcca_fabric_law& law = *policy.law;
  std::vector<std::string> signals;
  for (const Signal s : policy.signals) signals.emplace_back(signal_table[s].name);
  return nb::make_tuple("fabric-law", std::vector<double>(law.terms, law.terms + lcca_fabric_terms),
                        std::vector<double>(law.map, law.map + lcca_fabric_features + 3 * law.signals), signals);
}

inline PathLaw path_law_of(const std::string& transport, const std::vector<double>& terms,
                           const std::vector<std::string>& signals, const std::vector<double>& weights) {
  if (terms.size() != path_terms)
    throw std::invalid_argument("a law that chooses ways has " + std::to_string(+path_terms) + " terms");
  for (const auto* numbers : {&terms, &weights})
    for (const double each : *numbers)
      if (!std::isfinite(each)) throw std::invalid_argument("a number of a law is no finite number");
  std::array<double, path_terms> found;
  std::copy(terms.begin(), terms.end(), found.begin());
  return {transport, found, signals_by_name(signals), weights};
}

inline nb::tuple state_of(const PathLaw& policy) {
  std::vector<std::string> signals;
  for (const Signal s : policy.signals) signals.emplace_back(signal_table[s].name);
  return nb::make_tuple("path-law", policy.transport, std::vector<double>(policy.terms.begin(), policy.terms.end()),
                        signals, policy.weights);
}

inline constexpr const char* real_table = "rule-table of real windows";

inline nb::tuple state_of(const Policy& policy) {
  if (const auto* p = std::get_if<Law>(&policy)) return state_of(*p);
  if (const auto* p = std::get_if<FabricLaw>(&policy)) return state_of(*p);
  if (const auto* p = std::get_if<PathLaw>(&policy)) return state_of(*p);
  if (const auto* p = std::get_if<FixedWindow>(&policy)) return nb::make_tuple("fixed-window", p->window);
  if (const auto* p = std::get_if<FixedRate>(&policy)) return nb::make_tuple("fixed-rate", p->gap);
  if (const auto* p = std::get_if<Aimd>(&policy)) return nb::make_tuple("aimd", p->increase, p->decrease, p->initial);
  if (const auto* p = std::get_if<Xcp>(&policy)) return nb::make_tuple("xcp", p->initial, p->smallest);
  if (const auto* p = std::get_if<ExplicitRate>(&policy))
    return nb::make_tuple("explicit-rate", name_of(p->unit.over), name_of(p->unit.under), p->factor, p->initial_gap);
  if (const auto* p = std::get_if<Mlp>(&policy)) return state_of(*p);
  if (const auto* p = std::get_if<Foreign>(&policy))
    return nb::make_tuple("python", dynamic_cast<const PythonControl&>(*p->control).control());
  const auto& table = std::get<RuleTable>(policy);
  std::vector<double> cuts, actions;
  std::vector<std::int64_t> links;
  for (const RuleTree::Node& node : table.tree->nodes()) {
    cuts.push_back(node.cut);
    links.insert(links.end(), {node.axis, node.child[0], node.child[1]});
  }
  for (const Action& a : table.actions) actions.insert(actions.end(), {a.increment, a.multiple, a.pacing});
  return with_own(nb::make_tuple(table.real ? real_table : "rule-table", cuts, links, table.tree->root(), actions,
                                 name_of(table.pacing.over), name_of(table.pacing.under), table.wanted),
                  table.own);
}

inline RuleTable table_of(const nb::tuple& state) {
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
  table.real = nb::cast<std::string>(state[0]) == real_table;
  for (std::size_t i = 0; i < actions.size(); i += 3)
    table.actions.push_back(checked(actions[i], actions[i + 1], actions[i + 2]));
  table.tree = std::make_shared<RuleTree>(std::move(nodes), nb::cast<std::int32_t>(state[3]), table.actions.size());
  table.pacing = {unit_part(nb::cast<std::string>(state[5])), unit_part(nb::cast<std::string>(state[6]))};
  table.wanted = nb::cast<SignalMask>(state[7]);
  table.own = own_at(state, 8);
  return table;
}

inline Policy policy_from(const nb::tuple& state) {
  const auto kind = nb::cast<std::string>(state[0]);
  const auto number = [&](std::size_t i) { return nb::cast<double>(state[i]); };
  if (kind == "fixed-window") return FixedWindow{number(1)};
  if (kind == "fixed-rate") return FixedRate{number(1)};
  if (kind == "aimd") return Aimd{number(1), number(2), number(3)};
  if (kind == "xcp") return Xcp{number(1), number(2)};
  if (kind == "explicit-rate") {
    const auto part = [&](std::size_t i) { return unit_part(nb::cast<std::string>(state[i])); };
    return ExplicitRate{{part(1), part(2)}, number(3), number(4)};
  }
  if (kind == "rule-table" || kind == real_table) return table_of(state);
  if (kind == "mlp") return mlp_of(state);
  if (kind == "law")
    return law_of(nb::cast<std::vector<double>>(state[1]), nb::cast<std::vector<double>>(state[2]),
                  nb::cast<std::vector<std::string>>(state[3]), nb::cast<std::string>(state[4]),
                  nb::cast<std::string>(state[5]), number(6), number(7), number(8), own_at(state, 9));
  if (kind == "fabric-law")
    return fabric_law_of(nb::cast<std::vector<double>>(state[1]), nb::cast<std::vector<double>>(state[2]),
                         nb::cast<std::vector<std::string>>(state[3]));
  if (kind == "path-law")
    return path_law_of(nb::cast<std::string>(state[1]), nb::cast<std::vector<double>>(state[2]),
                       nb::cast<std::vector<std::string>>(state[3]), nb::cast<std::vector<double>>(state[4]));
  if (kind == "python") return foreign_of(nb::object(state[1]));
  throw std::invalid_argument("unknown kind of compiled policy '" + kind + "'");
}

}  // namespace remy_plus::bindings
