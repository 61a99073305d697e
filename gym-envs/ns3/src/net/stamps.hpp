// SPDX-License-Identifier: GPL-2.0-only
// The header of a packet as the engine's hops write it: a packet tag. What it costs on the wire is in the packet's
// bytes (see LinkDevice); the codes themselves are here, because only those fields are simulated that some signal
// depends on.
#pragma once

#include <cstdint>
#include <vector>

#include "ns3/tag.h"
#include "remy_plus/headers/stamping.hpp"

namespace lcca_ns3 {

class Stamps : public ns3::Tag {
 public:
  remy_plus::Carried carried;
  std::int64_t offered = 0;  // ns, when it came to the device at hand
  std::vector<std::uint64_t> words;

  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  std::uint32_t GetSerializedSize() const override;
  void Serialize(ns3::TagBuffer buffer) const override;
  void Deserialize(ns3::TagBuffer buffer) override;
  void Print(std::ostream& os) const override;
};

}  // namespace lcca_ns3
