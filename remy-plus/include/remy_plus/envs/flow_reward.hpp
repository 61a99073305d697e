// The reward of a flow that an agent steers: what it receives is counted, and taken as a reward (reward.hpp) when one
// is due. Every simulator that agents steer in uses this.
#pragma once

#include <algorithm>
#include <cstdint>

#include "remy_plus/envs/reward.hpp"

namespace remy_plus {

class FlowReward {
 public:
  // A flow starts; `share` is what its sender has of the fair share by now (µs), `first` its first sequence number.
  void start(double now, double share, std::int64_t first) {
    flow_ = recent_ = {};
    began_ = taken_at_ = now;
    share_began_ = share_taken_at_ = share;
    expected_ = first;
    gained_ = 0;
    decided_ = false;
  }

  // A packet of this flow came back `delay` µs after it was sent.
  void receive(std::int64_t sequence, double delay) {
    if (sequence > expected_) recent_.missing += static_cast<std::uint64_t>(sequence - expected_);
    expected_ = std::max(expected_, sequence + 1);
    ++recent_.packets;
    recent_.delay_sum += delay;
    ++flow_.packets;
    flow_.delay_sum += delay;
  }

  // A decision comes next, so that what follows is earned by the agent.
  void decided() { decided_ = true; }

  // The reward since the last one was taken; an interval that is still short waits, but at the end (`last`).
  double take(const Reward& reward, const Ideal& ideal, double now, double share, bool last) {
    if (reward.kind == RewardKind::gain) return take_gain(reward, ideal, now, share, last);
    if (decided_) {
      recent_.time = now - taken_at_;
      if (!last && recent_.time < reward.interval * ideal.delay) return 0;
      recent_.share = share - share_taken_at_;
    }
    const double taken = decided_ ? interval_reward(reward, ideal, recent_) : 0;
    recent_ = {};
    taken_at_ = now;
    share_taken_at_ = share;
    return taken;
  }

 private:
  double take_gain(const Reward& reward, const Ideal& ideal, double now, double share, bool last) {
    flow_.time = now - began_;
    flow_.share = share - share_began_;
    if ((flow_.packets == 0 && !last) || !(flow_.share > 0)) return 0;
    const double before = gained_;
    gained_ = utility(reward, ideal, flow_);
    return gained_ - before;
  }

  Interval flow_, recent_;  // since the flow's start, since the last payment; time and share when needed
  double began_ = 0, taken_at_ = 0;
  double share_began_ = 0, share_taken_at_ = 0;
  double gained_ = 0;
  std::int64_t expected_ = 0;  // sequence number
  bool decided_ = false;
};

}  // namespace remy_plus
