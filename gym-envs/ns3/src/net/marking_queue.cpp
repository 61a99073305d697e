// SPDX-License-Identifier: GPL-2.0-only
#include "net/marking_queue.hpp"

#include <stdexcept>
#include <string>

#include "ns3/drop-tail-queue.h"
#include "ns3/simulator.h"

namespace lcca_ns3 {

NS_OBJECT_ENSURE_REGISTERED(MarkingQueue);

void MarkSetting::check() const {
  if (!(min_k >= 0 && max_k >= min_k && max_k <= 1e9))
    throw std::invalid_argument("thresholds must be 0 <= min_k <= max_k packets, got " + std::to_string(min_k) +
                                " and " + std::to_string(max_k));
  if (!(max_p >= 0 && max_p <= 1)) throw std::invalid_argument("max_p must be in [0, 1], got " + std::to_string(max_p));
}

ns3::TypeId MarkingQueue::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("lcca_ns3::MarkingQueue").SetParent<ns3::QueueDisc>().AddConstructor<MarkingQueue>();
  return id;
}

MarkingQueue::MarkingQueue(std::uint32_t most, remy_plus::Stream draws, std::int64_t begin)
    : QueueDisc(ns3::QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE), draws_(draws), noted_(begin) {
  SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, most));
}

void MarkingQueue::set(const MarkSetting& setting) {
  setting.check();
  setting_ = setting;
}

const std::vector<double>& MarkingQueue::lengths() {
  note();
  return lengths_;
}

// The same number of draws whatever the setting is: one per packet.
bool MarkingQueue::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) {
  const auto waiting = static_cast<double>(GetNPackets());
  const double draw = draws_.uniform();
  if (waiting >= GetMaxSize().GetValue()) {
    DropBeforeEnqueue(item, "full");
    return false;
  }
  if (draw <= setting_.probability(waiting) && Mark(item, "congestion experienced")) ++marked_;
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
