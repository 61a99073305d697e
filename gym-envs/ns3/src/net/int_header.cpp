// SPDX-License-Identifier: GPL-2.0-only
#include "net/int_header.hpp"

#include <bit>

namespace lcca_ns3 {

NS_OBJECT_ENSURE_REGISTERED(IntHeader);

ns3::TypeId IntHeader::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("lcca_ns3::IntHeader").SetParent<ns3::Header>().AddConstructor<IntHeader>();
  return id;
}

void IntHeader::Serialize(ns3::Buffer::Iterator start) const {
  std::uint32_t left = layout_.bytes;
  if (layout_.carried()) {
    if (layout_.queue) start.WriteHtonU32(queue);
    if (layout_.link) start.WriteHtonU32(std::bit_cast<std::uint32_t>(link));
    left -= layout_.needed();
  }
  start.WriteU8(0, left);
}

std::uint32_t IntHeader::Deserialize(ns3::Buffer::Iterator start) {
  if (layout_.carried()) {
    if (layout_.queue) queue = start.ReadNtohU32();
    if (layout_.link) link = std::bit_cast<float>(start.ReadNtohU32());
  }
  return layout_.bytes;
}

void IntHeader::Print(std::ostream& os) const { os << "queue " << queue << " link " << link; }

}  // namespace lcca_ns3
