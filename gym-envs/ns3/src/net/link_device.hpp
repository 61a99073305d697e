// SPDX-License-Identifier: GPL-2.0-only
// One end of a full-duplex point-to-point link: a finite FIFO queue (or a stock queue disc), a transmitter of constant
// rate, propagation, and the stamping of in-network signals as a packet starts to be sent.
//
// It stands in for PointToPointNetDevice, which lets nobody insert a header below IP or see a packet as it leaves.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "net/int_header.hpp"
#include "net/mark.hpp"
#include "net/port_queue.hpp"
#include "net/rate_trace.hpp"
#include "net/stamps.hpp"
#include "ns3/channel.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/queue-disc.h"
#include "remy_plus/core/link_meter.hpp"
#include "remy_plus/headers/hop.hpp"

namespace lcca_ns3 {

// What all devices of a trial share.
struct LinkRules {
  IntLayout header;
  bool one_way = false;        // echoes keep what the receiver saw
  std::uint32_t framing = 14;  // bytes of every packet beside IP and signals: 2 of PPP, 12 of a timestamp option
  remy_plus::Model model;      // how the link signal is collected
  double ns_per_us = 1000;     // simulated ns
  std::int64_t begin = 0;      // ns, where the trial's clock starts
  const remy_plus::Stamping* stamping = nullptr;  // the header that packets carry, if any
  double packet_bytes = 590;                      // of a data packet without it
  double rtt = 0;                                 // µs, of the network
  std::uint64_t seed = 0, network = 0;
  std::function<void(const Mark::Fields&)> dropped;  // by a full buffer
};

// Sees what comes to one device and leaves it (ns).
class LinkWatcher {
 public:
  virtual ~LinkWatcher() = default;
  virtual void offered(const Mark::Fields& fields) = 0;
  virtual void dropped(const Mark::Fields& fields) = 0;
  // As it starts to be sent: its last bit leaves at `departs`.
  virtual void sends(const Mark::Fields& fields, std::int64_t offered, double departs, std::uint32_t bytes) = 0;
};

class LinkDevice : public ns3::NetDevice {
 public:
  struct Link {
    double bytes_per_ns = 0;             // at first
    std::vector<RateTrace::Step> steps;  // later
    std::int64_t delay = 0;              // ns
    std::uint64_t buffer = UINT64_MAX;   // packets waiting, the one being sent not counted
    bool stamps = false;                 // whether it writes signals (router-router links do, host links do not)
    std::uint64_t number = 0;            // of the network's links
  };

  LinkDevice(const LinkRules& rules, const Link& link);
  static ns3::TypeId GetTypeId();

  void connect(ns3::Ptr<LinkDevice> peer) { peer_ = peer; }
  // Sees every packet that arrives, instead of the node's network stack (routers).
  void forward_to(std::function<void(ns3::Ptr<ns3::Packet>)> sink) { sink_ = std::move(sink); }
  // Sees what arrives first and may take it away by returning true (the loss stage of a receiving host).
  void filter(std::function<bool(const Mark::Fields&)> filter) { filter_ = std::move(filter); }
  void watch(LinkWatcher* watcher) { watcher_ = watcher; }
  void use(ns3::Ptr<ns3::QueueDisc> disc) { disc_ = disc; }
  void use_port(ns3::Ptr<PortQueue> port) { disc_ = port_ = port; }

  void offer(ns3::Ptr<ns3::Packet> packet);

  // Counted from the beginning of the trial on.
  double sent_bytes() const { return static_cast<double>(sent_bytes_); }
  std::uint64_t sent_packets() const { return sent_packets_; }
  double utilisation(double span) const;      // of so many ns
  double waiting_integral(std::int64_t end);  // packet·ns
  std::uint64_t waiting() const;
  const Link& link() const { return link_; }
  // The hop that writes headers; one does on router-router links if there are headers.
  remy_plus::Hop* hop() { return hop_ ? &*hop_ : nullptr; }

  // --- ns3::NetDevice
  void SetIfIndex(std::uint32_t index) override { index_ = index; }
  std::uint32_t GetIfIndex() const override { return index_; }
  ns3::Ptr<ns3::Channel> GetChannel() const override { return nullptr; }
  void SetAddress(ns3::Address address) override { address_ = ns3::Mac48Address::ConvertFrom(address); }
  ns3::Address GetAddress() const override { return address_; }
  bool SetMtu(std::uint16_t mtu) override;
  std::uint16_t GetMtu() const override { return mtu_; }
  bool IsLinkUp() const override { return true; }
  void AddLinkChangeCallback(ns3::Callback<void>) override {}
  bool IsBroadcast() const override { return false; }
  ns3::Address GetBroadcast() const override { return ns3::Mac48Address::GetBroadcast(); }
  bool IsMulticast() const override { return false; }
  ns3::Address GetMulticast(ns3::Ipv4Address) const override { return address_; }
  ns3::Address GetMulticast(ns3::Ipv6Address) const override { return address_; }
  bool IsBridge() const override { return false; }
  bool IsPointToPoint() const override { return true; }
  bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, std::uint16_t protocol) override;
  bool SendFrom(ns3::Ptr<ns3::Packet>, const ns3::Address&, const ns3::Address&, std::uint16_t) override {
    return false;
  }
  ns3::Ptr<ns3::Node> GetNode() const override { return node_; }
  void SetNode(ns3::Ptr<ns3::Node> node) override { node_ = node; }
  bool NeedsArp() const override { return false; }
  void SetReceiveCallback(ReceiveCallback callback) override { receive_ = callback; }
  void SetPromiscReceiveCallback(PromiscReceiveCallback) override {}
  bool SupportsSendFrom() const override { return false; }

 protected:
  void DoDispose() override;

 private:
  struct Waiting {
    ns3::Ptr<ns3::Packet> packet;
    std::int64_t offered;  // ns
  };

  void transmit(Waiting next);
  void transmitted();
  Waiting next();
  ns3::Ptr<ns3::QueueDiscItem> item_of(ns3::Ptr<ns3::Packet> packet) const;
  ns3::Ptr<ns3::Packet> passed(ns3::Ptr<ns3::Packet> packet);  // shown to the port's marker
  void arrive(ns3::Ptr<ns3::Packet> packet);
  double send(std::uint32_t bytes);  // returns when the last bit leaves, ns
  void stamp(Mark& mark, std::uint32_t bytes);
  bool collects(const Mark& mark) const;
  std::uint32_t header_bytes(const Mark& mark, const Stamps* stamps, std::uint32_t hops) const;
  std::uint32_t bytes_on_wire(ns3::Ptr<const ns3::Packet> packet) const;  // as it will be sent from here
  remy_plus::Moment moment(const Stamps& stamps, std::uint32_t bytes) const;
  void write_at_enqueue(ns3::Ptr<ns3::Packet> packet, bool waits);
  void write_at_dequeue(const Mark& mark, Stamps& stamps, std::uint32_t bytes);
  double waiting_bytes() const;
  double us(std::int64_t ns) const;
  void note_waiting();

  const LinkRules* rules_;
  Link link_;
  remy_plus::BasicLinkMeter<std::uint64_t, 1> meter_;  // by bytes: packets on this device differ in size
  std::optional<remy_plus::Hop> hop_;
  std::uint64_t queued_bytes_ = 0;
  ns3::Ptr<LinkDevice> peer_;
  ns3::Ptr<ns3::Node> node_;
  ns3::Ptr<ns3::QueueDisc> disc_;
  ns3::Ptr<PortQueue> port_;  // the same, where its marker sees also what need not wait
  std::deque<Waiting> queue_;
  RateTrace rate_;
  LinkWatcher* watcher_ = nullptr;
  std::function<void(ns3::Ptr<ns3::Packet>)> sink_;
  std::function<bool(const Mark::Fields&)> filter_;
  ReceiveCallback receive_;
  ns3::Mac48Address address_;
  std::uint32_t index_ = 0;
  std::uint16_t mtu_ = 1500;
  bool busy_ = false;
  double free_at_ = 0;  // ns, exact: rounding a time to whole ns does not add up
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t sent_packets_ = 0;
  std::int64_t noted_ = 0;  // ns
  double waiting_ = 0;      // packet·ns until then
  double sending_ = 0;      // ns that it was sending
};

}  // namespace lcca_ns3
