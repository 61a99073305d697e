// Agents and rewards from plain values, for every module that lets agents play.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "policy_state.hpp"
#include "remy_plus/envs/reward.hpp"
#include "remy_plus/policies/agent.hpp"

namespace remy_plus::bindings {

inline Steering steering_by_name(const std::string& name) {
  if (name == "window") return Steering::window;
  if (name == "rate") return Steering::rate;
  if (name == "table") return Steering::table;
  if (name == "law") return Steering::law;
  throw std::invalid_argument("steering must be window, rate, table or law, got '" + name + "'");
}

inline RewardKind reward_by_name(const std::string& name) {
  if (name == "utility") return RewardKind::utility;
  if (name == "power") return RewardKind::power;
  if (name == "gain") return RewardKind::gain;
  if (name == "aurora") return RewardKind::aurora;
  if (name == "orca") return RewardKind::orca;
  if (name == "linear") return RewardKind::linear;
  throw std::invalid_argument("a reward is utility, power, linear, gain, aurora or orca, not '" + name + "'");
}

inline Agent make_agent(const std::vector<std::string>& signals, std::size_t history, double rtts, bool smallest_rtt,
                        bool late, const std::string& steering, double multiple, double increment, double pacing,
                        double initial, double smallest, double largest,
                        const std::vector<std::tuple<double, double, double>>& table, const nb::object& law) {
  Agent agent;
  agent.signals = signals_by_name(signals);
  agent.history = history;
  agent.decisions = {rtts, smallest_rtt, late};
  agent.actions = {steering_by_name(steering), multiple, increment, pacing, initial, smallest, largest, {}};
  for (const auto& [add, times, pace] : table) agent.actions.table.push_back({add, times, pace});
  agent.actions.law = agent_law(law);
  agent.check();
  return agent;
}

inline Reward make_reward(const std::string& kind, double throughput_weight, double delay_weight, double interval,
                          double aurora_second) {
  Reward reward;
  reward.kind = reward_by_name(kind);
  reward.throughput_weight = throughput_weight;
  reward.delay_weight = delay_weight;
  reward.interval = interval;
  reward.aurora_second = aurora_second;
  reward.check();
  return reward;
}

}  // namespace remy_plus::bindings
