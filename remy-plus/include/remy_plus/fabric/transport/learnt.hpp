// A learnt policy as a transport: any policy of the one-bottleneck engine, with what it sees of a fabric.
//
// Windows are in packets of the fabric's payload, gaps in µs, as where the policy was learnt. What it sees of the
// network comes from its header, or without one from the stamps of the hops: the longest queue, in full frames, and the
// highest share of a link that was used since the flow's ACK before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/stamps.hpp"
#include "remy_plus/policies/policy.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus::fabric {

class Learnt : public Transport {
 public:
  // `frame_bytes`: of a full data packet on the wire, without telemetry. `header` may be null. Of a rule table one
  // look-up in `keep_every` is kept, none if it is 0.
  Learnt(const Frame& frame, const Policy& policy, int frame_bytes, bool looks_at_hops,
         std::shared_ptr<const Stamping> header, std::uint32_t keep_every)
      : Transport(frame),
        policy_(of_trial(policy)),
        header_(std::move(header)),
        looks_at_hops_(looks_at_hops && !header_),
        frame_bytes_(frame_bytes + telemetry_bytes(telemetry()) +
                     (header_ ? static_cast<int>(Stamping::bytes(header_->sent_bytes, 0)) : 0)),
        wanted_(std::visit([](const auto& each) { return each.wanted; }, policy)),
        table_(keep_every > 0 ? std::get_if<RuleTable>(&policy_) : nullptr),
        keep_every_(keep_every),
        rule_hits_(std::visit([](const auto& each) { return each.rules(); }, policy), 0) {}

  Telemetry telemetry() const final {
    return header_ ? Telemetry::header : looks_at_hops_ ? Telemetry::stack : Telemetry::sent_time;
  }
  const Stamping* header() const override { return header_.get(); }
  Told told(std::uint32_t number) const override {
    const State& state = states_[number];
    return told_by(state.control.window, state.control.gap, state.memory.latest_rtt());
  }
  void reserve(std::size_t flows) override { states_.resize(flows); }
  const RuleHits* rule_hits() const override { return &rule_hits_; }
  const LookUps* look_ups() const override { return &look_ups_; }

  void start(std::uint32_t number, Flow& flow) override {
    State& state = states_[number];
    state.control = {};
    state.memory.reset(0);
    std::visit([&](const auto& policy) { policy.start(state.control, state.memory, rule_hits_); }, policy_);
    std::visit([&](const auto& policy) { policy.unblock(state.control, state.memory, rule_hits_); }, policy_);
    steer(state, flow);
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    const double now = microseconds(ack.now);
    remy_plus::Packet packet{};
    packet.sent = microseconds(ack.sent_at);
    packet.arrives = now;
    packet.sequence = flow.acked - 1;
    if (looks_at_hops_) look(state, *ack.stack, packet);
    const double link_rate = flow.line_gbps / 8e-3 / frame_bytes_;  // packets/µs
    if (header_) {
      ByHeader net{*ack.seen};
      state.memory.receive(net, packet, now, state.acknowledged, wanted_);
    } else {
      state.memory.receive_plain(packet, now, state.acknowledged, wanted_, link_rate);
    }
    state.acknowledged = packet.sequence;
    if (table_) [[unlikely]]
      note(state.memory);
    const remy_plus::Ack news{packet.sequence, flow.next, true, now};
    std::visit([&](const auto& policy) { policy.feedback(state.control, state.memory, news, rule_hits_); }, policy_);
    std::visit([&](const auto& policy) { policy.unblock(state.control, state.memory, rule_hits_); }, policy_);
    steer(state, flow);
  }

 private:
  struct State {
    Memory memory;
    Control control;
    std::int64_t acknowledged = -1;
    Stack seen;
  };

  // Where a header is all that tells of the network.
  struct ByHeader {
    const Seen& seen;
    const Seen& look(const remy_plus::Packet&) const { return seen; }
    static bool plain() { return false; }
    static double spare(const remy_plus::Packet&) { return 0; }
    static double one_way_delay(const remy_plus::Packet& packet, double) { return packet.arrives - packet.sent; }
  };

  static double microseconds(Time time) { return static_cast<double>(time) / microsecond; }

  // A window below one packet would never be opened again: no ACK is under way. It counts as one. Policies without a
  // window have a large number, of which bytes must still fit into 64 bits.
  void steer(const State& state, Flow& flow) const {
    flow.window = std::clamp(state.control.window, 1.0, 1e12) * flow.payload;
    const double gbps = state.control.gap > 0 ? frame_bytes_ * 8e-3 / state.control.gap : flow.line_gbps;
    flow.pace(std::min(gbps, flow.line_gbps), frame_.whole_ns);
  }

  void note(const Memory& memory) {
    if (met_++ % keep_every_ != 0) return;
    look_ups_.rule.push_back(table_->rule(memory));
    for (const double value : memory.signals()) look_ups_.values.push_back(static_cast<float>(value));
  }

  void look(State& state, const Stack& stack, remy_plus::Packet& packet) const {
    double used = 0, queued = 0;
    for (std::uint32_t hop = 0; hop < stack.count; ++hop) {
      const Stamp& now = stack.stamps[hop];
      queued = std::max(queued, now.queue * frame_.queue_quantum);
      if (state.acknowledged >= 0) used = std::max(used, between(state.seen.stamps[hop], now, frame_).gbps / now.gbps);
    }
    packet.queue = static_cast<std::uint32_t>(queued / frame_bytes_);
    packet.link = std::min(used, 1.0);
    state.seen = stack;
  }

  Policy policy_;
  std::shared_ptr<const Stamping> header_;
  bool looks_at_hops_;
  int frame_bytes_;
  SignalMask wanted_;
  const RuleTable* table_;  // whose look-ups are kept
  std::uint32_t keep_every_;
  std::uint64_t met_ = 0;
  LookUps look_ups_;
  RuleHits rule_hits_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
