// SPDX-License-Identifier: GPL-2.0-only
// The in-network signals on the wire: a header between link and network layer, read and written at every hop.
#pragma once

#include <cstdint>

#include "ns3/header.h"

namespace lcca_ns3 {

// Which signals travel, and how many bytes the header has. Values that do not fit into the bytes travel free of charge.
struct IntLayout {
  bool queue = false;  // 4 bytes: packets
  bool link = false;   // 4 bytes: utilisation as a single-precision number
  std::uint32_t bytes = 0;

  std::uint32_t needed() const { return 4u * queue + 4u * link; }
  bool carried() const { return bytes >= needed(); }
};

class IntHeader : public ns3::Header {
 public:
  IntHeader() = default;
  explicit IntHeader(const IntLayout& layout) : layout_(layout) {}
  std::uint32_t queue = 0;
  float link = 0;

  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  std::uint32_t GetSerializedSize() const override { return layout_.bytes; }
  void Serialize(ns3::Buffer::Iterator start) const override;
  std::uint32_t Deserialize(ns3::Buffer::Iterator start) override;
  void Print(std::ostream& os) const override;

 private:
  IntLayout layout_;
};

}  // namespace lcca_ns3
