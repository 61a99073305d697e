// The hosts and switches of a run, compiled for what it has: headers of the catalogue, classes of traffic.
#pragma once

#include <variant>
#include <vector>

#include "remy_plus/fabric/homa/host.hpp"
#include "remy_plus/fabric/spraying/host.hpp"
#include "remy_plus/fabric/switch/composite.hpp"
#include "remy_plus/fabric/switch/switch.hpp"
#include "remy_plus/fabric/windowed/host.hpp"

namespace remy_plus::fabric {

using AnyHosts =
    std::variant<std::vector<Host<false>>, std::vector<Host<true>>, std::vector<SelectiveHost<false>>,
                 std::vector<SelectiveHost<true>>, std::vector<HomaHost<false>>, std::vector<HomaHost<true>>>;

inline AnyHosts hosts_for(Hosts hosts, bool several) {
  if (hosts == Hosts::homa) {
    if (several) return std::vector<HomaHost<true>>();
    return std::vector<HomaHost<false>>();
  }
  if (hosts == Hosts::selective) {
    if (several) return std::vector<SelectiveHost<true>>();
    return std::vector<SelectiveHost<false>>();
  }
  if (several) return std::vector<Host<true>>();
  return std::vector<Host<false>>();
}

using AnySwitches = std::variant<std::vector<Switch<false, false>>, std::vector<Switch<true, false>>,
                                 std::vector<Switch<false, true>>, std::vector<Switch<true, true>>,
                                 std::vector<Composite<false, false>>, std::vector<Composite<true, false>>,
                                 std::vector<Composite<false, true>>, std::vector<Composite<true, true>>>;

template <template <bool, bool> class Kind>
AnySwitches switches_of(bool headers, bool several) {
  if (headers) {
    if (several) return std::vector<Kind<true, true>>();
    return std::vector<Kind<true, false>>();
  }
  if (several) return std::vector<Kind<false, true>>();
  return std::vector<Kind<false, false>>();
}

// `own_queues`: ports have queues of their own, not a shared buffer.
inline AnySwitches switches_for(bool own_queues, bool headers, bool several) {
  return own_queues ? switches_of<Composite>(headers, several) : switches_of<Switch>(headers, several);
}

}  // namespace remy_plus::fabric
