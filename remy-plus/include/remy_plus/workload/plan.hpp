// The flows that a workload has in store for a trial, drawn as the event loops draw them: what an ideal that knows the
// future works with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "remy_plus/core/network.hpp"

namespace remy_plus {

// One flow of a sender that comes and goes (µs since the trial began).
struct PlannedFlow {
  std::uint32_t sender;
  double pause;          // off before it, since the trial began or the sender's previous flow ended
  double start;          // if the time ends flows; else the earliest, if the sender had the link to itself
  double end;            // never, if its length ends it
  std::uint64_t length;  // packets; 0 if its time ends it
};

// The flows of the measured senders, sender by sender, that can begin within `duration` µs whatever a policy does.
// Throws std::invalid_argument for open flows: those come by themselves.
inline std::vector<PlannedFlow> planned_flows(const Network& network, std::uint64_t seed, double duration) {
  if (network.workload->open()) throw std::invalid_argument("open flows belong to no sender");
  const auto traffic = network.workload->begin(seed, network, network.all_senders(), duration);
  std::vector<PlannedFlow> flows;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(network.senders); ++i) {
    double left = 0, start = traffic->first(i);  // when the previous flow ended, and this one begins
    for (std::uint32_t n = 0; start <= duration; ++n) {
      const std::uint64_t length = traffic->length(i, n);
      const double end = traffic->next_off(i, start);
      flows.push_back({i, start - left, start, end, length});
      left = std::min(end, length > 0 ? start + static_cast<double>(length) / network.link_rate : never);
      if (left > duration) break;
      start = traffic->next_on(i, left);
    }
  }
  return flows;
}

}  // namespace remy_plus
