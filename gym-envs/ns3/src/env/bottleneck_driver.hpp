// SPDX-License-Identifier: GPL-2.0-only
// A trial in which an agent steers the first flow of the first sender: it stops where the agent has to decide.
#pragma once

#include <memory>
#include <vector>

#include "remy_plus/envs/episode.hpp"
#include "remy_plus/envs/flow_reward.hpp"
#include "remy_plus/policies/agent.hpp"
#include "trial/trial.hpp"

namespace lcca_ns3 {

class BottleneckDriver : public Controller {
 public:
  // `base_delay`: µs of a packet and its acknowledgement that meet no queue.
  BottleneckDriver(Plan plan, remy_plus::Agent agent, remy_plus::Reward reward, double base_delay,
                   std::function<void()> keep_going);

  void start();  // plays to the flow's start; without a flow, to the end of the trial
  void act(const std::vector<float>& action);

  bool ready() const { return held_; }
  const std::vector<float>& view() const { return memory_.view(); }
  double reward() const { return reward_; }  // since the last decision
  remy_plus::Ending ending() const { return ending_; }
  double now() const { return driver_->now(); }

  // --- Controller
  remy_plus::SignalMask wanted() const override { return agent_.wanted(); }
  bool holds() const override { return held_; }
  void started(remy_plus::Control& control, std::uint32_t flow, std::int64_t first) override;
  void acknowledged(const remy_plus::Memory& memory, std::uint32_t number, double delay) override;
  void ended() override;

 private:
  void play();
  void hold();
  void take(bool last);

  Plan plan_;
  remy_plus::Agent agent_;
  remy_plus::Reward reward_rule_;
  remy_plus::Ideal ideal_;
  remy_plus::AgentMemory memory_;
  remy_plus::FlowReward flow_reward_;
  std::uint32_t flow_ = 0;
  bool on_ = false;
  bool held_ = false;
  double reward_ = 0;
  remy_plus::Ending ending_ = remy_plus::Ending::none;
  std::unique_ptr<TrialDriver> driver_;
};

}  // namespace lcca_ns3
