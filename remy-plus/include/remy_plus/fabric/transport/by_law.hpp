// A law for fabrics (policies/fabric_law.h) as a transport.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "remy_plus/fabric/transport/with_signals.hpp"
#include "remy_plus/policies/fabric_law.hpp"

namespace remy_plus::fabric {

class ByLaw : public WithSignals {
 public:
  // As WithSignals.
  ByLaw(const Frame& frame, const FabricLaw& law, int frame_bytes, bool looks_at_hops,
        std::shared_ptr<const Stamping> header)
      : WithSignals(frame, frame_bytes, looks_at_hops, std::move(header), law.wanted), law_(law) {
    const double rtt = microseconds(frame.base_rtt);
    for (const Signal s : law_.signals) {
      const int power = power_of_time(s);
      const bool packets = signal_table[s].unit.starts_with("packets");
      inputs_.push_back({s, static_cast<int>(fabric_form(s)), power > 0 ? 1 / rtt : 1.0, power < 0, packets && !power});
    }
  }

  Told told(std::uint32_t number) const override {
    const State& state = states_[number];
    return told_by(state.packets, state.gap, state.seeing.memory.latest_rtt());
  }
  void reserve(std::size_t flows) override { states_.resize(flows); }

  void start(std::uint32_t number, Flow& flow) override {
    State& state = states_[number];
    state.seeing.memory.reset(0);
    lcca_fabric_begin(law_.law.get(), &state.flow, static_cast<double>(flow.size) / line_window(flow));
    steer(state, flow);
    flow.gbps = flow.line_gbps;  // until the first ACK
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    std::array<double, lcca_fabric_most_signals> forms{};
    if (!inputs_.empty() || header_) {
      see(state.seeing, flow, ack);
      const double rate = line_packets(flow), bdp = rate * microseconds(frame_.base_rtt);  // packets
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const Input& input = inputs_[i];
        const double value = state.seeing.memory.signals()[input.signal] * input.by;
        forms[i] = lcca_fabric_form(input.form, input.over_rate ? value / rate : input.over_bdp ? value / bdp : value);
      }
    }
    const double delay =
        static_cast<double>(ack.now - ack.sent_at - flow.base_rtt) / static_cast<double>(frame_.base_rtt);
    const bool moves = ack.bytes > state.window_end;
    lcca_fabric_ack(law_.law.get(), &state.flow, delay, static_cast<double>(flow.size - ack.bytes) / line_window(flow),
                    forms.data(), moves);
    if (moves) state.window_end = ack.sent;
    steer(state, flow);
  }

  void on_loss(std::uint32_t number, Flow& flow, bool timeout) override {
    State& state = states_[number];
    const std::uint64_t acked = flow.bytes_before(flow.acked);
    if (!timeout && acked < state.reduced_until) return;
    lcca_fabric_lost(law_.law.get(), &state.flow);
    state.reduced_until = flow.bytes_before(flow.next);
    steer(state, flow);
  }

 private:
  struct Input {
    Signal signal;
    int form;
    double by;
    bool over_rate, over_bdp;  // in units of the line's rate, of a BDP in packets
  };

  struct State {
    Seeing seeing;
    lcca_fabric_flow flow;
    double packets = 0, gap = 0;                      // window, µs between packets
    std::uint64_t window_end = 0, reduced_until = 0;  // bytes
  };

  void steer(State& state, Flow& flow) const {
    const double window = lcca_fabric_under_way(law_.law.get(), &state.flow) * line_window(flow);
    const double gbps = lcca_fabric_rate(law_.law.get(), &state.flow) * flow.line_gbps;
    flow.window = std::max(window, 1.0);
    flow.pace(gbps, frame_.whole_ns);
    state.packets = window / flow.payload;
    state.gap = frame_bytes_ * 8e-3 / gbps;
  }

  FabricLaw law_;
  std::vector<Input> inputs_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
