// SPDX-License-Identifier: GPL-2.0-only
#include "net/marking_queue.hpp"

#include "ns3/drop-tail-queue.h"
#include "ns3/simulator.h"

namespace lcca_ns3 {

NS_OBJECT_ENSURE_REGISTERED(MarkingQueue);

ns3::TypeId MarkingQueue::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("lcca_ns3::MarkingQueue").SetParent<ns3::QueueDisc>().AddConstructor<MarkingQueue>();
  return id;
}

MarkingQueue::MarkingQueue(std::uint32_t most, remy_plus::Stream draws, std::int64_t begin)
    : QueueDisc(ns3::QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE), draws_(draws), noted_(begin) {
  SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, most));
}

void MarkingQueue::set(const remy_plus::SlopeMarker& marker) {
  marker.check();
  marker_ = marker;
}

const std::vector<double>& MarkingQueue::lengths() {
  note();
  return lengths_;
}

// The same number of draws whatever the marker is: one per packet.
bool MarkingQueue::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) {
  const auto waiting = static_cast<double>(GetNPackets());
  const double draw = draws_.uniform();
  if (waiting >= GetMaxSize().GetValue()) {
    DropBeforeEnqueue(item, "full");
    return false;
  }
  if (draw <= marker_.on_enqueue(waiting) && Mark(item, "congestion experienced")) ++marked_;
  note();
  return GetInternalQueue(0)->Enqueue(item);
}

ns3::Ptr<ns3::QueueDiscItem> MarkingQueue::DoDequeue() {
  note();
  return GetInternalQueue(0)->Dequeue();
}

bool MarkingQueue::CheckConfig() {
  if (GetNInternalQueues() == 0)
    AddInternalQueue(CreateObjectWithAttributes<ns3::DropTailQueue<ns3::QueueDiscItem>>(
        "MaxSize", ns3::QueueSizeValue(GetMaxSize())));
  return GetNInternalQueues() == 1;
}

void MarkingQueue::note() {
  const std::int64_t time = ns3::Simulator::Now().GetNanoSeconds();
  if (time <= noted_) return;
  const std::size_t waiting = GetNPackets();
  if (waiting >= lengths_.size()) lengths_.resize(waiting + 1, 0);
  lengths_[waiting] += static_cast<double>(time - noted_);
  noted_ = time;
}

}  // namespace lcca_ns3
