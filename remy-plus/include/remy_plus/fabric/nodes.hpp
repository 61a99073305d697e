// The hosts and switches of a run, compiled for what it has: headers of the catalogue, classes of traffic.
#pragma once

#include <variant>
#include <vector>

#include "remy_plus/fabric/homa/host.hpp"
#include "remy_plus/fabric/host.hpp"
#include "remy_plus/fabric/switch/switch.hpp"

namespace remy_plus::fabric {

using AnyHosts = std::variant<std::vector<Host<false>>, std::vector<Host<true>>, std::vector<HomaHost<false>>,
                              std::vector<HomaHost<true>>>;

inline AnyHosts hosts_for(Hosts kind, bool several) {
  if (kind == Hosts::homa) {
    if (several) return std::vector<HomaHost<true>>();
    return std::vector<HomaHost<false>>();
  }
  if (several) return std::vector<Host<true>>();
  return std::vector<Host<false>>();
}

using AnySwitches = std::variant<std::vector<Switch<false, false>>, std::vector<Switch<true, false>>,
                                 std::vector<Switch<false, true>>, std::vector<Switch<true, true>>>;

inline AnySwitches switches_for(bool headers, bool several) {
  if (headers) {
    if (several) return std::vector<Switch<true, true>>();
    return std::vector<Switch<true, false>>();
  }
  if (several) return std::vector<Switch<false, true>>();
  return std::vector<Switch<false, false>>();
}

}  // namespace remy_plus::fabric
