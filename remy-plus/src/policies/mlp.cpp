#include "remy_plus/policies/mlp.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace remy_plus {

Mlp::Mlp(Agent agent, NeuralNet net) : wanted(agent.wanted()) {
  agent.check();
  net.check();
  const ActionMap& map = agent.actions;
  const std::size_t needed = map.steering == Steering::table ? map.table.size() : map.numbers();
  if (net.inputs() != agent.inputs())
    throw std::invalid_argument("the network takes " + std::to_string(net.inputs()) + " inputs, but the agent sees " +
                                std::to_string(agent.inputs()) + " numbers");
  if (net.outputs() != needed)
    throw std::invalid_argument("the network has " + std::to_string(net.outputs()) +
                                " outputs, but the steering needs " + std::to_string(needed));
  body_ = std::make_shared<const Body>(Body{std::move(agent), std::move(net)});
}

void Mlp::say(const float* view, float* state, float* scratch, float* action) const {
  const std::span<const float> out = net().run(view, state, scratch);
  for (const float x : out)
    if (!std::isfinite(x))
      throw std::runtime_error("a network's output is no finite number: are its weights too large?");
  if (agent().actions.steering == Steering::table)
    *action = static_cast<float>(std::max_element(out.begin(), out.end()) - out.begin());  // of equals the first
  else
    std::copy(out.begin(), out.end(), action);
}

}  // namespace remy_plus
