// DCQCN (Zhu et al., SIGCOMM 2015) as NICs have it: alpha and decreases by timers of their own, increases by a timer in
// three stages. Marked ACKs are its congestion notifications.
#pragma once

#include <vector>

#include "remy_plus/fabric/transport.hpp"

namespace remy_plus::fabric {

struct DcqcnParameters {
  double g = 1.0 / 256;
  Time alpha_every = 1 * microsecond;
  Time decrease_every = 4 * microsecond;
  Time increase_every = 300 * microsecond;
  int fast_recovery = 1;  // increases towards the target before it moves
  double increase_gbps = 0.02, hyper_gbps = 0.2;
  bool clamp_target = false;  // the target falls to the rate at every decrease
};

class Dcqcn : public Transport {
 public:
  Dcqcn(const Frame& frame, const DcqcnParameters& parameters) : Transport(frame), parameters_(parameters) {}

  void reserve(std::size_t flows) override { states_.resize(flows); }
  void start(std::uint32_t, Flow&) override {}

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    if (!ack.marked) return;
    State& state = states_[number];
    if (state.decrease == never) {
      state.target = flow.gbps;
      state.alpha_tick = ack.now + parameters_.alpha_every;
      state.decrease = ack.now + parameters_.decrease_every + nanosecond;  // after alpha's own tick
      flow.timer = state.decrease;
    } else {
      move_alpha(state, ack.now);
      state.alpha_notified = true;
      pass(state.decrease, parameters_.decrease_every, ack.now);
      flow.timer = std::min(flow.timer, state.decrease);
    }
    state.notified = true;
  }

  void on_timer(std::uint32_t number, Flow& flow, Time now) override {
    State& state = states_[number];
    if (now >= state.decrease) {
      if (state.notified) decrease(state, flow, now);
      pass(state.decrease, parameters_.decrease_every, now);
    }
    if (now >= state.increase) {
      state.increase += parameters_.increase_every;
      increase(state, flow);
    }
    flow.timer = std::min(state.notified ? state.decrease : never, state.increase);
  }

 private:
  struct State {
    double alpha = 1, target = 0;  // Gb/s
    Time alpha_tick = never, decrease = never, increase = never;
    int stage = 0;
    bool alpha_notified = false, notified = false;
  };

  // Moves a tick to the first one after `now`.
  static void pass(Time& tick, Time every, Time now) {
    if (tick <= now) tick += ((now - tick) / every + 1) * every;
  }

  // Catches up with the ticks until `now`: the first one knows of a notification.
  void move_alpha(State& state, Time now) const {
    for (; state.alpha_tick <= now; state.alpha_tick += parameters_.alpha_every) {
      state.alpha *= 1 - parameters_.g;
      if (state.alpha_notified) state.alpha += parameters_.g;
      state.alpha_notified = false;
    }
  }

  void decrease(State& state, Flow& flow, Time now) const {
    move_alpha(state, now);
    if (parameters_.clamp_target || state.stage > 0) state.target = flow.gbps;
    set_rate(flow, flow.gbps * (1 - state.alpha / 2));
    state.stage = 0;
    state.notified = false;
    state.increase = now + parameters_.increase_every;
  }

  void increase(State& state, Flow& flow) const {
    if (state.stage == parameters_.fast_recovery) state.target += parameters_.increase_gbps;
    if (state.stage > parameters_.fast_recovery) state.target += parameters_.hyper_gbps;
    state.target = std::min(state.target, flow.line_gbps);
    flow.gbps = (flow.gbps + state.target) / 2;
    ++state.stage;
  }

  DcqcnParameters parameters_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
