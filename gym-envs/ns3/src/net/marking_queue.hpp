// SPDX-License-Identifier: GPL-2.0-only
// The egress queue of a switch that marks as switches do: by the present length, each packet by a draw of its own, with
// thresholds that may change at any time. (ns3::RedQueueDisc works its slope out once, and spaces its marks evenly.)
#pragma once

#include <cstdint>
#include <vector>

#include "ns3/queue-disc.h"
#include "remy_plus/aqm/markers.hpp"
#include "remy_plus/core/random.hpp"

namespace lcca_ns3 {

class MarkingQueue : public ns3::QueueDisc {
 public:
  static ns3::TypeId GetTypeId();
  MarkingQueue() : MarkingQueue(1000, {}, 0) {}
  // A queue of `most` packets; lengths are counted from `begin` (ns) on.
  MarkingQueue(std::uint32_t most, remy_plus::Stream draws, std::int64_t begin);

  void set(const remy_plus::SlopeMarker& marker);
  std::uint64_t marked() const { return marked_; }  // packets
  // For how many ns so many packets waited, until now.
  const std::vector<double>& lengths();

 private:
  bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
  ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
  bool CheckConfig() override;
  void InitializeParams() override {}
  void note();

  remy_plus::SlopeMarker marker_;
  remy_plus::Stream draws_;
  std::uint64_t marked_ = 0;
  std::int64_t noted_;  // ns
  std::vector<double> lengths_;
};

}  // namespace lcca_ns3
