// The hosts and switches of a run, compiled for what it has: headers of the catalogue, classes of traffic.
#pragma once

#include <variant>
#include <vector>

#include "remy_plus/fabric/host.hpp"
#include "remy_plus/fabric/spraying/host.hpp"
#include "remy_plus/fabric/switch/composite.hpp"
#include "remy_plus/fabric/switch/switch.hpp"

namespace remy_plus::fabric {

using AnyHosts = std::variant<std::vector<Host<false>>, std::vector<Host<true>>, std::vector<SelectiveHost<false>>,
                              std::vector<SelectiveHost<true>>>;

inline AnyHosts hosts_for(Hosts hosts, bool several) {
  if (hosts == Hosts::selective) {
    if (several) return std::vector<SelectiveHost<true>>();
    return std::vector<SelectiveHost<false>>();
  }
  if (several) return std::vector<Host<true>>();
  return std::vector<Host<false>>();
}

using AnySwitches =
    std::variant<std::vector<Switch<false, false>>, std::vector<Switch<true, false>>, std::vector<Switch<false, true>>,
                 std::vector<Switch<true, true>>, std::vector<Composite<false>>, std::vector<Composite<true>>>;

inline AnySwitches switches_for(bool own_queues, bool headers, bool several) {
  if (own_queues) {
    if (headers) return std::vector<Composite<true>>();
    return std::vector<Composite<false>>();
  }
  if (headers) {
    if (several) return std::vector<Switch<true, true>>();
    return std::vector<Switch<true, false>>();
  }
  if (several) return std::vector<Switch<false, true>>();
  return std::vector<Switch<false, false>>();
}

}  // namespace remy_plus::fabric
