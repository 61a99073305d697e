// SPDX-License-Identifier: GPL-2.0-only
// A TCP socket that marks what it sends, echoes marks on acknowledgements, and obeys a driver: when it may send and
// what follows from an acknowledgement. Everything else (SACK, recovery, RTO, congestion control) is stock ns-3.
#pragma once

#include <optional>
#include <vector>

#include "net/mark.hpp"
#include "net/stamps.hpp"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-tx-buffer.h"
#include "remy_plus/headers/reader.hpp"

namespace lcca_ns3 {

// The sending side of a connection, as its socket sees it.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual bool may_send() const = 0;
  virtual void sending(Mark::Fields& fields, std::uint32_t bytes) = 0;
  // The header that this packet leaves with; empty where packets have none.
  virtual std::optional<Stamps> header(const Mark::Fields&) { return {}; }
  virtual void acknowledged(const Mark::Fields& echo, const Stamps* header) = 0;
  virtual void refill() = 0;
  virtual void timed_out() = 0;
  // Whether the last acknowledged packet met congestion, where the sender decides that and not the network's ECN marks.
  virtual std::optional<bool> met_congestion() const = 0;
};

// What receivers have, by flow of the trial; shared by all sockets of a trial.
struct Deliveries {
  std::vector<std::uint32_t> segments;  // per flow, retransmitted ones once
  const remy_plus::Stamping* stamping = nullptr;
  double ns_per_us = 1000;
};

class MarkedSocket : public ns3::TcpSocketBase {
 public:
  static ns3::TypeId GetTypeId();
  MarkedSocket() = default;
  MarkedSocket(const MarkedSocket& other);

  void drive(Driver* driver) { driver_ = driver; }
  void deliver_to(Deliveries* deliveries) { deliveries_ = deliveries; }
  static void trace(ns3::Ptr<MarkedSocket> socket);  // before it connects or listens; forks inherit it

  // Adds segments to the send buffer until `count` wait there unsent; returns how many were added.
  std::uint32_t top_up(std::uint32_t count);
  std::uint32_t unsent() const;  // segments in the send buffer that were never sent
  bool all_acknowledged() const { return m_txBuffer->Size() == 0; }
  void send_now() { SendPendingData(m_connected); }
  bool established() const { return m_state == ESTABLISHED; }

  void set_window(double packets);
  void forget_timeout() { doubled_ = {}; }  // of the flow before
  // A new flow of a stock congestion control, as on a new connection: nothing of the flow before it is known any more,
  // and what it had not got acknowledged is given up. Its first RTT is that of the connection's own handshake, in
  // ns-3 from its first SYN on, lost ones too.
  void restart(ns3::Ptr<ns3::TcpCongestionOps> control, ns3::Ptr<ns3::TcpRateOps> rates, std::uint32_t initial_window);
  ns3::Ptr<ns3::TcpSocketState> block() const { return m_tcb; }
  ns3::Ptr<ns3::TcpCongestionOps> control() const { return m_congestionControl; }

 protected:
  ns3::Ptr<ns3::TcpSocketBase> Fork() override { return ns3::CopyObject<MarkedSocket>(this); }
  void DoForwardUp(ns3::Ptr<ns3::Packet> packet, const ns3::Address& from, const ns3::Address& to) override;
  void ReceivedAck(ns3::Ptr<ns3::Packet> packet, const ns3::TcpHeader& header) override;
  void ReceivedData(ns3::Ptr<ns3::Packet> packet, const ns3::TcpHeader& header) override;
  std::uint32_t AvailableWindow() const override;
  // A timeout that was doubled stays until a round-trip time was measured (RFC 6298, section 5): what is sent again
  // measures none, and ns-3's own socket falls back to the short timeout with the next acknowledgement.
  void ReTxTimeout() override;
  void NewAck(const ns3::SequenceNumber32& sequence, bool restart_timer) override;
  void EstimateRtt(const ns3::TcpHeader& header) override;
  // As in ns-3, but what is sent again is found by halves: a loss in a large window sends thousands of packets again.
  void UpdateRttHistory(const ns3::SequenceNumber32& first, std::uint32_t bytes, bool again) override;

 private:
  static void on_send(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header,
                      ns3::Ptr<const ns3::TcpSocketBase> socket);
  void mark(ns3::Ptr<const ns3::Packet> packet);
  bool is_new(ns3::SequenceNumber32 begin);
  void forget_sent();
  void forget_path();
  void forget_control(std::uint32_t initial_window);
  bool repeats_handshake(ns3::Ptr<const ns3::Packet> packet) const;
  void skip_to(ns3::SequenceNumber32 first);  // receiver: what comes before is not expected any more

  Driver* driver_ = nullptr;
  Deliveries* deliveries_ = nullptr;
  void acknowledge(ns3::Ptr<const ns3::Packet> packet, const Mark::Fields& echo);

  Mark::Fields latest_;                                    // receiver: of the data packet that is being answered
  std::optional<Stamps> stamps_;                           // receiver: its header
  remy_plus::Reflector reflector_;                         // receiver
  std::vector<bool> received_;                             // receiver: segments that have arrived
  std::uint32_t first_ = 0;                                // sender: sequence number where the flow begins
  ns3::Time handshake_;                                    // sender: RTT of the connection's handshake
  ns3::Time doubled_;                                      // sender: timeout until an RTT is measured; zero: none
  std::vector<ns3::Ptr<ns3::TcpCongestionOps>> replaced_;  // Westwood+'s timers outlive their flow
};

// Congestion control that leaves the window to the driver, in loss and recovery too.
class HeldWindow : public ns3::TcpCongestionOps {
 public:
  static ns3::TypeId GetTypeId();
  std::string GetName() const override { return "held"; }
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, std::uint32_t) override { return tcb->m_cWnd; }
  void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState>, std::uint32_t) override {}
  bool HasCongControl() const override { return true; }
  void CongControl(ns3::Ptr<ns3::TcpSocketState>, const ns3::TcpRateOps::TcpRateConnection&,
                   const ns3::TcpRateOps::TcpRateSample&) override {}
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<HeldWindow>(this); }
};

}  // namespace lcca_ns3
