// SPDX-License-Identifier: GPL-2.0-only
#include "net/port_queue.hpp"

#include <cmath>

#include "net/mark.hpp"
#include "ns3/drop-tail-queue.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/simulator.h"

namespace lcca_ns3 {

namespace fabric = remy_plus::fabric;

NS_OBJECT_ENSURE_REGISTERED(PortQueue);

ns3::TypeId PortQueue::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("lcca_ns3::PortQueue").SetParent<ns3::QueueDisc>();
  return id;
}

PortQueue::PortQueue(const fabric::MarkerParameters& marker, const Port& port, std::uint64_t draws)
    : QueueDisc(ns3::QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE),
      port_(port),
      marker_(fabric::marker_of(marker, port.gbps)),
      draws_(draws) {
  SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, port.most));
}

bool PortQueue::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) {
  if (GetNPackets() < port_.most) return GetInternalQueue(0)->Enqueue(item);
  DropBeforeEnqueue(item, "full");
  return false;
}

ns3::Ptr<ns3::QueueDiscItem> PortQueue::DoDequeue() {
  ns3::Ptr<ns3::QueueDiscItem> item = GetInternalQueue(0)->Dequeue();
  if (item) show(item);
  return item;
}

void PortQueue::pass(ns3::Ptr<ns3::QueueDiscItem> item) {
  item->SetTimeStamp(ns3::Simulator::Now());
  show(item);
}

void PortQueue::show(ns3::Ptr<ns3::QueueDiscItem> item) {
  lcca_ns3::Mark tag;
  if (!item->GetPacket()->PeekPacketTag(tag) || tag.fields.echo) return;
  const auto& ip = static_cast<const ns3::Ipv4QueueDiscItem&>(*item).GetHeader();
  const bool marked = ip.GetEcn() == ns3::Ipv4Header::ECN_CE;
  if (marked && !fabric::sees_marked(marker_)) return;
  const fabric::Sight seen = sight(*item, tag.fields.flow);
  const bool marks = std::visit([&](auto& marker) { return marker.marks(seen, draws_); }, marker_);
  if (marks && !marked) Mark(item, "congestion experienced");
}

fabric::Sight PortQueue::sight(const ns3::QueueDiscItem& item, std::uint32_t flow) const {
  const auto waiting = GetInternalQueue(0);
  const fabric::Time now = ps(ns3::Simulator::Now());
  const std::int64_t bytes = waiting->GetNBytes(), packets = waiting->GetNPackets();
  const auto own = static_cast<int>(item.GetSize() + port_.framing);
  return {now, now - ps(item.GetTimeStamp()), bytes + packets * port_.framing, own, flow, port_.gbps};
}

fabric::Time PortQueue::ps(ns3::Time time) const {
  return std::llround(static_cast<double>(time.GetNanoSeconds()) * port_.ps_per_ns);
}

bool PortQueue::CheckConfig() {
  if (GetNInternalQueues() == 0)
    AddInternalQueue(CreateObjectWithAttributes<ns3::DropTailQueue<ns3::QueueDiscItem>>(
        "MaxSize", ns3::QueueSizeValue(GetMaxSize())));
  return GetNInternalQueues() == 1;
}

}  // namespace lcca_ns3
