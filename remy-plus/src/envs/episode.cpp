#include "remy_plus/envs/episode.hpp"

#include <cmath>
#include <stdexcept>

#include "remy_plus/envs/flow_reward.hpp"

namespace remy_plus {
namespace {

// The policy of a game: leaves the first senders to the agent.
struct Steered {
  std::size_t lanes;
  const Policy* others;
  SignalMask wanted;

  bool steers(std::size_t sender) const { return sender < lanes; }

  void start(Control& control, const Memory& memory, Uses& uses) const {
    std::visit([&](const auto& p) { p.start(control, memory, uses); }, *others);
  }
  void feedback(Control& control, const Memory& memory, const Receipt& receipt, Uses& uses) const {
    std::visit([&](const auto& p) { p.feedback(control, memory, receipt, uses); }, *others);
  }
  void unblock(Control& control, const Memory& memory, Uses& uses) const {
    std::visit([&](const auto& p) { p.unblock(control, memory, uses); }, *others);
  }
  std::size_t rules() const {
    return others ? std::visit([](const auto& p) { return p.rules(); }, *others) : 0;
  }
};

SignalMask wanted_of(const GameRules& rules) {
  const SignalMask others = rules.others ? std::visit([](const auto& p) { return p.wanted; }, *rules.others) : 0;
  return rules.agent.wanted() | others;
}

// One lane: the flow that is on, and what it has earned.
struct Lane {
  AgentMemory memory;
  bool on = false;
  bool due = false;
  std::uint32_t decisions = 0;  // of this flow
  double decided_at = 0;
  Earnings earnings;
};

template <class Net>
class GameOn final : public Game, public NoObserver {
 public:
  GameOn(const GameRules& rules, const Trialled& trial, Workspace& space, std::vector<Told>& told)
      : rules_(rules),
        ideal_(trial.ideal),
        patience_(rules.patience * trial.ideal.delay),
        told_(told),
        lanes_(told.size()),
        policy_{told.size(), rules.others ? &*rules.others : nullptr, wanted_of(rules)},
        simulation_(*trial.network, rules.model, policy_, trial.seed, rules.duration, space, *this) {}

  bool advance() override {
    ready_.clear();
    while (simulation_.play())
      if (due_ > 0 && (stop_ || closed(simulation_.now()))) {
        collect();
        return true;
      }
    totals_ = simulation_.finish();
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (lanes_[i].on) end(i, Ending::trial);
    return false;
  }

  const std::vector<float>& view(std::size_t lane) const override { return lanes_[lane].memory.view(); }

  void act(std::size_t lane, const float* action) override {
    Sender& s = simulation_.sender(lane);
    rules_.agent.actions.apply(s.control, s.memory.receive_interval(), action);
    simulation_.resume(lane);
  }

  bool on(std::size_t lane) const override { return lanes_[lane].on; }
  std::uint32_t flows_on() const override { return on_; }
  const Sender& sender(std::size_t lane) override { return simulation_.sender(lane); }
  double now() const override { return simulation_.now(); }

  // --- what the simulation tells of steered senders

  void started(std::size_t i, Sender& s) {
    Lane& lane = lanes_[i];
    lane.on = true;
    lane.decisions = 0;
    lane.earnings.start(simulation_.now(), simulation_.share(i), s.sent);
    lane.memory.start(rules_.agent);
    rules_.agent.actions.start(s.control);
    ++on_;
    set_due(lane, simulation_.now());
  }

  void feedback(double now, const Packet& packet, const Sender&, bool current) {
    current_ = current;
    if (!policy_.steers(packet.sender) || !current) return;
    lanes_[packet.sender].earnings.receive(packet.sequence, now - packet.sent);
  }

  bool hold(double now, std::size_t i) {
    Lane& lane = lanes_[i];
    if (lane.due) return closed(now);
    if (!lane.memory.due(rules_.agent, simulation_.sender(i).memory, now, current_)) return false;
    set_due(lane, now);
    return closed(now) || nobody_to_wait_for();
  }

  void ended(std::size_t i) {
    Lane& lane = lanes_[i];
    --on_;
    due_ -= lane.due;
    lane.due = false;
    end(i, Ending::flow);
  }

 private:
  void set_due(Lane& lane, double now) {
    if (due_++ == 0) first_due_ = now;
    lane.due = true;
  }

  bool closed(double now) const { return due_ == on_ || now - first_due_ >= patience_; }

  // Flows that are not due are all stalled: no acknowledgement will make them so.
  bool nobody_to_wait_for() {
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (lanes_[i].on && !lanes_[i].due && !simulation_.stalled(i)) return false;
    stop_ = true;
    return true;
  }

  void collect() {
    stop_ = false;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& lane = lanes_[i];
      if (!lane.due) continue;
      const Memory& memory = simulation_.sender(i).memory;
      lane.due = false;
      lane.memory.see(rules_.agent, memory);
      lane.memory.decided(rules_.agent, memory, simulation_.now());
      if (lane.decisions > 0) told_[i].elapsed = elapsed(lane);
      lane.decided_at = simulation_.now();
      told_[i].reward += static_cast<float>(pay(i, false));
      ++lane.decisions;
      lane.earnings.decided();
      ready_.push_back(static_cast<std::uint32_t>(i));
    }
    due_ = 0;
  }

  // A flow for which nothing was decided has nothing to tell, nor has one that follows another in the same row.
  void end(std::size_t i, Ending how) {
    Lane& lane = lanes_[i];
    Told& told = told_[i];
    lane.on = false;
    if (lane.decisions == 0 || told.ending != Ending::none) return;
    told.reward += static_cast<float>(pay(i, true));
    told.elapsed = elapsed(lane);
    told.ending = how;
    told.last = lane.memory.see(rules_.agent, simulation_.sender(i).memory);
  }

  float elapsed(const Lane& lane) const {
    return static_cast<float>((simulation_.now() - lane.decided_at) / ideal_.delay);
  }

  double pay(std::size_t i, bool last) {
    return lanes_[i].earnings.pay(rules_.reward, ideal_, simulation_.now(), simulation_.share(i), last);
  }

  const GameRules& rules_;
  Ideal ideal_;
  double patience_;  // µs
  std::vector<Told>& told_;
  std::vector<Lane> lanes_;
  Steered policy_;
  std::uint32_t on_ = 0;   // lanes whose flow is on
  std::uint32_t due_ = 0;  // of these, lanes that have to decide
  double first_due_ = 0;   // µs
  bool stop_ = false;      // the others need not be waited for
  bool current_ = true;    // the latest feedback was of the sender's current flow
  Simulation<Steered, GameOn, Net> simulation_;
};

}  // namespace

void GameRules::check() const {
  agent.check();
  reward.check();
  validate(model);
  if (!(duration > 0) || duration == never) throw std::invalid_argument("duration must be > 0 µs and finite");
  if (!(patience >= 0)) throw std::invalid_argument("patience must be >= 0 base delays");
}

std::unique_ptr<Game> new_game(const GameRules& rules, const Trialled& trial, Workspace& space,
                               std::vector<Told>& told) {
  if (trial.network->layout) return std::make_unique<GameOn<Paths>>(rules, trial, space, told);
  return std::make_unique<GameOn<Port>>(rules, trial, space, told);
}

}  // namespace remy_plus
