// DCTCP (Alizadeh et al., SIGCOMM 2010) in the form of a rate: once per window the share of marked ACKs moves alpha; a
// mark takes alpha / 2 off the rate, at most once per window; a window without one adds a constant. Where packets may
// be lost, a loss halves the rate, at most once per window with marks counted; a timeout leaves a packet per base RTT,
// which doubles in every window up to half of what it was (RFC 8257, section 3.5; RFC 5681).
#pragma once

#include <vector>

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"

namespace remy_plus::fabric {

struct DctcpParameters : Parameters {
  using Parameters::Parameters;

  double g = read("g", 1.0 / 16);
  double increase_gbps = read("increase_gbps", 0.615);  // a packet of 1000 B per 13 µs
};

class Dctcp : public Transport {
 public:
  Dctcp(const Frame& frame, const DctcpParameters& parameters) : Transport(frame), parameters_(parameters) {}

  void reserve(std::size_t flows) override { states_.resize(flows); }

  void start(std::uint32_t, Flow& flow) override {
    flow.window = line_window(flow);
    flow.window_by_rate = true;
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    state.marked += ack.marked;
    const bool window_over = ack.bytes > state.window_end;
    if (window_over) end_window(state, flow, ack);
    if (state.reduced && ack.bytes > state.reduced_until) state.reduced = false;
    if (ack.marked && !state.reduced) {
      set_rate(flow, flow.gbps * (1 - state.alpha / 2));
      state.reduced = true;
      state.reduced_until = ack.sent;
    }
    if (ack.marked) state.threshold = 0;
    if (window_over && !state.reduced) grow(state, flow);
  }

  void on_loss(std::uint32_t number, Flow& flow, bool timeout) override {
    if (frame_.lossless) return;
    State& state = states_[number];
    const std::uint64_t acked = flow.bytes_before(flow.acked);
    if (!timeout && state.reduced && acked <= state.reduced_until) return;
    const double packet = flow.line_gbps * flow.payload / line_window(flow);  // Gb/s: one per base RTT
    if (flow.gbps > packet) state.threshold = std::max(flow.gbps / 2, 2 * packet);
    set_rate(flow, timeout ? packet : state.threshold);
    state.reduced = !timeout;
    state.reduced_until = flow.bytes_before(flow.next);
    if (timeout) state.window_end = acked;
  }

 private:
  struct alignas(64) State {
    double alpha = 1;
    std::uint64_t window_end = 0, reduced_until = 0;  // bytes
    double acks = 0;                                  // that the window has
    std::uint32_t marked = 0;
    double threshold = 0;  // Gb/s, up to which the rate doubles
    bool reduced = false;
  };

  void end_window(State& state, const Flow& flow, const Ack& ack) const {
    const auto in_packets = [&](std::uint64_t bytes) {
      return static_cast<double>(bytes / static_cast<std::uint64_t>(flow.payload) + 1);
    };
    if (state.window_end == 0) {
      state.acks = in_packets(ack.sent);
    } else {
      const double share = std::min(1.0, state.marked / state.acks);
      state.alpha += parameters_.g * (share - state.alpha);
      state.marked = 0;
      state.acks = in_packets(ack.sent - ack.bytes);
    }
    state.window_end = ack.sent;
  }

  void grow(const State& state, Flow& flow) const {
    const bool starts = flow.gbps < state.threshold;
    set_rate(flow, starts ? std::min(2 * flow.gbps, state.threshold) : flow.gbps + parameters_.increase_gbps);
  }

  DctcpParameters parameters_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
