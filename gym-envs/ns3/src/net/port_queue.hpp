// SPDX-License-Identifier: GPL-2.0-only
// The egress queue of a switch's port with a marker of the fabric: the same structs, shown what the fabric shows them.
#pragma once

#include <cstdint>

#include "ns3/queue-disc.h"
#include "remy_plus/fabric/marker.hpp"

namespace lcca_ns3 {

// The marker is asked once for every data packet as it leaves the queue, or passes where none waits. Handshakes and
// ACKs are not shown to it. The simulator's time may be stretched; the marker's is that of the network.
class PortQueue : public ns3::QueueDisc {
 public:
  struct Port {
    double gbps = 0;            // of the network, not stretched
    double ps_per_ns = 1000;    // of the network, per ns of the simulator
    std::uint32_t framing = 0;  // bytes of a packet on the wire beyond those from IP upward
    std::uint32_t most = 0;     // packets
  };

  static ns3::TypeId GetTypeId();
  PortQueue(const remy_plus::fabric::MarkerParameters& marker, const Port& port, std::uint64_t draws);

  // A packet leaves at once: the port is idle.
  void pass(ns3::Ptr<ns3::QueueDiscItem> item);

 private:
  bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
  ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
  bool CheckConfig() override;
  void InitializeParams() override {}
  void show(ns3::Ptr<ns3::QueueDiscItem> item);
  remy_plus::fabric::Sight sight(const ns3::QueueDiscItem& item, std::uint32_t flow) const;
  remy_plus::fabric::Time ps(ns3::Time time) const;

  Port port_;
  remy_plus::fabric::AnyMarker marker_;
  remy_plus::fabric::Draws draws_;
};

}  // namespace lcca_ns3
