// θ-PowerTCP (Addanki et al., NSDI 2022, Algorithm 2): PowerTCP without telemetry, from the RTT and its gradient, whose
// average moves at every ACK, the rate once per window.
#pragma once

#include <algorithm>
#include <vector>

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"

namespace remy_plus::fabric {

struct ThetaParameters : Parameters {
  using Parameters::Parameters;

  double gamma = read("gamma", 0.7);
  double increase_gbps = read("increase_gbps", 0.15);
  double rtt_slack = read("rtt_slack", 1.05);  // base RTTs that count as no queue
};

class ThetaPower : public Transport {
 public:
  ThetaPower(const Frame& frame, const ThetaParameters& parameters) : Transport(frame), p_(parameters) {}

  Telemetry telemetry() const override { return Telemetry::sent_time; }
  void reserve(std::size_t flows) override { states_.resize(flows); }

  void start(std::uint32_t, Flow& flow) override {
    flow.window = line_window(flow);
    flow.window_by_rate = true;
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    const Time rtt = ack.now - ack.sent_at;
    const bool first = state.heard == never;
    if (!first) average(state, ack.now, rtt);
    if (ack.bytes > state.window_end) {
      state.window_end = ack.sent;
      if (!first) follow(state, flow);
    }
    state.heard = ack.now;
    state.rtt = rtt;
  }

 private:
  struct alignas(64) State {
    double average = 1;
    Time heard = never, rtt = 0;
    std::uint64_t window_end = 0;
  };

  void average(State& state, Time now, Time rtt) const {
    const auto base = static_cast<double>(frame_.base_rtt);
    const auto gap = static_cast<double>(std::max<Time>(now - state.heard, nanosecond));
    const double growth = std::max(0.5, 1 + static_cast<double>(rtt - state.rtt) / gap);
    const double power = growth * static_cast<double>(rtt) / (p_.rtt_slack * base);
    const double weight = std::min(gap / base, 1.0);
    state.average += weight * (power - state.average);
  }

  void follow(const State& state, Flow& flow) const {
    const double wanted = flow.gbps / state.average + p_.increase_gbps;
    flow.pace(bounded(flow, p_.gamma * wanted + (1 - p_.gamma) * flow.gbps), frame_.whole_ns);
  }

  ThetaParameters p_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
