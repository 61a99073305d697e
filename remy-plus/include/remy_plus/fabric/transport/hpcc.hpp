// HPCC (Li et al., SIGCOMM 2019, Algorithm 1), a rate that the window follows, and PowerTCP in the same frame (Addanki
// et al., NSDI 2022, Algorithm 1): each ACK brings what every hop stamped; the fullest hop moves an average of one base
// RTT; the rate that all changes start from moves once per window.
#pragma once

#include <vector>

#include "remy_plus/core/large_pages.hpp"
#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"
#include "remy_plus/fabric/transport/stamps.hpp"

namespace remy_plus::fabric {

struct HpccParameters : Parameters {
  using Parameters::Parameters;

  double eta = read("eta", 0.95);            // utilisation that is aimed at
  int most_stages = read("most_stages", 0);  // additive steps between multiplicative ones
  double increase_gbps = read("increase_gbps", 0.04);
};

struct PowerParameters : Parameters {
  using Parameters::Parameters;

  double gamma = read("gamma", 0.9);
  double eta = read("eta", 0.95);
  double increase_gbps = read("increase_gbps", 0.15);
};

// The frame of both.
class ByStacks : public Transport {
 public:
  using Transport::Transport;

  Telemetry telemetry() const override { return Telemetry::stack; }
  void reserve(std::size_t flows) override { states_.resize(flows); }

  void start(std::uint32_t number, Flow& flow) override {
    flow.window = line_window(flow);
    flow.window_by_rate = true;
    states_[number].gbps = flow.gbps;
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    const bool moved = state.window_end > 0 && !ack.stack->along(state.seen);  // nothing can be compared
    if (!moved && (!skips_first_window() || state.window_end > 0)) {
      average(state, flow, *ack.stack);
      const bool whole = ack.bytes > state.window_end;
      const double to = bounded(flow, changed(state, whole));
      flow.pace(to, frame_.whole_ns);
      if (whole) state.gbps = to;
    }
    state.seen = *ack.stack;
    if (ack.bytes > state.window_end) state.window_end = ack.sent;
  }

 protected:
  struct alignas(64) State {
    double average = 1;  // of the measure of the fullest hop
    double gbps = 0;     // from which changes start
    int stage = 0;
    std::uint64_t window_end = 0;  // bytes
    Stack seen;
  };

  virtual bool skips_first_window() const = 0;
  void cut(std::uint32_t number, Flow& flow, Time) override {
    State& state = states_[number];
    state.gbps = bounded(flow, state.gbps * frame_.loss_factor);
    flow.pace(bounded(flow, flow.gbps * frame_.loss_factor), frame_.whole_ns);
  }

  // How full a hop is, 1 where it is just used up.
  virtual double fullness(const Flow& flow, const Stamp& before, const Stamp& now, const Between& step) const = 0;
  // The rate that follows; `whole`: a window has passed.
  virtual double changed(State& state, bool whole) const = 0;

  double queue(const Stamp& stamp) const { return stamp.queue * frame_.queue_quantum; }  // bytes
  double base_ns() const { return static_cast<double>(frame_.base_rtt) / nanosecond; }

 private:
  // The first stack has none to be compared with: a base RTT in which nothing came.
  void average(State& state, const Flow& flow, const Stack& stack) const {
    double fullest = 0, ns = 0;
    for (std::uint32_t hop = 0; hop < stack.count; ++hop) {
      const Stamp &before = state.seen.stamps[hop], &now = stack.stamps[hop];
      const Between step = state.window_end > 0 ? between(before, now, frame_) : Between{base_ns(), 0};
      const double found = fullness(flow, before, now, step);
      if (found <= fullest && hop > 0) continue;
      fullest = found;
      ns = step.ns;
    }
    ns = std::min(ns, base_ns());
    state.average = (state.average * (base_ns() - ns) + fullest * ns) / base_ns();
  }

  std::vector<State, LargePages<State>> states_;
};

class Hpcc : public ByStacks {
 public:
  Hpcc(const Frame& frame, const HpccParameters& parameters) : ByStacks(frame), parameters_(parameters) {}

 protected:
  bool skips_first_window() const override { return true; }

  double fullness(const Flow& flow, const Stamp& before, const Stamp& now, const Between& step) const override {
    const double waiting = std::min(queue(before), queue(now));
    return step.gbps / now.gbps + waiting * flow.line_gbps / now.gbps / flow.window;
  }

  double changed(State& state, bool whole) const override {
    const double over = state.average / parameters_.eta;
    const bool multiply = over >= 1 || state.stage >= parameters_.most_stages;
    if (whole) state.stage = multiply ? 0 : state.stage + 1;
    return (multiply ? state.gbps / over : state.gbps) + parameters_.increase_gbps;
  }

 private:
  HpccParameters parameters_;
};

class PowerTcp : public ByStacks {
 public:
  PowerTcp(const Frame& frame, const PowerParameters& parameters) : ByStacks(frame), parameters_(parameters) {}

 protected:
  bool skips_first_window() const override { return false; }

  // Power: the rate into the port (at least half the link's) times the bytes that are in it and on the way.
  double fullness(const Flow&, const Stamp&, const Stamp& now, const Between& step) const override {
    const double product = now.gbps * base_ns() / 8;  // bytes
    return std::max(step.gbps, now.gbps / 2.0) * (queue(now) + product) / (now.gbps * product);
  }

  double changed(State& state, bool) const override {
    const double wanted = state.gbps / (state.average / parameters_.eta) + parameters_.increase_gbps;
    return parameters_.gamma * wanted + (1 - parameters_.gamma) * state.gbps;
  }

 private:
  PowerParameters parameters_;
};

}  // namespace remy_plus::fabric
