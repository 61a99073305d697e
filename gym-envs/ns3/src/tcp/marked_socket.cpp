// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/marked_socket.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"

namespace lcca_ns3 {

using ns3::Packet;
using ns3::Ptr;

namespace {

// ns-3.37 does not show these to congestion controls.
template <class State>
void set_smoothed_rtt(State& state, ns3::Time rtt) {
  if constexpr (requires { state.m_srtt; }) state.m_srtt = rtt;
}

template <class State>
void set_window_limited(State& state, bool limited) {
  if constexpr (requires { state.m_isCwndLimited; }) state.m_isCwndLimited = limited;
}

}  // namespace

NS_OBJECT_ENSURE_REGISTERED(MarkedSocket);
NS_OBJECT_ENSURE_REGISTERED(HeldWindow);

ns3::TypeId MarkedSocket::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("lcca_ns3::MarkedSocket").SetParent<ns3::TcpSocketBase>().AddConstructor<MarkedSocket>();
  return id;
}

ns3::TypeId HeldWindow::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("lcca_ns3::HeldWindow").SetParent<ns3::TcpCongestionOps>().AddConstructor<HeldWindow>();
  return id;
}

MarkedSocket::MarkedSocket(const MarkedSocket& other)
    : ns3::TcpSocketBase(other), deliveries_(other.deliveries_) {}  // a fork answers a driver, it has none

void MarkedSocket::trace(Ptr<MarkedSocket> socket) {
  socket->TraceConnectWithoutContext("Tx", ns3::MakeCallback(&MarkedSocket::on_send));
}

void MarkedSocket::on_send(Ptr<const Packet> packet, const ns3::TcpHeader&, Ptr<const ns3::TcpSocketBase> socket) {
  const auto* self = dynamic_cast<const MarkedSocket*>(ns3::PeekPointer(socket));
  if (self) const_cast<MarkedSocket*>(self)->mark(packet);  // the trace hands out a constant socket
}

void MarkedSocket::mark(Ptr<const Packet> packet) {
  Mark mark;
  if (driver_ && packet->GetSize() > 0) {
    driver_->sending(mark.fields, packet->GetSize());
    mark.fields.first = first_;
    if (const auto header = driver_->header(mark.fields)) packet->AddPacketTag(*header);
  } else if (!driver_ && latest_.echo) {
    mark.fields = latest_;
    if (stamps_) packet->AddPacketTag(*stamps_);
  } else {
    return;  // handshake
  }
  packet->AddPacketTag(mark);
}

std::uint32_t MarkedSocket::unsent() const {
  return m_txBuffer->SizeFromSequence(m_tcb->m_nextTxSequence) / m_tcb->m_segmentSize;
}

std::uint32_t MarkedSocket::top_up(std::uint32_t count) {
  std::uint32_t added = 0;
  for (std::uint32_t have = unsent(); have < count; ++have, ++added)
    if (!m_txBuffer->Add(ns3::Create<Packet>(m_tcb->m_segmentSize))) break;
  return added;
}

void MarkedSocket::set_window(double packets) {
  // Whole packets, as in the engine: a window of 2.5 lets three be under way.
  m_tcb->m_cWnd = static_cast<std::uint32_t>(std::min(std::ceil(packets) * m_tcb->m_segmentSize, 4e9));
}

void MarkedSocket::restart(Ptr<ns3::TcpCongestionOps> control, Ptr<ns3::TcpRateOps> rates,
                           std::uint32_t initial_window) {
  if (handshake_.IsZero()) handshake_ = m_tcb->m_minRtt;
  forget_sent();
  m_rateOps = rates;
  forget_path();
  forget_control(initial_window);
  replaced_.push_back(m_congestionControl);
  SetCongestionControlAlgorithm(control);
  control->CongestionStateSet(m_tcb, ns3::TcpSocketState::CA_OPEN);  // as at the end of a handshake
  UpdatePacingRate();
}

void MarkedSocket::forget_sent() {
  const ns3::SequenceNumber32 next = m_tcb->m_highTxMark;
  if (m_txBuffer->HeadSequence() < next) m_txBuffer->DiscardUpTo(next);
  m_tcb->m_nextTxSequence = m_highRxAckMark = m_recover = next;
  m_recoverActive = false;
  m_isFirstPartialAck = true;
  m_dupAckCount = 0;
  m_bytesAckedNotProcessed = 0;
  m_retxEvent.Cancel();
  m_pacingTimer.Cancel();
  first_ = next.GetValue();
}

void MarkedSocket::forget_path() {
  m_history.clear();
  doubled_ = {};
  m_rtt->Reset();
  m_rtt->Measurement(handshake_);
  m_rto = std::max(m_rtt->GetEstimate() + std::max(m_clockGranularity, m_rtt->GetVariation() * 4), m_minRto);
  m_tcb->m_lastRtt = m_tcb->m_minRtt = handshake_;
  set_smoothed_rtt(*m_tcb, handshake_);
}

void MarkedSocket::forget_control(std::uint32_t initial_window) {
  using State = ns3::TcpSocketState;
  m_tcb->m_cWnd = initial_window * m_tcb->m_segmentSize;
  m_tcb->m_cWndInfl = m_tcb->m_cWnd;
  m_tcb->m_ssThresh = m_tcb->m_initialSsThresh;
  m_tcb->m_congState = State::CA_OPEN;
  if (m_tcb->m_ecnState != State::ECN_DISABLED) m_tcb->m_ecnState = State::ECN_IDLE;
  m_tcb->m_pacing = false;
  m_tcb->m_pacingRate = ns3::DataRate(0);
  m_tcb->m_lastAckedSackedBytes = 0;
  m_tcb->m_isRetransDataAcked = false;
  set_window_limited(*m_tcb, false);
}

std::uint32_t MarkedSocket::AvailableWindow() const {
  if (driver_ && !driver_->may_send()) return 0;
  return TcpSocketBase::AvailableWindow();
}

// A SYN that was sent again is answered again: ns-3 would set the window anew, which may be a policy's by now.
bool MarkedSocket::repeats_handshake(Ptr<const Packet> packet) const {
  ns3::TcpHeader header;
  const bool again = driver_ && m_synRetries > m_synCount + 1 && established();
  return again && packet->PeekHeader(header) > 0 && (header.GetFlags() & ns3::TcpHeader::SYN) != 0;
}

// TCP ignores an acknowledgement of a flow that was given up; the flow's book does not.
void MarkedSocket::DoForwardUp(Ptr<Packet> packet, const ns3::Address& from, const ns3::Address& to) {
  if (repeats_handshake(packet)) return;
  Mark mark;
  ns3::TcpHeader header;
  if (driver_ && first_ > 0 && packet->PeekPacketTag(mark) && mark.fields.echo && packet->PeekHeader(header) > 0 &&
      header.GetAckNumber() < m_txBuffer->HeadSequence())
    acknowledge(packet, mark.fields);
  TcpSocketBase::DoForwardUp(packet, from, to);
}

void MarkedSocket::acknowledge(Ptr<const Packet> packet, const Mark::Fields& echo) {
  Stamps stamps;
  const bool known = packet->PeekPacketTag(stamps);
  driver_->acknowledged(echo, known ? &stamps : nullptr);
}

void MarkedSocket::ReceivedAck(Ptr<Packet> packet, const ns3::TcpHeader& header) {
  if (!driver_) return TcpSocketBase::ReceivedAck(packet, header);
  Mark mark;
  if (packet->PeekPacketTag(mark) && mark.fields.echo) acknowledge(packet, mark.fields);
  driver_->refill();
  const std::uint32_t window = m_tcb->m_cWnd;
  if (const auto congested = driver_->met_congestion()) {
    ns3::TcpHeader judged = header;
    const int flags = header.GetFlags() & ~ns3::TcpHeader::ECE;
    judged.SetFlags(static_cast<std::uint8_t>(*congested ? flags | ns3::TcpHeader::ECE : flags));
    TcpSocketBase::ReceivedAck(packet, judged);
  } else {
    TcpSocketBase::ReceivedAck(packet, header);
  }
  if (m_tcb->m_cWnd <= window + 2 * m_tcb->m_segmentSize) return;
  driver_->refill();  // a window that leaps outgrows what was supplied for it
  SendPendingData(m_connected);
}

void MarkedSocket::ReceivedData(Ptr<Packet> packet, const ns3::TcpHeader& header) {
  Mark mark;
  if (deliveries_ && packet->PeekPacketTag(mark)) {
    if (m_tcb->m_rxBuffer->NextRxSequence().GetValue() < mark.fields.first)
      skip_to(ns3::SequenceNumber32(mark.fields.first));
    latest_ = mark.fields;
    latest_.echo = true;
    latest_.arrived = ns3::Simulator::Now().GetNanoSeconds();
    if (latest_.flow >= deliveries_->segments.size()) deliveries_->segments.resize(latest_.flow + 1);
    std::uint32_t& segments = deliveries_->segments[latest_.flow];
    segments += is_new(header.GetSequenceNumber());
    latest_.delivered = segments;
    stamps_.reset();
    if (Stamps stamps; deliveries_->stamping && packet->PeekPacketTag(stamps)) {
      const double time = static_cast<double>(latest_.arrived) / deliveries_->ns_per_us;
      stamps.carried.shown = stamps.carried.there && reflector_.reflects(*deliveries_->stamping, time);
      stamps_ = stamps;
    }
  }
  TcpSocketBase::ReceivedData(packet, header);
}

bool MarkedSocket::is_new(ns3::SequenceNumber32 begin) {
  const std::size_t index = (begin.GetValue() - 1) / m_tcb->m_segmentSize;  // data starts at sequence number 1
  if (index >= received_.size()) received_.resize(index + 1024);
  if (received_[index]) return false;
  received_[index] = true;
  return true;
}

void MarkedSocket::skip_to(ns3::SequenceNumber32 first) {
  auto fresh = ns3::CreateObject<ns3::TcpRxBuffer>(first.GetValue());
  fresh->SetMaxBufferSize(m_tcb->m_rxBuffer->MaxBufferSize());
  m_tcb->m_rxBuffer = fresh;
}

void MarkedSocket::ReTxTimeout() {
  const ns3::Time before = m_rto.Get();
  TcpSocketBase::ReTxTimeout();
  if (m_rto.Get() > before) doubled_ = m_rto.Get();
  if (driver_) driver_->timed_out();
}

void MarkedSocket::NewAck(const ns3::SequenceNumber32& sequence, bool restart_timer) {
  TcpSocketBase::NewAck(sequence, restart_timer);
  if (doubled_ <= m_rto.Get()) return;
  m_rto = doubled_;
  if (!restart_timer || m_retxEvent.IsExpired()) return;
  m_retxEvent.Cancel();
  m_retxEvent = ns3::Simulator::Schedule(m_rto, &MarkedSocket::ReTxTimeout, this);
}

void MarkedSocket::EstimateRtt(const ns3::TcpHeader& header) {
  const std::uint32_t samples = m_rtt->GetNSamples();
  TcpSocketBase::EstimateRtt(header);
  if (m_rtt->GetNSamples() != samples) doubled_ = {};
}

void MarkedSocket::UpdateRttHistory(const ns3::SequenceNumber32& first, std::uint32_t bytes, bool again) {
  if (!again) return TcpSocketBase::UpdateRttHistory(first, bytes, again);
  const auto later = [](const ns3::SequenceNumber32& sequence, const ns3::RttHistory& sent) {
    return sequence < sent.seq;
  };
  const auto after = std::upper_bound(m_history.begin(), m_history.end(), first, later);  // in order of their bytes
  if (after == m_history.begin()) return;
  ns3::RttHistory& sent = *std::prev(after);
  if (first >= sent.seq + ns3::SequenceNumber32(sent.count)) return;
  sent.retx = true;
  sent.count = first + ns3::SequenceNumber32(bytes) - sent.seq;
}

}  // namespace lcca_ns3
