// Agents: how a trained network sees and steers a flow. What it sees is the signals of a set, scaled, with some
// history; what it says is a few numbers that become a window and a pacing gap.
//
// The environments in which a network is trained (envs/agent_slots.hpp) and the policy that runs it afterwards share
// this file, so that they cannot disagree.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "remy_plus/policies/control.hpp"
#include "remy_plus/policies/law.hpp"
#include "remy_plus/signals/memory.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus {

// Base-2 logarithm of x >= 1 by basic arithmetic alone, good to single precision: equal on every platform.
inline double quick_log2(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<double>(static_cast<int>(bits >> 52) - 1023);
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    exponent += 1;
  }
  const double f = (mantissa - 1) / (mantissa + 1);  // log m = 2 atanh f
  const double s = f * f;
  constexpr double two_over_ln2 = 2.8853900817779268;
  return exponent + two_over_ln2 * f * (1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9)))));
}

inline float scaled(Signal signal, double value) {
  const Scale& scale = signal_table[signal].scale;
  value = std::min(value, signal_ceiling);
  if (scale.divisor == 0) return static_cast<float>(value);
  return static_cast<float>(quick_log2(1 + value / scale.unit) / scale.divisor);
}

// When an agent decides: at the start of a flow, and then at every acknowledgement, or at the first one that arrives
// `rtts` round trips or more after the one at which it last decided.
struct Decisions {
  double rtts = 0;        // 0: at every acknowledgement
  bool smallest = false;  // round trips as long as the flow's smallest one so far, not as its latest one
  bool late = false;      // late packets of earlier flows ask for a decision too, as they do of rule tables
};

enum class Steering : std::uint8_t {
  window,  // multiplies and adds to the window; may pace relative to the receive EWMA
  rate,    // multiplies the sending rate; no window
  table,   // one of a list of actions, those of rule tables
  law      // adds to the sums of features of a control law, which moves window and gap at every acknowledgement
};

// What the numbers that an agent says mean. `change(a, k)` of a number a in [-1, 1] is a factor: 1 + k a, or
// 1 / (1 − k a) where a is negative, so that a and −a undo each other (Aurora's map; no power functions, so it is equal
// on every platform).
struct ActionMap {
  Steering steering = Steering::window;
  double multiple = 0;   // k of the window's or the rate's factor; what a law's sums are raised by at 1
  double increment = 0;  // packets added at 1, taken away at −1; 0: no such number is said
  double pacing = 0;     // k of the pacing factor; 0: no pacing, no such number
  double initial = 0;    // window of a new flow in packets, or its rate in packets/µs
  double smallest = 0;   // least window in packets, or rate in packets/µs
  double largest = largest_window;
  std::vector<Action> table;
  std::shared_ptr<const Law> law = nullptr;

  // What steering of a kind is unless somebody says otherwise: the one list of defaults. The rate's are Aurora's form
  // with a tenfold step; the table is mvfst-rl's: keep, halve, −10, +10, double. A window of at least 2: with 1, a
  // single loss would silence the flow; of at most 2000, for what a full buffer drops costs time to simulate all the
  // same.
  static ActionMap usual(Steering steering) {
    switch (steering) {
      case Steering::window:
        return {steering, 1, 0, 0, 10, 2, 2000, {}};
      case Steering::rate:
        return {steering, 0.25, 0, 0, 0.25, 0.001, 16, {}};
      case Steering::table:
        return {steering, 0, 0, 0, 10, 2, 2000, {{0, 1, 0}, {0, 0.5, 0}, {-10, 1, 0}, {10, 1, 0}, {0, 2, 0}}};
      case Steering::law:
        return {steering, 0.5, 0, 0, 1, 1, 1, {}};
    }
    return {};
  }

  static double change(double a, double k) {
    const double step = k * std::clamp(a, -1.0, 1.0);
    return step >= 0 ? 1 + step : 1 / (1 - step);
  }

  // How many numbers an action has; an entry of a table is one number, its index.
  std::size_t numbers() const {
    if (steering == Steering::law) return 3;
    return steering == Steering::window ? 1 + (increment > 0) + (pacing > 0) : 1;
  }

  // Throws std::invalid_argument naming what is wrong.
  void check() const;
  // Throws it unless these are numbers of actions.
  void check(std::span<const float> actions) const;

  void start(Control& control) const {
    control = {};
    if (steering == Steering::rate) {
      control.window = largest_window;
      control.gap = 1 / initial;
    } else {
      control.window = initial;
    }
  }

  // `receive_interval` is the flow's receive EWMA, µs.
  void apply(Control& control, double receive_interval, const float* action) const {
    switch (steering) {
      case Steering::window:
        return steer_window(control, receive_interval, action);
      case Steering::rate:
        control.gap = std::clamp(control.gap / change(action[0], multiple), 1 / largest, 1 / smallest);
        return;
      case Steering::table:
        return pick(control, receive_interval, table[static_cast<std::size_t>(action[0])]);
      case Steering::law:
        return;  // it takes the flow too: AgentMemory::apply
    }
  }

 private:
  void steer_window(Control& control, double receive_interval, const float* action) const {
    double window = control.window * change(*action++, multiple);
    if (increment > 0) window += increment * std::clamp(static_cast<double>(*action++), -1.0, 1.0);
    control.window = std::clamp(window, smallest, largest);
    if (pacing > 0) control.gap = change(*action, pacing) * receive_interval;
  }

  void pick(Control& control, double receive_interval, const Action& action) const {
    const double window = control.window * action.multiple + action.increment;
    control.window = std::clamp(static_cast<double>(static_cast<std::int64_t>(window)), smallest, largest);
    control.gap = action.pacing * receive_interval;
  }
};

// Everything that a network has to be run with, beside its weights.
struct Agent {
  std::vector<Signal> signals;  // with a law, in the forms of its features, after the features of every law
  std::size_t history = 1;      // decisions whose signals it sees, the present one included
  Decisions decisions;
  ActionMap actions;

  std::size_t features() const { return actions.law ? lcca_features : 0; }
  std::size_t width() const { return features() + signals.size(); }
  std::size_t inputs() const { return width() * history; }
  SignalMask wanted() const {
    SignalMask mask = actions.law ? actions.law->wanted : 0;
    for (const Signal s : signals) mask |= bit(s);
    return mask;
  }
  // Throws std::invalid_argument naming what is wrong.
  void check() const;
};

// What an agent remembers of one flow.
class AgentMemory {
 public:
  // A flow starts: nothing was seen yet.
  void start(const Agent& agent, Control& control) {
    view_.assign(agent.inputs(), 0);
    next_ = unknown_;
    agent.actions.start(control);
    if (agent.actions.law) agent.actions.law->begin(control, flow_);
  }

  // Whether feedback at `now` asks for a decision; `current` is false for late packets of earlier flows.
  bool due(const Agent& agent, const Memory& memory, double now, bool current) {
    if (!current) return agent.decisions.late && agent.decisions.rtts == 0;
    if (agent.decisions.rtts == 0) return true;
    if (next_ == unknown_) next_ = now + period(agent, memory);
    return now >= next_;
  }

  // Sees the signals of this decision; the view has the latest first.
  const std::vector<float>& see(const Agent& agent, const Memory& memory) {
    const std::size_t width = agent.width();
    std::copy_backward(view_.begin(), view_.end() - static_cast<std::ptrdiff_t>(width), view_.end());
    if (agent.actions.law)
      look(agent, memory);
    else
      for (std::size_t i = 0; i < width; ++i) view_[i] = scaled(agent.signals[i], memory.signals()[agent.signals[i]]);
    return view_;
  }

  const std::vector<float>& view() const { return view_; }

  // The decision was made at `now`; before the first acknowledgement no round trip is known.
  void decided(const Agent& agent, const Memory& memory, double now) {
    if (agent.decisions.rtts > 0 && memory.smallest_rtt() > 0) next_ = now + period(agent, memory);
  }

  void apply(const Agent& agent, Control& control, const Memory& memory, const float* action) {
    if (!agent.actions.law) return agent.actions.apply(control, memory.receive_interval(), action);
    for (std::size_t i = 0; i < 3; ++i)
      flow_.added[i] = agent.actions.multiple * std::clamp(static_cast<double>(action[i]), -1.0, 1.0);
  }

  // An acknowledgement of the flow came, if one has; a decision that it asked for was applied. The law goes on.
  void follow(const Agent& agent, Control& control, const Memory& memory, double now) {
    if (agent.actions.law && memory.smallest_rtt() > 0) agent.actions.law->acknowledged(control, flow_, memory, now);
  }

 private:
  static constexpr double unknown_ = -1;

  // The latest part of the view as a law has it; zeros before an acknowledgement.
  void look(const Agent& agent, const Memory& memory) {
    std::array<double, lcca_features> own{};
    const bool known = memory.smallest_rtt() > 0;
    if (known) lcca_look(flow_.window, &memory.history(), own.data());
    for (std::size_t i = 0; i < own.size(); ++i) view_[i] = static_cast<float>(std::clamp(own[i], -2.0, 2.0));
    for (std::size_t i = 0; i < agent.signals.size(); ++i)
      view_[own.size() + i] = known ? static_cast<float>(Law::form_of(agent.signals[i], memory)) : 0;
  }

  static double period(const Agent& agent, const Memory& memory) {
    const double ratio = agent.decisions.smallest ? 1 : std::max(1.0, memory.signals()[rtt_ratio]);
    return agent.decisions.rtts * ratio * memory.smallest_rtt();
  }

  std::vector<float> view_;
  double next_ = unknown_;
  lcca_flow flow_{};
};

}  // namespace remy_plus
