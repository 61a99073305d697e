// A law for fabrics (policies/fabric_law.h) as a transport.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "remy_plus/fabric/transport/answers.hpp"
#include "remy_plus/fabric/transport/signal_input.hpp"
#include "remy_plus/fabric/transport/with_signals.hpp"
#include "remy_plus/policies/fabric_law.hpp"

namespace remy_plus::fabric {

class ByLaw : public WithSignals {
 public:
  // As WithSignals.
  ByLaw(const Frame& frame, const FabricLaw& law, int frame_bytes, bool looks_at_hops,
        std::shared_ptr<const Stamping> header)
      : WithSignals(frame, frame_bytes, looks_at_hops, std::move(header), law.wanted, nullptr, wanted_of(law)),
        law_(law) {
    for (const Signal s : law_.signals) inputs_.push_back(SignalInput::of(s));
    hears_ = std::ranges::any_of(law_.signals, [](Signal s) { return s == trims || s == marked_ways; });
  }

  FromReceivers from_receivers() const override { return wanted_of(law_); }
  Told told(std::uint32_t number) const override {
    const State& state = states_[number];
    return told_by(state.packets, state.gap, state.rtt);
  }
  void reserve(std::size_t flows) override {
    states_.resize(flows);
    if (hears_) answers_.resize(flows);
  }

  void start(std::uint32_t number, Flow& flow) override {
    State& state = states_[number];
    lcca_fabric_begin(law_.law.get(), &state.flow, static_cast<double>(flow.size) / line_window(flow));
    steer(state, flow);
    flow.gbps = flow.line_gbps;  // until the first ACK
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    const double delay =
        static_cast<double>(ack.now - ack.sent_at - flow.base_rtt) / static_cast<double>(frame_.base_rtt);
    const bool moves = ack.bytes > state.window_end;
    state.rtt = microseconds(ack.now - ack.sent_at);
    if (!inputs_.empty()) see(number, state, flow, ack);
    state.acked_at = ack.now;
    lcca_fabric_ack(law_.law.get(), &state.flow, delay, static_cast<double>(flow.size - ack.bytes) / line_window(flow),
                    state.forms.data(), moves);
    if (moves) state.window_end = ack.sent;
    steer(state, flow);
  }

  bool hears_answers() const override { return hears_; }
  void on_answer(std::uint32_t number, std::uint8_t entropy, bool nack, Echo echo, Time now) override {
    answers_[number].add(entropy, nack, echo, now, 2 * frame_.base_rtt);
  }

  void on_loss(std::uint32_t number, Flow& flow, bool timeout) override {
    State& state = states_[number];
    const std::uint64_t acked = flow.bytes_before(flow.acked);
    if (!timeout && acked < state.reduced_until) return;
    lcca_fabric_lost(law_.law.get(), &state.flow);
    state.reduced_until = flow.bytes_before(flow.next);
    if (timeout) state.window_end = acked;
    steer(state, flow);
  }

 private:
  struct alignas(64) State {
    std::vector<Stack> seen;                                         // the last one of each way
    std::array<double, lcca_fabric_most_signals> values{}, forms{};  // 0 until the signal is known
    std::uint32_t known = 0;                                         // one bit for each
    lcca_fabric_flow flow;
    double packets = 0, gap = 0, rtt = 0;             // window; µs between packets; µs, latest
    std::uint64_t window_end = 0, reduced_until = 0;  // bytes
    Time acked_at = never;
  };

  static FromReceivers wanted_of(const FabricLaw& law) {
    const auto wants = [&](Signal signal) { return std::ranges::find(law.signals, signal) != law.signals.end(); };
    return {wants(receiver_rank), wants(receiver_flows)};
  }

  // Of what hosts know without a header.
  double of_hosts(Signal signal, std::uint32_t number, const Ack& ack) const {
    switch (signal) {
      case remy_plus::credit:
        return ack.credit;
      case receiver_rank:
        return ack.standing.rank;
      case receiver_flows:
        return ack.standing.flows;
      default:
        return answers_[number].share(signal);
    }
  }

  void see(std::uint32_t number, State& state, const Flow& flow, const Ack& ack) const {
    Seen of_hops;
    if (looks_at_hops_) {
      const Looked looked = look(state.seen, *ack.stack);
      of_hops.values[queue] = looked.queue / frame_bytes_;
      of_hops.values[link] = looked.link;
      of_hops.values[available_capacity] = line_packets(flow) * (1 - looked.link);
      of_hops.fresh = bit(queue) | (looked.compared ? bit(link) | bit(available_capacity) : 0);
    }
    const Seen& seen = header_ ? *ack.seen : of_hops;
    const double base = microseconds(frame_.base_rtt), rate = line_packets(flow);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const SignalInput& input = inputs_[i];
      if (input.carried >= network_signals) {
        state.forms[i] = lcca_fabric_form(input.form, of_hosts(input.carried, number, ack));
        continue;
      }
      if (!(seen.fresh & bit(input.carried))) continue;
      const std::uint32_t it = 1u << i;
      double weight = 1;
      if (input.averaged && state.known & it) weight = std::min(1.0, microseconds(ack.now - state.acked_at) / base);
      state.values[i] += weight * (seen.values[input.carried] - state.values[i]);
      state.known |= it;
      state.forms[i] = input.form_of(state.values[i], rate, base);
    }
  }

  void steer(State& state, Flow& flow) const {
    const double window = lcca_fabric_under_way(law_.law.get(), &state.flow) * line_window(flow);
    const double gbps = lcca_fabric_rate(law_.law.get(), &state.flow) * flow.line_gbps;
    flow.window = std::max(window, 1.0);
    flow.pace(gbps, frame_.whole_ns);
    state.packets = window / flow.payload;
    state.gap = frame_bytes_ * 8e-3 / gbps;
  }

  FabricLaw law_;
  std::vector<SignalInput> inputs_;
  bool hears_ = false;
  std::vector<State> states_;
  std::vector<Answers> answers_;  // of flows, where the law looks at them
};

}  // namespace remy_plus::fabric
