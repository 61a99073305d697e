#include "remy_plus/envs/episode.hpp"

#include <cmath>
#include <stdexcept>

#include "remy_plus/envs/flow_reward.hpp"

namespace remy_plus {
namespace {

// The policy of an episode: leaves the first senders to the agent.
struct Steered {
  std::size_t slots;
  const Policy* others;
  SignalMask wanted;
  std::shared_ptr<const OwnSignals> own;

  bool steers(std::size_t sender) const { return sender < slots; }

  void start(Control& control, const Memory& memory, RuleHits& rule_hits) const {
    std::visit([&](const auto& p) { p.start(control, memory, rule_hits); }, *others);
  }
  void feedback(Control& control, const Memory& memory, const Ack& ack, RuleHits& rule_hits) const {
    std::visit([&](const auto& p) { p.feedback(control, memory, ack, rule_hits); }, *others);
  }
  void unblock(Control& control, const Memory& memory, RuleHits& rule_hits) const {
    std::visit([&](const auto& p) { p.unblock(control, memory, rule_hits); }, *others);
  }
  std::size_t rules() const {
    return others ? std::visit([](const auto& p) { return p.rules(); }, *others) : 0;
  }
};

SignalMask wanted_of(const EpisodeRules& rules) {
  const SignalMask others = rules.others ? std::visit([](const auto& p) { return p.wanted; }, *rules.others) : 0;
  return rules.agent.wanted() | others;
}

std::shared_ptr<const OwnSignals> own_of(const EpisodeRules& rules) {
  if (!rules.others) return nullptr;
  return std::visit([](const auto& p) { return remy_plus::own_of(p); }, *rules.others);
}

// One slot: the flow that is on, and what is measured for its reward.
struct AgentSlot {
  AgentMemory memory;
  bool on = false;
  bool due = false;
  bool able = false;            // to decide: it has something to send
  std::uint32_t decisions = 0;  // of this flow
  double decided_at = 0;
  FlowReward flow_reward;
};

template <class Net>
class EpisodeOn final : public Episode, public NoObserver {
 public:
  EpisodeOn(const EpisodeRules& rules, const Network& network, const Trialled& trial, Workspace& space,
            std::vector<SlotReport>& reports)
      : rules_(rules),
        ideal_(trial.ideal),
        patience_(rules.patience * trial.ideal.delay),
        reports_(reports),
        slots_(reports.size()),
        others_(rules.others ? std::optional(of_trial(*rules.others)) : std::nullopt),
        policy_{reports.size(), others_ ? &*others_ : nullptr, wanted_of(rules), own_of(rules)},
        simulation_(network, rules.model, policy_, trial.seed, rules.duration, space, *this, rules.header.get()) {}

  bool advance() override {
    ready_.clear();
    while (simulation_.play())
      if (due_ > 0 && (stop_ || closed(simulation_.now()))) {
        collect();
        return true;
      }
    totals_ = simulation_.finish();
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].on) end(i, Ending::trial);
    return false;
  }

  const std::vector<float>& view(std::size_t slot) const override { return slots_[slot].memory.view(); }

  void act(std::size_t slot, const float* action) override {
    Sender& s = simulation_.sender(slot);
    slots_[slot].memory.apply(rules_.agent, s.control, s.memory, action);
    if (current_) slots_[slot].memory.follow(rules_.agent, s.control, s.memory, simulation_.now());
    simulation_.resume(slot);
  }

  bool on(std::size_t slot) const override { return slots_[slot].on; }
  std::uint32_t flows_on() const override { return on_; }
  const Sender& sender(std::size_t slot) override { return simulation_.sender(slot); }
  double now() const override { return simulation_.now(); }

  // --- what the simulation reports of steered senders

  void started(std::size_t i, Sender& s) {
    AgentSlot& slot = slots_[i];
    slot.on = true;
    slot.decisions = 0;
    slot.flow_reward.start(simulation_.now(), simulation_.share(i), s.sent);
    slot.memory.start(rules_.agent, s.control);
    slot.able = true;
    ++on_;
    ++able_;
    set_due(slot, simulation_.now());
  }

  void feedback(double now, const Packet& packet, const Sender&, bool current) {
    current_ = current;
    if (!policy_.steers(packet.sender) || !current) return;
    slots_[packet.sender].flow_reward.receive(packet.sequence, now - packet.sent);
  }

  bool hold(double now, std::size_t i) {
    AgentSlot& slot = slots_[i];
    if (slot.due) return closed(now);
    Sender& s = simulation_.sender(i);
    if (!slot.memory.due(rules_.agent, s.memory, now, current_)) {
      if (current_) slot.memory.follow(rules_.agent, s.control, s.memory, now);
      return false;
    }
    set_due(slot, now);
    return closed(now) || nobody_to_wait_for();
  }

  void sent(std::size_t i) {
    AgentSlot& slot = slots_[i];
    able_ -= slot.able;
    due_ -= slot.due;
    slot.able = slot.due = false;
  }

  void ended(std::size_t i) {
    sent(i);
    --on_;
    end(i, Ending::flow);
  }

 private:
  void set_due(AgentSlot& slot, double now) {
    if (due_++ == 0) first_due_ = now;
    slot.due = true;
  }

  bool closed(double now) const { return due_ == able_ || now - first_due_ >= patience_; }

  // Flows that are not due are all stalled: no acknowledgement will make them so.
  bool nobody_to_wait_for() {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].able && !slots_[i].due && !simulation_.stalled(i)) return false;
    stop_ = true;
    return true;
  }

  void collect() {
    stop_ = false;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      AgentSlot& slot = slots_[i];
      if (!slot.due) continue;
      const Memory& memory = simulation_.sender(i).memory;
      slot.due = false;
      slot.memory.see(rules_.agent, memory);
      slot.memory.decided(rules_.agent, memory, simulation_.now());
      if (slot.decisions > 0) reports_[i].elapsed = elapsed(slot);
      slot.decided_at = simulation_.now();
      reports_[i].reward += static_cast<float>(take(i, false));
      ++slot.decisions;
      slot.flow_reward.decided();
      ready_.push_back(static_cast<std::uint32_t>(i));
    }
    due_ = 0;
  }

  // A flow for which nothing was decided has nothing to report, nor has one that follows another in the same row.
  void end(std::size_t i, Ending how) {
    AgentSlot& slot = slots_[i];
    SlotReport& report = reports_[i];
    slot.on = false;
    if (slot.decisions == 0 || report.ending != Ending::none) return;
    report.reward += static_cast<float>(take(i, true));
    report.elapsed = elapsed(slot);
    report.ending = how;
    report.last = slot.memory.see(rules_.agent, simulation_.sender(i).memory);
  }

  float elapsed(const AgentSlot& slot) const {
    return static_cast<float>((simulation_.now() - slot.decided_at) / ideal_.delay);
  }

  double take(std::size_t i, bool last) {
    return slots_[i].flow_reward.take(rules_.reward, ideal_, simulation_.now(), simulation_.share(i), last);
  }

  const EpisodeRules& rules_;
  Ideal ideal_;
  double patience_;  // µs
  std::vector<SlotReport>& reports_;
  std::vector<AgentSlot> slots_;
  std::optional<Policy> others_;
  Steered policy_;
  std::uint32_t on_ = 0;    // slots whose flow is on
  std::uint32_t able_ = 0;  // of these, slots that have something to send
  std::uint32_t due_ = 0;   // of these, slots that have to decide
  double first_due_ = 0;    // µs
  bool stop_ = false;       // the others need not be waited for
  bool current_ = true;     // the latest feedback was of the sender's current flow
  Simulation<Steered, EpisodeOn, Net> simulation_;
};

}  // namespace

void EpisodeRules::check() const {
  agent.check();
  reward.check();
  validate(model);
  if (!(duration > 0) || duration == never) throw std::invalid_argument("duration must be > 0 µs and finite");
  if (!(patience >= 0)) throw std::invalid_argument("patience must be >= 0 base delays");
  if (agent.actions.law && patience > 0)
    throw std::invalid_argument("a law goes on at every acknowledgement: its patience must be 0");
}

std::unique_ptr<Episode> new_episode(const EpisodeRules& rules, const Trialled& trial, Workspace& space,
                                     std::vector<SlotReport>& reports) {
  const Network& network = *trial.network;
  if (rules.header && rules.header->alike && !network.layout)
    return std::make_unique<EpisodeOn<AlikePort>>(rules, network, trial, space, reports);
  if (rules.header && !network.layout)
    return std::make_unique<EpisodeOn<HeaderPort>>(rules, network, trial, space, reports);
  if (rules.header) return std::make_unique<EpisodeOn<StampedPaths>>(rules, network, trial, space, reports);
  if (network.layout) return std::make_unique<EpisodeOn<Paths>>(rules, network, trial, space, reports);
  return std::make_unique<EpisodeOn<Port>>(rules, network, trial, space, reports);
}

}  // namespace remy_plus
