// TIMELY (Mittal et al., SIGCOMM 2015, Algorithm 1): once per window the rate follows the RTT and its gradient.
#pragma once

#include <vector>

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"

namespace remy_plus::fabric {

struct TimelyParameters : Parameters {
  using Parameters::Parameters;

  double weight = read("weight", 0.875), beta = read("beta", 0.8);
  double low_us = read("low_us", 50.0), high_us = read("high_us", 500.0), min_rtt_us = read("min_rtt_us", 20.0);
  double increase_gbps = read("increase_gbps", 0.1), hyper_gbps = read("hyper_gbps", 0.5);
  int hyper_after = read("hyper_after", 5);  // increases in a row
};

class Timely : public Transport {
 public:
  Timely(const Frame& frame, const TimelyParameters& parameters) : Transport(frame), parameters_(parameters) {}

  Telemetry telemetry() const override { return Telemetry::sent_time; }
  void reserve(std::size_t flows) override { states_.resize(flows); }
  void start(std::uint32_t, Flow&) override {}

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    if (ack.bytes <= state.window_end) return;
    const double rtt = static_cast<double>(ack.now - ack.sent_at) / microsecond;
    if (state.window_end > 0) {
      state.difference += parameters_.weight * (rtt - state.rtt - state.difference);
      follow(state, flow, rtt);
    }
    state.rtt = rtt;
    state.window_end = ack.sent;
  }

 private:
  struct alignas(64) State {
    double rtt = 0, difference = 0;  // µs
    std::uint64_t window_end = 0;    // bytes
    int increases = 0;
  };

  void follow(State& state, Flow& flow, double rtt) const {
    const double gradient = state.difference / parameters_.min_rtt_us;
    if (rtt < parameters_.low_us || (rtt <= parameters_.high_us && gradient <= 0)) {
      set_rate(flow, flow.gbps + (state.increases++ < parameters_.hyper_after ? parameters_.increase_gbps
                                                                              : parameters_.hyper_gbps));
      return;
    }
    const double cut = rtt > parameters_.high_us ? 1 - parameters_.high_us / rtt : gradient;
    set_rate(flow, flow.gbps * std::max(0.0, 1 - parameters_.beta * cut));
    state.increases = 0;
  }

  TimelyParameters parameters_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
