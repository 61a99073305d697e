// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/rate_sampler.hpp"

#include <algorithm>

#include "ns3/simulator.h"

namespace lcca_ns3 {

using ns3::Simulator;
using ns3::Time;

NS_OBJECT_ENSURE_REGISTERED(RateSampler);

ns3::TypeId RateSampler::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("lcca_ns3::RateSampler").SetParent<ns3::TcpRateOps>().AddConstructor<RateSampler>();
  return id;
}

void RateSampler::SkbSent(ns3::TcpTxItem* item, bool nothing_in_flight) {
  if (nothing_in_flight) connection_.m_firstSentTime = connection_.m_deliveredTime = Simulator::Now();
  auto& info = item->GetRateInformation();
  info.m_firstSent = connection_.m_firstSentTime;
  info.m_deliveredTime = connection_.m_deliveredTime;
  info.m_delivered = connection_.m_delivered;
}

void RateSampler::SkbDelivered(ns3::TcpTxItem* item) {
  auto& info = item->GetRateInformation();
  if (info.m_deliveredTime == Time::Max()) return;  // counted when it was selectively acknowledged
  connection_.m_delivered += item->GetSeqSize();
  connection_.m_deliveredTime = Simulator::Now();
  const Time sent = item->GetLastSent();
  if (!found_ || info.m_delivered > before_ || (info.m_delivered == before_ && sent > sent_)) {
    found_ = true;
    before_ = info.m_delivered;
    sent_ = sent;
    since_ = info.m_deliveredTime;
    sending_ = sent - info.m_firstSent;
    acking_ = connection_.m_deliveredTime - since_;
    connection_.m_firstSentTime = sent;
  }
  info.m_deliveredTime = Time::Max();
}

const RateSampler::TcpRateSample& RateSampler::GenerateSample(std::uint32_t delivered, std::uint32_t lost, bool reneged,
                                                              std::uint32_t prior_in_flight, const Time& min_rtt) {
  const bool measured = found_ && !reneged;
  found_ = false;
  sample_ = {};
  sample_.m_ackedSacked = delivered;
  sample_.m_bytesLoss = lost;
  sample_.m_priorInFlight = prior_in_flight;
  sample_.m_delivered = -1;
  if (!measured) return sample_;
  sample_.m_priorDelivered = static_cast<std::uint32_t>(before_);
  sample_.m_priorTime = since_;
  sample_.m_sendElapsed = sending_;
  sample_.m_ackElapsed = acking_;
  sample_.m_delivered = static_cast<std::int32_t>(connection_.m_delivered - before_);
  const Time interval = std::max(sending_, acking_);
  if (interval < min_rtt || interval.IsZero()) return sample_;  // compressed: no rate can be measured
  sample_.m_interval = interval;
  const double bits = 8.0 * sample_.m_delivered / interval.GetSeconds();
  sample_.m_deliveryRate = ns3::DataRate(static_cast<std::uint64_t>(bits));
  return sample_;
}

}  // namespace lcca_ns3
