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

BottleneckDriver::BottleneckDriver(Plan plan, remy_plus::Agent agent, remy_plus::Reward reward, double base_delay,
                                   std::function<void()> keep_going)
    : plan_(std::move(plan)),
      agent_(std::move(agent)),
      reward_rule_(reward),
      ideal_{plan_.network.link_rate, base_delay},
      driver_(new_driver(plan_, this, std::move(keep_going))) {
  agent_.check();
  reward_rule_.check();
}

void BottleneckDriver::start() {
  driver_->begin();
  play();
}

void BottleneckDriver::act(const std::vector<float>& action) {
  if (!held_) throw std::invalid_argument("no decision is due");
  check(agent_.actions, action);
  Source& source = *driver_->steered();
  memory_.apply(agent_, source.control(), source.memory(), action.data());
  memory_.follow(agent_, source.control(), source.memory(), now());
  held_ = false;
  source.resume();
  play();
}

void BottleneckDriver::play() {
  reward_ = 0;
  driver_->go_on();
  if (held_) {
    memory_.see(agent_, driver_->steered()->memory());
    memory_.decided(agent_, driver_->steered()->memory(), now());
    take(false);
    flow_reward_.decided();
  } else if (on_) {
    on_ = false;
    ending_ = Ending::trial;
    memory_.see(agent_, driver_->steered()->memory());
    take(true);
  }
}

void BottleneckDriver::started(remy_plus::Control& control, std::uint32_t flow, std::int64_t first) {
  flow_ = flow;
  on_ = true;
  memory_.start(agent_, control);
  flow_reward_.start(now(), driver_->flow_monitor().share(flow_, now()), first);
  hold();
}

void BottleneckDriver::acknowledged(const remy_plus::Memory& memory, std::uint32_t number, double delay) {
  flow_reward_.receive(number, delay);
  if (memory_.due(agent_, memory, now(), true)) return hold();
  memory_.follow(agent_, driver_->steered()->control(), memory, now());
}

void BottleneckDriver::ended() {
  on_ = false;
  ending_ = Ending::flow;
  memory_.see(agent_, driver_->steered()->memory());
  take(true);
  ns3::Simulator::Stop();
}

void BottleneckDriver::hold() {
  held_ = true;
  ns3::Simulator::Stop();
}

void BottleneckDriver::take(bool last) {
  reward_ = flow_reward_.take(reward_rule_, ideal_, now(), driver_->flow_monitor().share(flow_, now()), last);
}

}  // namespace lcca_ns3
