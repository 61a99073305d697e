// SPDX-License-Identifier: GPL-2.0-only
#include "net/stamps.hpp"

#include <type_traits>

namespace lcca_ns3 {

NS_OBJECT_ENSURE_REGISTERED(Stamps);

static_assert(std::is_trivially_copyable_v<remy_plus::Carried>);

ns3::TypeId Stamps::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("lcca_ns3::Stamps").SetParent<ns3::Tag>().AddConstructor<Stamps>();
  return id;
}

std::uint32_t Stamps::GetSerializedSize() const {
  return static_cast<std::uint32_t>(4 + sizeof carried + sizeof offered + 8 * words.size());
}

void Stamps::Serialize(ns3::TagBuffer buffer) const {
  buffer.WriteU32(static_cast<std::uint32_t>(words.size()));
  buffer.Write(reinterpret_cast<const std::uint8_t*>(&carried), sizeof carried);
  buffer.Write(reinterpret_cast<const std::uint8_t*>(&offered), sizeof offered);
  for (const std::uint64_t word : words) buffer.WriteU64(word);
}

void Stamps::Deserialize(ns3::TagBuffer buffer) {
  words.resize(buffer.ReadU32());
  buffer.Read(reinterpret_cast<std::uint8_t*>(&carried), sizeof carried);
  buffer.Read(reinterpret_cast<std::uint8_t*>(&offered), sizeof offered);
  for (std::uint64_t& word : words) word = buffer.ReadU64();
}

void Stamps::Print(std::ostream& os) const { os << words.size() << " words, " << carried.hops << " hops"; }

}  // namespace lcca_ns3
