// Flows as fluids: each moment's rates are max-min fair over the links that flows cross.
#pragma once

#include <cstdint>
#include <vector>

namespace remy_plus::fabric {

struct Fluid {
  std::vector<std::uint32_t> links;  // that it crosses
  double start;                      // ns
  double bits;                       // to send
};

// When each has been sent, in ns; infinite where that is after the horizon. Rates change only as a flow begins or ends;
// what it sends is everywhere on its way at once. Fluids rise by their starts; rates of links are in Gb/s.
std::vector<double> fluid_ends(const std::vector<Fluid>& fluids, const std::vector<double>& gbps, double horizon);

}  // namespace remy_plus::fabric
