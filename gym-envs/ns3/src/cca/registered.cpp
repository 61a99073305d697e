// SPDX-License-Identifier: GPL-2.0-only
#include "cca/registered.hpp"

#include "ns3/attribute.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/type-id.h"

namespace lcca_ns3 {

using ns3::TypeId;

namespace {

bool is_control(TypeId type) { return type.HasConstructor() && type.IsChildOf(ns3::TcpCongestionOps::GetTypeId()); }

std::map<std::string, std::string> attributes_of(TypeId type) {
  std::map<std::string, std::string> found;
  for (; type != ns3::TcpCongestionOps::GetTypeId(); type = type.GetParent())
    for (std::size_t i = 0; i < type.GetAttributeN(); ++i) {
      const TypeId::AttributeInformation attribute = type.GetAttribute(i);
      found[attribute.name] = attribute.initialValue->SerializeToString(attribute.checker);
    }
  return found;
}

}  // namespace

std::map<std::string, std::map<std::string, std::string>> registered_controls() {
  std::map<std::string, std::map<std::string, std::string>> found;
  for (std::uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    if (const TypeId type = TypeId::GetRegistered(i); is_control(type)) found[type.GetName()] = attributes_of(type);
  return found;
}

}  // namespace lcca_ns3
