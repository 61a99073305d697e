// SPDX-License-Identifier: GPL-2.0-only
// Delivery rate samples as draft-cheng-iccrg-delivery-rate-estimation has them, one per acknowledgement.
//
// It stands in for ns3::TcpRateLinux (3.44), which measures packets by an earlier acknowledgement's sample when no
// acknowledgement came between their sending, as after PROBE_RTT: up to 25 % too much, and BBR believes the largest.
#pragma once

#include "ns3/tcp-rate-ops.h"

namespace lcca_ns3 {

class RateSampler : public ns3::TcpRateOps {
 public:
  static ns3::TypeId GetTypeId();

  void SkbSent(ns3::TcpTxItem* item, bool nothing_in_flight) override;
  void SkbDelivered(ns3::TcpTxItem* item) override;
  void CalculateAppLimited(std::uint32_t, std::uint32_t, std::uint32_t, const ns3::SequenceNumber32&,
                           const ns3::SequenceNumber32&, std::uint32_t, std::uint32_t) override {}  // always has data
  const TcpRateSample& GenerateSample(std::uint32_t delivered, std::uint32_t lost, bool reneged,
                                      std::uint32_t prior_in_flight, const ns3::Time& min_rtt) override;
  const TcpRateConnection& GetConnectionRate() override { return connection_; }

 private:
  TcpRateConnection connection_;
  TcpRateSample sample_;        // of the last acknowledgement
  bool found_ = false;          // whether this acknowledgement delivered anything
  std::uint64_t before_ = 0;    // bytes delivered when the newest packet that it delivered was sent
  ns3::Time sent_, since_;      // when that packet was sent; when those bytes were complete
  ns3::Time sending_, acking_;  // how long sending and acknowledging took
};

}  // namespace lcca_ns3
