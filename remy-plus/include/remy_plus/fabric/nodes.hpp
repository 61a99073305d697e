// The hosts and switches of a run, compiled for what it has: headers of the catalogue, classes of traffic.
#pragma once

#include <variant>
#include <vector>

#include "remy_plus/core/large_pages.hpp"
#include "remy_plus/fabric/homa/host.hpp"
#include "remy_plus/fabric/spraying/host.hpp"
#include "remy_plus/fabric/switch/composite.hpp"
#include "remy_plus/fabric/switch/switch.hpp"
#include "remy_plus/fabric/windowed/host.hpp"

namespace remy_plus::fabric {

template <class Node>
using Nodes = std::vector<Node, LargePages<Node>>;

using AnyHosts = std::variant<Nodes<Host<false>>, Nodes<Host<true>>, Nodes<SelectiveHost<false>>,
                              Nodes<SelectiveHost<true>>, Nodes<HomaHost<false>>, Nodes<HomaHost<true>>>;

inline AnyHosts hosts_for(Hosts hosts, bool several) {
  if (hosts == Hosts::homa) {
    if (several) return Nodes<HomaHost<true>>();
    return Nodes<HomaHost<false>>();
  }
  if (hosts == Hosts::selective) {
    if (several) return Nodes<SelectiveHost<true>>();
    return Nodes<SelectiveHost<false>>();
  }
  if (several) return Nodes<Host<true>>();
  return Nodes<Host<false>>();
}

using AnySwitches =
    std::variant<Nodes<Switch<false, false>>, Nodes<Switch<true, false>>, Nodes<Switch<false, true>>,
                 Nodes<Switch<true, true>>, Nodes<Composite<false, false>>, Nodes<Composite<true, false>>,
                 Nodes<Composite<false, true>>, Nodes<Composite<true, true>>>;

template <template <bool, bool> class Kind>
AnySwitches switches_of(bool headers, bool several) {
  if (headers) {
    if (several) return Nodes<Kind<true, true>>();
    return Nodes<Kind<true, false>>();
  }
  if (several) return Nodes<Kind<false, true>>();
  return Nodes<Kind<false, false>>();
}

// `own_queues`: ports have queues of their own, not a shared buffer.
inline AnySwitches switches_for(bool own_queues, bool headers, bool several) {
  return own_queues ? switches_of<Composite>(headers, several) : switches_of<Switch>(headers, several);
}

}  // namespace remy_plus::fabric
