// The hosts and switches of a run, compiled for what it has: headers of the catalogue, classes of traffic.
#pragma once

#include <variant>
#include <vector>

#include "remy_plus/fabric/host.hpp"
#include "remy_plus/fabric/switch/switch.hpp"

namespace remy_plus::fabric {

template <bool headers, bool several>
struct Nodes {
  std::vector<Host<several>> hosts;
  std::vector<Switch<headers, several>> switches;
};

using AnyNodes = std::variant<Nodes<false, false>, Nodes<true, false>, Nodes<false, true>, Nodes<true, true>>;

inline AnyNodes nodes_for(bool headers, bool several) {
  if (headers) return several ? AnyNodes(Nodes<true, true>()) : AnyNodes(Nodes<true, false>());
  return several ? AnyNodes(Nodes<false, true>()) : AnyNodes(Nodes<false, false>());
}

}  // namespace remy_plus::fabric
