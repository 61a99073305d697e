// SPDX-License-Identifier: GPL-2.0-only
#include "env/bottleneck_driver.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "ns3/simulator.h"

namespace lcca_ns3 {

using remy_plus::Ending;

namespace {

void check(const remy_plus::ActionMap& map, const std::vector<float>& action) {
  if (action.size() != map.numbers())
    throw std::invalid_argument("an action has " + std::to_string(map.numbers()) + " numbers, got " +
                                std::to_string(action.size()));
  for (const float number : action)
    if (!std::isfinite(number)) throw std::invalid_argument("an action is not a finite number");
  if (map.steering == remy_plus::Steering::table &&
      !(action[0] >= 0 && action[0] < static_cast<float>(map.table.size())))
    throw std::invalid_argument("an action is not an index of the action table");
}

}  // namespace

BottleneckPlay::BottleneckPlay(Plan plan, remy_plus::Agent agent, remy_plus::Reward reward, double base_delay,
                               std::function<void()> keep_going)
    : plan_(std::move(plan)),
      agent_(std::move(agent)),
      reward_rule_(reward),
      ideal_{plan_.network.link_rate, base_delay},
      stage_(new_stage(plan_, this, std::move(keep_going))) {
  agent_.check();
  reward_rule_.check();
}

void BottleneckPlay::start() {
  stage_->begin();
  play();
}

void BottleneckPlay::act(const std::vector<float>& action) {
  if (!held_) throw std::invalid_argument("no decision is due");
  check(agent_.actions, action);
  Source& source = *stage_->steered();
  agent_.actions.apply(source.control(), source.memory().receive_interval(), action.data());
  held_ = false;
  source.resume();
  play();
}

void BottleneckPlay::play() {
  reward_ = 0;
  stage_->go_on();
  if (held_) {
    memory_.see(agent_, stage_->steered()->memory());
    memory_.decided(agent_, stage_->steered()->memory(), now());
    pay(false);
    earnings_.decided();
  } else if (on_) {
    on_ = false;
    ending_ = Ending::trial;
    memory_.see(agent_, stage_->steered()->memory());
    pay(true);
  }
}

void BottleneckPlay::started(remy_plus::Control& control, std::uint32_t flow, std::int64_t first) {
  flow_ = flow;
  on_ = true;
  memory_.start(agent_);
  agent_.actions.start(control);
  earnings_.start(now(), stage_->ledger().share(flow_, now()), first);
  hold();
}

void BottleneckPlay::acknowledged(const remy_plus::Memory& memory, std::uint32_t number, double delay) {
  earnings_.receive(number, delay);
  if (memory_.due(agent_, memory, now(), true)) hold();
}

void BottleneckPlay::ended() {
  on_ = false;
  ending_ = Ending::flow;
  memory_.see(agent_, stage_->steered()->memory());
  pay(true);
  ns3::Simulator::Stop();
}

void BottleneckPlay::hold() {
  held_ = true;
  ns3::Simulator::Stop();
}

void BottleneckPlay::pay(bool last) {
  reward_ = earnings_.pay(reward_rule_, ideal_, now(), stage_->ledger().share(flow_, now()), last);
}

}  // namespace lcca_ns3
