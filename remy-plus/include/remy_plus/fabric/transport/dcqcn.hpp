// DCQCN (Zhu et al., SIGCOMM 2015) as NICs have it: alpha and decreases by timers of their own, increases by a timer in
// three stages. Marked ACKs are its congestion notifications.
//
// With `gap_per_flow` it is DCQCN+ (Gao et al., ICNP 2018, as PARALEON tells it): the gap between notifications grows
// with the number of flows that their receiver has marks of, increases and moves of alpha come the more seldom, and
// steps are the smaller.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "remy_plus/fabric/range.hpp"
#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"
#include "remy_plus/fabric/windowed/marked_flows.hpp"

namespace remy_plus::fabric {

struct DcqcnParameters : Parameters {
  using Parameters::Parameters;

  double g = read("g", 1.0 / 256);
  Time alpha_every = read("alpha_us", 1 * microsecond, microsecond);
  Time decrease_every = read("decrease_us", 4 * microsecond, microsecond);
  Time increase_every = read("increase_us", 300 * microsecond, microsecond);
  int fast_recovery = read("fast_recovery", 1);  // increases towards the target before it moves
  double increase_gbps = read("increase_gbps", 0.02), hyper_gbps = read("hyper_gbps", 0.2);
  double max_gbps = read("max_gbps", 0.0);                         // 0: the line's
  bool clamp_target = read("clamp_target", false);                 // the target falls to the rate at every decrease
  bool clamp_after_increase = read("clamp_after_increase", true);  // or at the first one after an increase
  double initial_alpha = read("initial_alpha", 1.0);
  double least_factor = read("least_factor", 0.5);      // of a decrease
  double alpha_divisor = read("alpha_divisor", 2.0);    // a decrease is by alpha over it
  double first_gbps = read("first_gbps", 0.0);          // rate after the first notification; 0: as it is
  double increase_bytes = read("increase_bytes", 0.0);  // acknowledged between increases that bytes cause; 0: none
  Time notification_gap =
      read("notification_gap_us", Time{0}, microsecond);  // between notifications of a receiver, at least
  Time gap_per_flow = read("gap_per_flow_us", Time{0},
                           microsecond);  // and so much for each of its flows with marks; 0: they are not counted
  Time marks_within = read("marks_within_us", Time{0}, microsecond);  // a flow is counted for so long after a mark
};

class Dcqcn : public Transport {
 public:
  Dcqcn(const Frame& frame, const DcqcnParameters& parameters) : Transport(frame), p_(parameters) {
    require_every("alpha_us", p_.alpha_every);
    require_every("decrease_us", p_.decrease_every);
    require_every("increase_us", p_.increase_every);
    require_range("g", p_.g, 0, 1);
    require_range("fast_recovery", p_.fast_recovery, 0, 1e6);
    for (const auto& [name, value] : {std::pair("increase_gbps", p_.increase_gbps),
                                      {"hyper_gbps", p_.hyper_gbps},
                                      {"max_gbps", p_.max_gbps},
                                      {"first_gbps", p_.first_gbps}})
      require_range(name, value, 0, 1e6);
    require_range("initial_alpha", p_.initial_alpha, 0, 1);
    require_range("increase_bytes", p_.increase_bytes, 0, 1e18);
    require_range("notification_gap_us", static_cast<double>(p_.notification_gap) / microsecond, 0, longest_us);
    require_range("least_factor", p_.least_factor, 0, 1);
    require_range("alpha_divisor", p_.alpha_divisor, 1, 1e9);
    require_counts();
  }

  void reserve(std::size_t flows) override { states_.resize(flows); }
  void adopt(const Transport& other) override {
    p_ = dynamic_cast<const Dcqcn&>(other).p_;
    frame_.min_gbps = dynamic_cast<const Dcqcn&>(other).frame_.min_gbps;
    frame_.loss_factor = dynamic_cast<const Dcqcn&>(other).frame_.loss_factor;
  }
  Time marks_within() const override { return p_.gap_per_flow > 0 ? p_.marks_within : 0; }
  void start(std::uint32_t, Flow& flow) override { set_rate(flow, most(flow)); }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    if (p_.increase_bytes > 0) count(state, flow, ack);
    if (!ack.marked) return;
    const Time gap = std::max(p_.notification_gap, RoundedCount::count(ack.marked) * p_.gap_per_flow);
    if (ack.now < state.heard + gap) return;
    state.heard = ack.now;
    if (p_.gap_per_flow > 0) state.slowness = static_cast<double>(gap) / static_cast<double>(p_.notification_gap);
    if (state.decrease == never) {
      state.alpha = p_.initial_alpha;
      if (p_.first_gbps > 0) set_rate(flow, std::min(flow.gbps, p_.first_gbps));
      state.target = flow.gbps;
      state.alpha_tick = ack.now + slowed(state, p_.alpha_every);
      state.decrease = ack.now + p_.decrease_every + nanosecond;  // after alpha's own tick
      flow.timer = state.decrease;
    } else {
      move_alpha(state, ack.now);
      state.alpha_notified = true;
      pass(state.decrease, p_.decrease_every, ack.now);
      flow.timer = std::min(flow.timer, state.decrease);
    }
    state.notified = true;
  }

  void on_timer(std::uint32_t number, Flow& flow, Time now) override {
    State& state = states_[number];
    if (now >= state.decrease) {
      if (state.notified) decrease(state, flow, now);
      pass(state.decrease, p_.decrease_every, now);
    }
    if (now >= state.increase) {
      state.increase += slowed(state, p_.increase_every);
      ++state.stage;
      increase(state, flow);
    }
    flow.timer = std::min(state.notified ? state.decrease : never, state.increase);
  }

 protected:
  void cut(std::uint32_t number, Flow& flow, Time now) override {
    State& state = states_[number];
    if (state.target == 0) state.target = flow.gbps;
    lower(state, flow, frame_.loss_factor, now);
    flow.timer = std::min(flow.timer, state.increase);
  }

 private:
  struct alignas(64) State {
    double alpha = 1, target = 0;  // Gb/s
    double slowness = 1;           // gap between notifications, in units of the least
    Time alpha_tick = never, decrease = never, increase = never;
    int stage = 0, byte_stage = 0;
    double bytes = 0;         // since the increase before
    std::uint64_t acked = 0;  // bytes
    Time heard = -never / 2;  // of a notification
    bool alpha_notified = false, notified = false;
  };

  static void require_every(const char* name, Time every) {
    if (every < nanosecond || every > 1'000'000'000 * microsecond)
      throw std::invalid_argument(std::string(name) + ": must be from 0.001 to 10^9");
  }

  void require_counts() const {
    require_range("gap_per_flow_us", static_cast<double>(p_.gap_per_flow) / microsecond, 0, 1e3);
    require_range("marks_within_us", static_cast<double>(p_.marks_within) / microsecond, 0, longest_us);
    if (p_.gap_per_flow > 0 && p_.notification_gap == 0)
      throw std::invalid_argument("gap_per_flow_us: needs a notification_gap_us above 0, from which it slows");
    if (p_.gap_per_flow > 0 && p_.marks_within == 0)
      throw std::invalid_argument("gap_per_flow_us: needs a marks_within_us above 0, in which flows are counted");
  }

  static Time slowed(const State& state, Time every) {
    return std::llround(std::min(static_cast<double>(every) * state.slowness, longest_us * microsecond));
  }

  // Moves a tick to the first one after `now`.
  static void pass(Time& tick, Time every, Time now) {
    if (tick <= now) tick += ((now - tick) / every + 1) * every;
  }

  // Catches up with the ticks until `now`: the first one knows of a notification.
  void move_alpha(State& state, Time now) const {
    for (const Time every = slowed(state, p_.alpha_every); state.alpha_tick <= now; state.alpha_tick += every) {
      state.alpha *= 1 - p_.g;
      if (state.alpha_notified) state.alpha += p_.g;
      state.alpha_notified = false;
    }
  }

  void decrease(State& state, Flow& flow, Time now) const {
    move_alpha(state, now);
    lower(state, flow, std::max(1 - state.alpha / p_.alpha_divisor, p_.least_factor), now);
    state.notified = false;
  }

  // After which increases begin anew.
  void lower(State& state, Flow& flow, double factor, Time now) const {
    const bool increased = state.stage + state.byte_stage > 0;
    if (p_.clamp_target || (p_.clamp_after_increase && increased)) state.target = flow.gbps;
    set_rate(flow, flow.gbps * factor);
    state.stage = state.byte_stage = 0;
    state.bytes = 0;
    state.increase = now + slowed(state, p_.increase_every);
  }

  void count(State& state, Flow& flow, const Ack& ack) const {
    state.bytes += static_cast<double>(ack.bytes - state.acked);
    state.acked = ack.bytes;
    if (state.increase == never || state.bytes < p_.increase_bytes) return;
    state.bytes = 0;
    ++state.byte_stage;
    increase(state, flow);
  }

  // With timers alone the increase after fast recovery is additive and those after it are hyper, as in NICs; with bytes
  // too, hyper where both are past it (Zhu et al., Figure 7).
  void increase(State& state, Flow& flow) const {
    const bool bytes = p_.increase_bytes > 0;
    const int past = p_.fast_recovery + 1;
    const int furthest = bytes ? std::max(state.stage, state.byte_stage) : state.stage;
    const int least = bytes ? std::min(state.stage, state.byte_stage) : state.stage - 1;
    if (least >= past)
      state.target += p_.hyper_gbps / state.slowness;
    else if (furthest >= past)
      state.target += p_.increase_gbps / state.slowness;
    state.target = std::min(state.target, most(flow));
    flow.gbps = (flow.gbps + state.target) / 2;
  }

  double most(const Flow& flow) const {
    return p_.max_gbps > 0 ? std::min(p_.max_gbps, flow.line_gbps) : flow.line_gbps;
  }

  DcqcnParameters p_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
