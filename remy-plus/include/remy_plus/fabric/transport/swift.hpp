// Swift (Kumar et al., SIGCOMM 2020, Algorithm 1): a window that follows a target delay; the target grows with hops and
// with small windows.
#pragma once

#include <cmath>
#include <vector>

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"

namespace remy_plus::fabric {

struct SwiftParameters : Parameters {
  using Parameters::Parameters;

  double base_us = read("base_us", 0.0);  // target without queues; 0: base_rtts largest base RTTs
  double base_rtts = read("base_rtts", 1.25);
  double hop_us = read("hop_us", 0.5);  // added per switch
  double range = read("range", 4.0);    // of flow scaling, in base targets
  double least = read("least", 0.1),
         most = read("most", 256.0);        // packets: of the window; flow scaling's range has the same ends
  double increase = read("increase", 1.0);  // packets per RTT
  double beta = read("beta", 0.8);
  double most_decrease = read("most_decrease", 0.5);  // share of the window, per RTT
  int reset_after = read("reset_after", 5);           // timeouts in a row: the smallest window
};

class Swift : public Transport {
 public:
  Swift(const Frame& frame, const SwiftParameters& parameters) : Transport(frame), p_(parameters) {
    if (p_.least <= 0 || p_.most <= p_.least) throw std::invalid_argument("least: must be above 0, and most above it");
    base_ = p_.base_us > 0 ? p_.base_us : p_.base_rtts * static_cast<double>(frame.base_rtt) / microsecond;
    slope_ = p_.range * base_ / (1 / std::sqrt(p_.least) - 1 / std::sqrt(p_.most));
  }

  Telemetry telemetry() const override { return Telemetry::sent_time; }
  void reserve(std::size_t flows) override { states_.resize(flows); }

  void start(std::uint32_t number, Flow& flow) override {
    State& state = states_[number];
    state.window = std::min(p_.most, std::max(1.0, line_window(flow) / flow.payload));
    state.rtt = static_cast<double>(frame_.base_rtt) / microsecond;
    use(state.window, flow, state.rtt);
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    const double rtt = static_cast<double>(ack.now - ack.sent_at) / microsecond;
    const double packets = static_cast<double>(ack.bytes - state.acked) / flow.payload;
    state.acked = ack.bytes;
    state.timeouts = 0;
    state.rtt = rtt;
    const double wanted = target(state.window, flow.switches);
    if (rtt < wanted) {
      state.window += p_.increase * packets / std::max(state.window, 1.0);
    } else if (ack.bytes > state.cut_until) {
      state.window *= std::max(1 - p_.beta * (rtt - wanted) / rtt, 1 - p_.most_decrease);
      state.cut_until = ack.sent;
    }
    state.window = std::clamp(state.window, p_.least, p_.most);
    use(state.window, flow, rtt);
  }

  // A timeout is longer than an RTT: it may always decrease.
  void on_loss(std::uint32_t number, Flow& flow, bool timeout) override {
    State& state = states_[number];
    state.timeouts = timeout ? state.timeouts + 1 : 0;
    if (!timeout && flow.bytes_before(flow.acked) < state.cut_until) return;
    state.window =
        state.timeouts >= p_.reset_after ? p_.least : std::max(state.window * (1 - p_.most_decrease), p_.least);
    state.cut_until = flow.bytes_before(flow.next);
    use(state.window, flow, state.rtt);
  }

 private:
  struct alignas(64) State {
    double window = 0;            // packets
    double rtt = 0;               // µs, the last one
    int timeouts = 0;             // since something was acknowledged
    std::uint64_t acked = 0;      // bytes
    std::uint64_t cut_until = 0;  // bytes: no second decrease before their ACK
  };

  double target(double window, int switches) const {
    const double scaling = slope_ * (1 / std::sqrt(window) - 1 / std::sqrt(p_.most));
    return base_ + switches * p_.hop_us + std::clamp(scaling, 0.0, p_.range * base_);
  }

  // Below one packet the window is a gap between packets.
  void use(double window, Flow& flow, double rtt) const {
    flow.window = std::max(window, 1.0) * flow.payload;
    const double gbps = window < 1 ? window * flow.payload * 8e-3 / rtt : flow.line_gbps;
    flow.pace(std::min(gbps, flow.line_gbps), frame_.whole_ns);
  }

  SwiftParameters p_;
  double base_, slope_;  // µs
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
