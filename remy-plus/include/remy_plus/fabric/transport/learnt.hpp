// A learnt policy as a transport: any policy of the one-bottleneck engine, with what it sees of a fabric.
//
// Windows are in packets of the fabric's payload, gaps in µs, as where the policy was learnt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "remy_plus/fabric/transport/with_signals.hpp"
#include "remy_plus/policies/policy.hpp"

namespace remy_plus::fabric {

class Learnt : public WithSignals {
 public:
  // As WithSignals. Of a rule table one look-up in `keep_every` is kept, none if it is 0.
  Learnt(const Frame& frame, const Policy& policy, int frame_bytes, bool looks_at_hops,
         std::shared_ptr<const Stamping> header, std::uint32_t keep_every)
      : WithSignals(frame, frame_bytes, looks_at_hops, std::move(header),
                    std::visit([](const auto& each) { return each.wanted; }, policy),
                    std::visit([](const auto& each) { return own_of(each); }, policy)),
        policy_(of_trial(policy)),
        table_(keep_every > 0 ? std::get_if<RuleTable>(&policy_) : nullptr),
        keep_every_(keep_every),
        rule_hits_(1, RuleHits(std::visit([](const auto& each) { return each.rules(); }, policy), 0)) {}

  Told told(std::uint32_t number) const override {
    const State& state = states_[number];
    return told_by(state.control.window, state.control.gap, state.seeing.memory.latest_rtt());
  }
  void reserve(std::size_t flows) override { states_.resize(flows); }
  // Look-ups are kept in the order of the run.
  bool divide(const std::vector<std::uint32_t>& part) override {
    if (table_ || in_calling_thread(policy_)) return false;
    part_ = part;
    rule_hits_.resize(part.empty() ? 1 : *std::ranges::max_element(part) + std::size_t{1}, rule_hits_.front());
    return true;
  }
  std::optional<RuleHits> rule_hits() const override {
    RuleHits sum(rule_hits_.front().size());
    for (const RuleHits& each : rule_hits_) std::ranges::transform(sum, each, sum.begin(), std::plus<>());
    return sum;
  }
  const LookUps* look_ups() const override { return &look_ups_; }

  void start(std::uint32_t number, Flow& flow) override {
    State& state = states_[number];
    RuleHits& hits = hits_of(number);
    state.control = {};
    state.seeing.memory.reset(0);
    std::visit([&](const auto& policy) { policy.start(state.control, state.seeing.memory, hits); }, policy_);
    std::visit([&](const auto& policy) { policy.unblock(state.control, state.seeing.memory, hits); }, policy_);
    steer(state.control, flow);
  }

  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override {
    State& state = states_[number];
    const Memory& memory = state.seeing.memory;
    RuleHits& hits = hits_of(number);
    const remy_plus::Ack news{see(state.seeing, flow, ack), flow.next, true, microseconds(ack.now)};
    if (table_) [[unlikely]]
      note(memory);
    std::visit([&](const auto& policy) { policy.feedback(state.control, memory, news, hits); }, policy_);
    std::visit([&](const auto& policy) { policy.unblock(state.control, memory, hits); }, policy_);
    steer(state.control, flow);
  }

 private:
  struct alignas(64) State {
    Seeing seeing;
    Control control;
  };

  RuleHits& hits_of(std::uint32_t number) { return rule_hits_[part_.empty() ? 0 : part_[number]]; }

  void note(const Memory& memory) {
    if (met_++ % keep_every_ != 0) return;
    look_ups_.rule.push_back(table_->rule(memory));
    for (const double value : memory.signals()) look_ups_.values.push_back(static_cast<float>(value));
  }

  Policy policy_;
  const RuleTable* table_;  // whose look-ups are kept
  std::uint32_t keep_every_;
  std::uint64_t met_ = 0;
  LookUps look_ups_;
  std::vector<RuleHits> rule_hits_;  // of every part
  std::vector<std::uint32_t> part_;  // of each flow; empty: all are of one
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
