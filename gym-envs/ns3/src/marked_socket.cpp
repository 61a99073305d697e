// SPDX-License-Identifier: GPL-2.0-only
#include "marked_socket.hpp"

#include <algorithm>

#include "ns3/simulator.h"

namespace lcca_ns3 {

using ns3::Packet;
using ns3::Ptr;

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
  } else if (!driver_ && latest_.echo) {
    mark.fields = latest_;
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
  m_tcb->m_cWnd = static_cast<std::uint32_t>(std::min(packets * m_tcb->m_segmentSize, 4e9));
}

void MarkedSocket::restart(Ptr<ns3::TcpCongestionOps> control, std::uint32_t initial_window) {
  SetCongestionControlAlgorithm(control);
  m_tcb->m_cWnd = initial_window * m_tcb->m_segmentSize;
  m_tcb->m_cWndInfl = m_tcb->m_cWnd;
  m_tcb->m_ssThresh = UINT32_MAX;
  m_tcb->m_minRtt = ns3::Time::Max();
  if (m_tcb->m_congState == ns3::TcpSocketState::CA_CWR) m_tcb->m_congState = ns3::TcpSocketState::CA_OPEN;
}

std::uint32_t MarkedSocket::AvailableWindow() const {
  if (driver_ && !driver_->may_send()) return 0;
  return TcpSocketBase::AvailableWindow();
}

void MarkedSocket::ReceivedAck(Ptr<Packet> packet, const ns3::TcpHeader& header) {
  Mark mark;
  if (driver_ && packet->PeekPacketTag(mark) && mark.fields.echo) driver_->acknowledged(mark.fields);
  if (driver_) driver_->refill();
  TcpSocketBase::ReceivedAck(packet, header);
}

void MarkedSocket::ReceivedData(Ptr<Packet> packet, const ns3::TcpHeader& header) {
  Mark mark;
  if (deliveries_ && packet->PeekPacketTag(mark)) {
    latest_ = mark.fields;
    latest_.echo = true;
    latest_.arrived = ns3::Simulator::Now().GetNanoSeconds();
    if (latest_.flow >= deliveries_->segments.size()) deliveries_->segments.resize(latest_.flow + 1);
    std::uint32_t& segments = deliveries_->segments[latest_.flow];
    segments += is_new(header.GetSequenceNumber());
    latest_.delivered = segments;
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

void MarkedSocket::ReTxTimeout() {
  TcpSocketBase::ReTxTimeout();
  if (driver_) driver_->timed_out();
}

}  // namespace lcca_ns3
