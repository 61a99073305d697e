// Flows of a fabric that an agent outside steers, beside flows of another transport.
//
// A flow is steered from its begin to its last ACK, in a slot of its own; one that finds no slot free runs as the
// others do. What an agent sees, when it decides and what its numbers do is as in one-bottleneck environments
// (policies/agent.hpp), so that a network that says the same as a policy (fabric/transport/learnt.hpp) runs the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "remy_plus/envs/episode.hpp"
#include "remy_plus/envs/flow_reward.hpp"
#include "remy_plus/fabric/transport/with_signals.hpp"
#include "remy_plus/policies/agent.hpp"

namespace remy_plus {

struct FabricAgentsRules {
  Agent agent;
  Reward reward;
  // At 0 a flow decides at once, at the ACK that asks for it. More: all flows that are due decide together at the next
  // multiple of it.
  fabric::Time patience = 0;
  std::uint32_t slots = 1;
  std::vector<std::uint32_t> flows;  // that may be steered; empty: all
  bool looks_at_hops = false;
  std::shared_ptr<const Stamping> header = nullptr;  // of all packets
};

// What is handed over: an end comes before the next flow of its slot.
struct FabricRows {
  std::vector<std::uint32_t> slot, flow;
  std::vector<Ending> ending;      // none: the slot has to decide
  std::vector<float> view;         // rows × inputs
  std::vector<float> reward;       // since the flow's decision before; 0 at its first
  std::vector<double> elapsed;     // µs since then
  std::vector<double> now, ideal;  // µs; what the flow takes alone at line rate, to its last ACK

  bool empty() const { return slot.empty(); }
};

class FabricAgents final : public fabric::WithSignals {
 public:
  // Returns a row of numbers for each row; those of ends are not looked at.
  using Decide = std::function<std::vector<float>(const FabricRows&)>;

  FabricAgents(const fabric::Frame& frame, FabricAgentsRules rules, int frame_bytes,
               std::unique_ptr<fabric::Transport> others, Decide decide)
      : WithSignals(frame, frame_bytes, rules.looks_at_hops || others->telemetry() == fabric::Telemetry::stack,
                    rules.header, rules.agent.wanted()),
        rules_(std::move(rules)),
        others_(std::move(others)),
        decide_(std::move(decide)),
        slots_(rules_.slots) {
    rules_.agent.check();
    rules_.reward.check();
    if (rules_.slots < 1 || rules_.slots > UINT16_MAX) throw std::invalid_argument("slots: must be 1 to 65535");
    if (rules_.patience < 0) throw std::invalid_argument("patience: must be 0 or above");
    if (rules_.agent.actions.law && rules_.patience > 0)
      throw std::invalid_argument("patience: a law goes on at every acknowledgement: it must be 0");
    if (others_->hosts() != fabric::Hosts::windowed)
      throw std::invalid_argument("others: have hosts of their own, which agents do not; try dctcp");
    const fabric::Telemetry theirs = others_->telemetry();
    if (theirs == fabric::Telemetry::fair_rate || theirs == fabric::Telemetry::header ||
        (theirs == fabric::Telemetry::stack && rules_.header))
      throw std::invalid_argument("others: their packets carry what those of the agents' flows do not");
  }

  fabric::Time patience() const { return rules_.patience; }

  Told told(std::uint32_t number) const override {
    const Slot* slot = slot_of(number);
    if (!slot) return others_->told(number);
    return told_by(slot->control.window, slot->control.gap, slot->seeing.memory.latest_rtt());
  }
  void reserve(std::size_t flows) override {
    others_->reserve(flows);
    at_.assign(flows, none_);
    may_.assign(flows, rules_.flows.empty());
    for (const std::uint32_t number : rules_.flows) {
      if (number >= flows) throw std::invalid_argument("flows: there is no flow " + std::to_string(number));
      may_[number] = true;
    }
  }
  fabric::Time marks_within() const override { return others_->marks_within(); }
  bool hears_answers() const override { return others_->hears_answers(); }
  void on_answer(std::uint32_t number, std::uint8_t entropy, bool nack, fabric::Echo echo, fabric::Time now) override {
    if (!slot_of(number)) others_->on_answer(number, entropy, nack, echo, now);
  }
  bool divide(const std::vector<std::uint32_t>&) override { return false; }
  std::optional<RuleHits> rule_hits() const override { return others_->rule_hits(); }

  void start(std::uint32_t number, fabric::Flow& flow) override {
    const auto free = std::find_if(slots_.begin(), slots_.end(), [](const Slot& each) { return !each.on; });
    if (!may_[number] || free == slots_.end()) return others_->start(number, flow);
    const double now = microseconds(flow.start);
    Slot& slot = *free;
    at_[number] = static_cast<std::uint32_t>(free - slots_.begin());
    slot = {};
    slot.on = true;
    slot.number = number;
    slot.ideal = {line_packets(flow), microseconds(flow.base_rtt)};
    const auto frames = static_cast<double>(flow.size) / flow.payload;
    slot.alone = slot.ideal.delay + std::max(frames - 1, 0.0) / slot.ideal.link_rate;
    slot.seeing.memory.reset(0);
    slot.memory.start(rules_.agent, slot.control);
    slot.earned.start(now, now, 0);
    slot.decided_at = now;
    ask(slot, flow, now, flow.start);
    steer(slot.control, flow);
  }

  void on_ack(std::uint32_t number, fabric::Flow& flow, const fabric::Ack& ack) override {
    Slot* slot = slot_of(number);
    if (!slot) return others_->on_ack(number, flow, ack);
    const Memory& memory = slot->seeing.memory;
    const double now = microseconds(ack.now);
    slot->earned.receive(see(slot->seeing, flow, ack), now - microseconds(ack.sent_at));
    if (flow.acked == flow.packets) return end(*slot, now, Ending::flow);
    if (!slot->due && slot->memory.due(rules_.agent, memory, now, true)) ask(*slot, flow, now, ack.now);
    slot->memory.follow(rules_.agent, slot->control, memory, now);
    steer(slot->control, flow);
  }

  // With patience: what was decided at this moment takes effect.
  void on_timer(std::uint32_t number, fabric::Flow& flow, fabric::Time now) override {
    Slot* slot = slot_of(number);
    if (!slot) return others_->on_timer(number, flow, now);
    flow.timer = fabric::never;
    if (slot->action.empty()) return;
    slot->memory.apply(rules_.agent, slot->control, slot->seeing.memory, slot->action.data());
    slot->action.clear();
    steer(slot->control, flow);
  }

  // An agent takes what was lost for none of its business, but that its signals say so.
  void lose(std::uint32_t number, fabric::Flow& flow, bool timeout, fabric::Time now) override {
    if (!slot_of(number)) others_->lose(number, flow, timeout, now);
  }

  // With patience: all that are due decide; called at each multiple of it.
  void look(fabric::Time now) {
    for (Slot& slot : slots_)
      if (slot.on && slot.due) add(slot, microseconds(now), Ending::none);
    hand_over();
  }

  // The run is over: so are the flows that go on.
  void finish(fabric::Time now) {
    for (Slot& slot : slots_)
      if (slot.on) end(slot, microseconds(now), Ending::trial);
    hand_over();
  }

 private:
  static constexpr std::uint32_t none_ = UINT32_MAX;

  struct Slot {
    Seeing seeing;
    Control control;
    AgentMemory memory;
    FlowReward earned;
    Ideal ideal{};
    double alone = 0, decided_at = 0;  // µs
    std::uint32_t number = 0, decisions = 0;
    bool on = false, due = false;
    std::vector<float> action;  // decided, and not in effect yet
  };

  const Slot* slot_of(std::uint32_t number) const { return at_[number] == none_ ? nullptr : &slots_[at_[number]]; }
  Slot* slot_of(std::uint32_t number) { return at_[number] == none_ ? nullptr : &slots_[at_[number]]; }

  // A decision is due.
  void ask(Slot& slot, fabric::Flow& flow, double now, fabric::Time at) {
    slot.due = true;
    if (rules_.patience > 0) {
      flow.timer = (at / rules_.patience + 1) * rules_.patience;
      return;
    }
    add(slot, now, Ending::none);
    hand_over();
    slot.memory.apply(rules_.agent, slot.control, slot.seeing.memory, slot.action.data());
    slot.action.clear();
  }

  void end(Slot& slot, double now, Ending how) {
    if (slot.decisions > 0) add(slot, now, how);
    slot.on = false;
    at_[slot.number] = none_;
    if (rules_.patience == 0) hand_over();
  }

  void add(Slot& slot, double now, Ending ending) {
    const Memory& memory = slot.seeing.memory;
    const std::vector<float>& view = slot.memory.see(rules_.agent, memory);
    rows_.slot.push_back(static_cast<std::uint32_t>(&slot - slots_.data()));
    rows_.flow.push_back(slot.number);
    rows_.ending.push_back(ending);
    rows_.view.insert(rows_.view.end(), view.begin(), view.end());
    const bool over = ending != Ending::none;
    rows_.reward.push_back(static_cast<float>(slot.earned.take(rules_.reward, slot.ideal, now, now, over)));
    rows_.elapsed.push_back(slot.decisions > 0 ? now - slot.decided_at : 0);
    rows_.now.push_back(now);
    rows_.ideal.push_back(slot.alone);
    slot.due = false;
    if (over) return;
    slot.memory.decided(rules_.agent, memory, now);
    slot.earned.decided();
    slot.decided_at = now;
    ++slot.decisions;
  }

  void hand_over() {
    if (rows_.empty()) return;
    const FabricRows rows = std::exchange(rows_, {});
    const std::vector<float> actions = decide_(rows);
    const std::size_t numbers = rules_.agent.actions.numbers();
    if (actions.size() != rows.slot.size() * numbers) throw std::invalid_argument("actions: a row for each is needed");
    rules_.agent.actions.check(actions);
    for (std::size_t row = 0; row < rows.slot.size(); ++row) {
      if (rows.ending[row] != Ending::none) continue;
      const auto first = actions.begin() + static_cast<std::ptrdiff_t>(row * numbers);
      slots_[rows.slot[row]].action.assign(first, first + static_cast<std::ptrdiff_t>(numbers));
    }
  }

  FabricAgentsRules rules_;
  std::unique_ptr<fabric::Transport> others_;
  Decide decide_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> at_;  // by flow: its slot
  std::vector<bool> may_;          // by flow: whether it may be steered
  FabricRows rows_;
};

}  // namespace remy_plus
