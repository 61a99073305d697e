// SPDX-License-Identifier: GPL-2.0-only
// What a packet carries beside its bytes: a packet tag. Nothing in it takes room on the wire; what a real network
// would spend bytes on is charged elsewhere (in-network signals by IntHeader, the timestamp option by LinkDevice's
// framing).
#pragma once

#include <cstdint>

#include "ns3/tag.h"

namespace lcca_ns3 {

class Mark : public ns3::Tag {
 public:
  struct Fields {
    std::int64_t sent = 0;        // ns, when the data packet was sent
    std::int64_t arrived = 0;     // ns, when it reached its receiver
    std::uint32_t number = 0;     // of the packet, per sender, retransmissions counted anew
    std::uint32_t flow = 0;       // index of the flow in the trial
    std::uint32_t first = 0;      // TCP sequence number where a stock control's flow begins; 0: the connection's
    std::uint32_t delivered = 0;  // echo: different segments of this flow that the receiver has
    std::uint32_t queue = 0;      // packets, largest along the path
    float link = 0;               // utilisation, largest along the path
    std::uint16_t sender = 0;
    bool echo = false;  // on the way back
    bool lost = false;  // the loss stage takes it
  };
  Fields fields;

  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  std::uint32_t GetSerializedSize() const override { return sizeof(Fields); }
  void Serialize(ns3::TagBuffer buffer) const override;
  void Deserialize(ns3::TagBuffer buffer) override;
  void Print(std::ostream& os) const override;
};

}  // namespace lcca_ns3
