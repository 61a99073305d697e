// SPDX-License-Identifier: GPL-2.0-only
// A stock congestion control as a plan describes it.
#pragma once

#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/uinteger.h"
#include "plan/plan.hpp"

namespace lcca_ns3 {

// `stream` is where a control that draws random numbers draws them from; without one, all would draw alike.
inline ns3::Ptr<ns3::TcpCongestionOps> new_control(const StockControl& stock, std::uint64_t stream) {
  ns3::ObjectFactory factory(stock.type);
  for (const auto& [name, value] : stock.attributes) factory.Set(name, ns3::StringValue(value));
  ns3::TypeId::AttributeInformation attribute;
  if (ns3::TypeId::LookupByName(stock.type).LookupAttributeByName("Stream", &attribute))
    factory.Set("Stream", ns3::UintegerValue(stream));
  return factory.Create<ns3::TcpCongestionOps>();
}

}  // namespace lcca_ns3
