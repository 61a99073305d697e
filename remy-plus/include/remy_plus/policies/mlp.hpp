// The policy that runs a trained network: it sees, decides and acts as the environments do in which it was trained
// (agent.hpp), and says the network's output itself, without noise.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "remy_plus/policies/agent.hpp"
#include "remy_plus/policies/control.hpp"
#include "remy_plus/policies/neural_net.hpp"

namespace remy_plus {

class Mlp {
 public:
  // Throws std::invalid_argument naming what is wrong.
  Mlp(Agent agent, NeuralNet net);

  const Agent& agent() const { return body_->agent; }
  const NeuralNet& net() const { return body_->net; }

  // What the agent says at one view: the outputs, or the index of the largest. `state` belongs to the flow.
  void say(const float* view, float* state, float* scratch, float* action) const;

  void start(Control& control, const Memory& memory, RuleHits&) const {
    auto mind = std::make_unique<FlowMind>(*this);
    mind->memory.start(agent(), control);
    decide(control, *mind, memory, 0);  // before the first acknowledgement the time is not looked at
    control.mind = std::move(mind);
  }

  void feedback(Control& control, const Memory& memory, const Ack& ack, RuleHits&) const {
    auto& mind = static_cast<FlowMind&>(*control.mind);
    if (mind.memory.due(agent(), memory, ack.now, ack.current)) decide(control, mind, memory, ack.now);
    if (ack.current) mind.memory.follow(agent(), control, memory, ack.now);
  }

  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }

  SignalMask wanted;

 private:
  struct Body {
    Agent agent;
    NeuralNet net;
  };

  struct FlowMind final : Mind {
    explicit FlowMind(const Mlp& policy)
        : state(policy.net().state_size()), scratch(policy.net().scratch_size()), action(policy.net().outputs()) {}
    AgentMemory memory;
    std::vector<float> state, scratch, action;
  };

  void decide(Control& control, FlowMind& mind, const Memory& memory, double now) const {
    const std::vector<float>& view = mind.memory.see(agent(), memory);
    mind.memory.decided(agent(), memory, now);
    say(view.data(), mind.state.data(), mind.scratch.data(), mind.action.data());
    mind.memory.apply(agent(), control, memory, mind.action.data());
  }

  std::shared_ptr<const Body> body_;
};

}  // namespace remy_plus
