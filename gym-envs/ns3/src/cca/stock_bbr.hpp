// SPDX-License-Identifier: GPL-2.0-only
// ns3::TcpBbr (3.44) with two things mended that BBR has elsewhere:
// - it gets its window back after a recovery. TCP sets the window to the slow start threshold then, after BBR has
//   restored it; in STARTUP that threshold is unbounded, later it is one BDP of the past;
// - what PROBE_RTT delivers is no estimate of the bandwidth. Else a stay there of as many rounds as the filter is long
//   makes the flow begin again with next to nothing: at 20 µs, 200 µs are enough.
#pragma once

#include "ns3/tcp-bbr.h"

namespace lcca_ns3 {

class StockBbr : public ns3::TcpBbr {
 public:
  using State = ns3::TcpSocketState;

  static ns3::TypeId GetTypeId();

  void CongControl(ns3::Ptr<State> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                   const ns3::TcpRateOps::TcpRateSample& sample) override;
  void CongestionStateSet(ns3::Ptr<State> tcb, const State::TcpCongState_t state) override;
  std::uint32_t GetSsThresh(ns3::Ptr<const State> tcb, std::uint32_t bytes_in_flight) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<StockBbr>(this); }

 private:
  std::uint32_t window_ = 0;         // bytes, before the recovery
  std::uint64_t limited_until_ = 0;  // bytes: packets sent before were limited by PROBE_RTT
};

}  // namespace lcca_ns3
