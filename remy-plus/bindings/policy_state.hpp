// The compiled form of a policy as plain values, so that it can be sent to another process or to another module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "remy_plus/policy.hpp"

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

inline nb::tuple state_of(const Policy& policy) {
  if (const auto* p = std::get_if<FixedWindow>(&policy)) return nb::make_tuple("fixed-window", p->window);
  if (const auto* p = std::get_if<FixedRate>(&policy)) return nb::make_tuple("fixed-rate", p->gap);
  if (const auto* p = std::get_if<Aimd>(&policy)) return nb::make_tuple("aimd", p->increase, p->decrease, p->initial);
  const auto& table = std::get<RuleTable>(policy);
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
  for (std::size_t i = 0; i < actions.size(); i += 3)
    table.actions.push_back(checked(actions[i], actions[i + 1], actions[i + 2]));
  table.tree = std::make_shared<RuleTree>(std::move(nodes), nb::cast<std::int32_t>(state[3]), table.actions.size());
  table.pacing = nb::cast<bool>(state[5]) ? Pacing::absolute : Pacing::relative;
  table.wanted = nb::cast<SignalMask>(state[6]);
  return table;
}

inline Policy policy_from(const nb::tuple& state) {
  const auto kind = nb::cast<std::string>(state[0]);
  const auto number = [&](std::size_t i) { return nb::cast<double>(state[i]); };
  if (kind == "fixed-window") return FixedWindow{number(1)};
  if (kind == "fixed-rate") return FixedRate{number(1)};
  if (kind == "aimd") return Aimd{number(1), number(2), number(3)};
  if (kind == "rule-table") return table_of(state);
  throw std::invalid_argument("unknown kind of compiled policy '" + kind + "'");
}

}  // namespace remy_plus::bindings
