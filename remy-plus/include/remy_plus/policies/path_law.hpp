// The policy that chooses the way of each packet (fabric/spraying/known_ways.hpp), over a transport that has the
// window.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "remy_plus/policies/control.hpp"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus {

// The numbers of a law that chooses ways, in their order.
enum PathTerm : std::size_t {
  path_mark,     // of the share of marks
  path_loss,     // of losses
  path_delay,    // of queueing, base RTTs
  path_silence,  // of a wait for answers that is longer than others', base RTTs
  path_bias,     // of a way like all others
  path_memory,   // log2 base RTTs, after which half of what is known of a way is believed
  path_gain,     // log2 of the weight of an answer
  path_terms
};

inline constexpr std::size_t most_path_signals = 8;

struct PathLaw {
  std::string transport;  // as the engine calls it
  std::array<double, path_terms> terms;
  std::vector<Signal> signals;
  std::vector<double> weights;  // one for each signal's form (FabricForm)
  SignalMask wanted = 0;

  PathLaw(std::string over, const std::array<double, path_terms>& numbers, std::vector<Signal> seen,
          std::vector<double> of_seen)
      : transport(std::move(over)), terms(numbers), signals(std::move(seen)), weights(std::move(of_seen)) {
    if (signals.size() > most_path_signals || weights.size() != signals.size())
      throw std::invalid_argument("a law that chooses ways has at most 8 signals, and a weight for each");
    for (const Signal s : signals) wanted |= bit(s);
  }

  void start(Control&, const Memory&, RuleHits&) const { throw std::logic_error("a law of ways runs on fabrics"); }
  void feedback(Control&, const Memory&, const Ack&, RuleHits&) const {}
  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }
};

}  // namespace remy_plus
