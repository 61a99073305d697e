// SPDX-License-Identifier: GPL-2.0-only
// The congestion controls that this process has, by TypeId: those of ns-3 and of this module.
#pragma once

#include <map>
#include <string>

namespace lcca_ns3 {

// Per TypeId that can be made: its attributes and their defaults, as ns-3 writes them.
std::map<std::string, std::map<std::string, std::string>> registered_controls();

}  // namespace lcca_ns3
