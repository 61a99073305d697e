#include "remy_plus/policies/agent.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace remy_plus {
namespace {

void require(bool holds, const char* what, double got) {
  if (!holds) throw std::invalid_argument(std::string(what) + ", got " + std::to_string(got));
}

void check_entry(const Action& action) {
  require(std::isfinite(action.increment) && std::abs(action.increment) <= largest_window,
          "increments of an action table must be at most 1e6 packets", action.increment);
  require(action.multiple >= 0 && action.multiple <= 1000, "multiples of an action table must be in [0, 1000]",
          action.multiple);
  require(action.pacing >= 0 && std::isfinite(action.pacing), "pacing of an action table must be >= 0", action.pacing);
}

}  // namespace

void ActionMap::check() const {
  require(multiple >= 0 && multiple <= 1000, "multiple must be in [0, 1000]", multiple);
  require(increment >= 0 && increment <= largest_window, "increment must be in [0, 1e6] packets", increment);
  require(pacing >= 0 && pacing <= 1000, "pacing must be in [0, 1000]", pacing);
  require(smallest >= 0 && (smallest > 0 || steering == Steering::table), "smallest must be > 0", smallest);
  require(largest >= smallest && largest <= largest_window, "largest must be between smallest and 1e6", largest);
  require(steering == Steering::table || (initial >= smallest && initial <= largest),
          "initial must be between smallest and largest", initial);
  require(initial >= 0 && initial <= largest_window, "initial must be in [0, 1e6]", initial);
  if (steering == Steering::table && table.empty())
    throw std::invalid_argument("an action table needs at least one action");
  if ((steering == Steering::law) != (law != nullptr)) throw std::invalid_argument("a law is what steering law needs");
  for (const Action& action : table) check_entry(action);
}

void ActionMap::check(std::span<const float> actions) const {
  const bool picks = steering == Steering::table;
  const auto bound = static_cast<float>(table.size());
  for (const float a : actions)
    if (!std::isfinite(a) || (picks && !(a >= 0 && a < bound)))
      throw std::invalid_argument(picks ? "an action is not an index of the action table"
                                        : "an action is not a finite number");
}

void Agent::check() const {
  if (signals.empty()) throw std::invalid_argument("an agent needs at least one signal");
  for (const Signal s : signals)
    if (s >= network_signals) throw std::invalid_argument("an agent names a signal that is not there");
  require(history >= 1 && history <= 1000, "history must be between 1 and 1000", static_cast<double>(history));
  require(decisions.rtts >= 0 && decisions.rtts <= 1e6, "rtts must be in [0, 1e6]", decisions.rtts);
  actions.check();
}

}  // namespace remy_plus
