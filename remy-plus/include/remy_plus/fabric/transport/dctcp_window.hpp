// DCTCP (Alizadeh et al., SIGCOMM 2010; RFC 8257) as a window: slow start, one packet more per window, alpha / 2 less
// after a window with marks; after a loss half, and one packet after a timeout (RFC 8257, section 3.5; RFC 5681).
#pragma once

#include <vector>

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"

namespace remy_plus::fabric {

struct DctcpWindowParameters : Parameters {
  using Parameters::Parameters;

  double g = read("g", 1.0 / 16);
  double initial = read("initial", 10.0);   // packets (RFC 6928)
  double increase = read("increase", 1.0);  // packets per window
};

class DctcpWindow : public Transport {
 public:
  DctcpWindow(const Frame& frame, const DctcpWindowParameters& parameters) : Transport(frame), p_(parameters) {}

  void reserve(std::size_t flows) override { states_.resize(flows); }

  void start(std::uint32_t number, Flow& flow) override {
    states_[number].window = p_.initial;
    use(states_[number], flow);
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    const double packets = static_cast<double>(ack.bytes - state.acked) / flow.payload;
    state.acked = ack.bytes;
    state.acks += packets;
    if (ack.marked) mark(state, packets, ack);
    if (ack.bytes > state.window_end) end_window(state, ack);
    if (ack.bytes > state.reduced_until) grow(state, packets);
    use(state, flow);
  }

  void on_loss(std::uint32_t number, Flow& flow, bool timeout) override {
    State& state = states_[number];
    const std::uint64_t acked = flow.bytes_before(flow.acked);
    if (!timeout && acked < state.reduced_until) return;
    if (state.window > 1) state.threshold = std::max(state.window / 2, 2.0);
    state.window = timeout ? 1 : state.threshold;
    state.reduced_until = timeout ? acked : flow.bytes_before(flow.next);
    use(state, flow);
  }

 private:
  struct alignas(64) State {
    double window = 0, threshold = 1e12;  // packets
    double alpha = 1, acks = 0, marked = 0;
    std::uint64_t acked = 0, window_end = 0, reduced_until = 0;  // bytes
  };

  // At most one decrease per window.
  void mark(State& state, double packets, const Ack& ack) const {
    state.marked += packets;
    if (ack.bytes <= state.reduced_until) return;
    state.window = std::max(state.window * (1 - state.alpha / 2), 1.0);
    state.threshold = state.window;
    state.reduced_until = ack.sent;
  }

  void end_window(State& state, const Ack& ack) const {
    if (state.acks > 0) state.alpha += p_.g * (state.marked / state.acks - state.alpha);
    state.acks = state.marked = 0;
    state.window_end = ack.sent;
  }

  void grow(State& state, double packets) const {
    state.window += state.window < state.threshold ? packets : p_.increase * packets / state.window;
  }

  static void use(const State& state, Flow& flow) { flow.window = state.window * flow.payload; }

  DctcpWindowParameters p_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
