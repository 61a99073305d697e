// Flows as fluids: how they share the links that they cross at each moment is one of several ideals.
#pragma once

#include <cstdint>
#include <vector>

namespace remy_plus::fabric {

struct Fluid {
  std::vector<std::uint32_t> links;  // that it crosses
  double start;                      // ns
  double bits;                       // to send
};

enum class Sharing {
  max_min,         // max-min fair rates
  srpt,            // the flow with the fewest bits left takes all that its links have, the next what is left, and so on
  srpt_senders,    // the first link of a flow serves the one with the fewest bits left first; others share max-min
  srpt_receivers,  // the last link does
  srpt_hosts       // both do
};

// When each has been sent, in ns; infinite where that is after the horizon. Rates change only as a flow begins or ends;
// what it sends is everywhere on its way at once. Fluids rise by their starts; rates of links are in Gb/s.
std::vector<double> fluid_ends(const std::vector<Fluid>& fluids, const std::vector<double>& gbps, double horizon,
                               Sharing sharing = Sharing::max_min);

}  // namespace remy_plus::fabric
