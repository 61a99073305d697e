// SPDX-License-Identifier: GPL-2.0-only
#include "net/mark.hpp"

#include <cstring>

namespace lcca_ns3 {

NS_OBJECT_ENSURE_REGISTERED(Mark);

ns3::TypeId Mark::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("lcca_ns3::Mark").SetParent<ns3::Tag>().AddConstructor<Mark>();
  return id;
}

void Mark::Serialize(ns3::TagBuffer buffer) const {
  buffer.Write(reinterpret_cast<const std::uint8_t*>(&fields), sizeof(Fields));
}

void Mark::Deserialize(ns3::TagBuffer buffer) { buffer.Read(reinterpret_cast<std::uint8_t*>(&fields), sizeof(Fields)); }

void Mark::Print(std::ostream& os) const { os << "packet " << fields.number << " of flow " << fields.flow; }

}  // namespace lcca_ns3
