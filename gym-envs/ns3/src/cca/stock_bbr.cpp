// SPDX-License-Identifier: GPL-2.0-only
#include "cca/stock_bbr.hpp"

namespace lcca_ns3 {

using ns3::Ptr;
using ns3::TcpBbr;

NS_OBJECT_ENSURE_REGISTERED(StockBbr);

ns3::TypeId StockBbr::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("lcca_ns3::StockBbr").SetParent<TcpBbr>().AddConstructor<StockBbr>();
  return id;
}

void StockBbr::CongControl(Ptr<State> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                           const ns3::TcpRateOps::TcpRateSample& sample) {
  auto judged = sample;
  judged.m_isAppLimited |= sample.m_priorDelivered < limited_until_;
  TcpBbr::CongControl(tcb, connection, judged);
  if (GetBbrState() == BBR_PROBE_RTT) limited_until_ = connection.m_delivered + tcb->m_bytesInFlight;
}

void StockBbr::CongestionStateSet(Ptr<State> tcb, const State::TcpCongState_t state) {
  if (state == State::CA_RECOVERY) window_ = tcb->m_cWnd;
  TcpBbr::CongestionStateSet(tcb, state);
}

std::uint32_t StockBbr::GetSsThresh(Ptr<const State> tcb, std::uint32_t bytes_in_flight) {
  TcpBbr::GetSsThresh(tcb, bytes_in_flight);
  return tcb->m_congState == State::CA_RECOVERY ? window_ : tcb->m_cWnd.Get();
}

}  // namespace lcca_ns3
