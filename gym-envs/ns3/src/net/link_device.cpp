// SPDX-License-Identifier: GPL-2.0-only
#include "net/link_device.hpp"

#include <algorithm>
#include <cmath>

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

namespace lcca_ns3 {

using ns3::NanoSeconds;
using ns3::Packet;
using ns3::Ptr;
using ns3::Simulator;

namespace {

constexpr std::uint16_t ipv4 = 0x0800;

std::int64_t now() { return Simulator::Now().GetNanoSeconds(); }

}  // namespace

NS_OBJECT_ENSURE_REGISTERED(LinkDevice);

ns3::TypeId LinkDevice::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("lcca_ns3::Wire").SetParent<ns3::NetDevice>();
  return id;
}

LinkDevice::LinkDevice(const LinkRules& rules, const Link& link)
    : rules_(&rules),
      link_(link),
      meter_(rules.model, link.bytes_per_ns * rules.ns_per_us),
      rate_(link.bytes_per_ns, link.steps),
      address_(ns3::Mac48Address::Allocate()) {
  if (!rules.stamping || !link.stamps) return;
  const double rate = link.bytes_per_ns * rules.ns_per_us / rules.packet_bytes;
  hop_.emplace(*rules.stamping, rules.model, rate, rules.rtt, false, link.number);
}

bool LinkDevice::SetMtu(std::uint16_t mtu) {
  mtu_ = mtu;
  return true;
}

bool LinkDevice::Send(Ptr<Packet> packet, const ns3::Address&, std::uint16_t) {
  offer(packet);
  return true;
}

void LinkDevice::offer(Ptr<Packet> packet) {
  if (hop_) write_at_enqueue(packet, busy_);
  Mark mark;
  const bool watched = watcher_ && packet->PeekPacketTag(mark) && !mark.fields.echo;
  if (watched) watcher_->offered(mark.fields);
  if (!busy_ || !link_.stamps)
    return transmit({port_ ? passed(packet) : packet, now()});  // a host link is so fast that its queue needs no events
  note_waiting();
  if (disc_) {
    if (!disc_->Enqueue(item_of(packet)) && watched) watcher_->dropped(mark.fields);
  } else if (queue_.size() < link_.buffer) {
    queue_.push_back({packet, now()});
    if (hop_) queued_bytes_ += bytes_on_wire(packet);
  } else {
    if (watched) watcher_->dropped(mark.fields);
    if (packet->PeekPacketTag(mark)) rules_->dropped(mark.fields);
  }
}

Ptr<ns3::QueueDiscItem> LinkDevice::item_of(Ptr<Packet> packet) const {
  ns3::Ipv4Header header;
  packet->RemoveHeader(header);
  return ns3::Create<ns3::Ipv4QueueDiscItem>(packet, address_, ipv4, header);
}

Ptr<Packet> LinkDevice::passed(Ptr<Packet> packet) {
  Ptr<ns3::QueueDiscItem> item = item_of(packet);
  port_->pass(item);
  item->AddHeader();
  return item->GetPacket();
}

std::uint64_t LinkDevice::waiting() const { return disc_ ? disc_->GetNPackets() : queue_.size(); }

void LinkDevice::note_waiting() {
  const std::int64_t time = std::max(now(), rules_->begin);
  waiting_ += static_cast<double>(waiting()) * static_cast<double>(time - std::max(noted_, rules_->begin));
  noted_ = time;
}

double LinkDevice::waiting_integral(std::int64_t end) {
  const std::int64_t since = std::max(noted_, rules_->begin);
  return waiting_ + static_cast<double>(waiting()) * static_cast<double>(std::max<std::int64_t>(end - since, 0));
}

double LinkDevice::send(std::uint32_t bytes) {
  const double start = std::max(free_at_, static_cast<double>(now()));
  free_at_ = rate_.finish(start, bytes);
  if (now() >= rules_->begin) {
    sent_bytes_ += bytes;
    ++sent_packets_;
    sending_ += free_at_ - start;
  }
  return free_at_;
}

double LinkDevice::utilisation(double span) const {
  return rate_.changes() ? sending_ / span : sent_bytes() / link_.bytes_per_ns / span;
}

void LinkDevice::transmit(Waiting next) {
  Ptr<Packet> packet = next.packet;
  Mark mark;
  const bool marked = packet->PeekPacketTag(mark);
  Stamps stamps;
  const bool carries = marked && rules_->stamping && packet->PeekPacketTag(stamps);
  IntLayout layout = rules_->header;
  if (marked)
    layout.bytes = header_bytes(mark, carries ? &stamps : nullptr, stamps.carried.hops + (hop_ && collects(mark)));
  const std::uint32_t bytes = packet->GetSize() + rules_->framing + (marked ? layout.bytes : 0);
  const double departs = send(bytes);
  if (marked) {
    if (watcher_ && !mark.fields.echo) watcher_->sends(mark.fields, next.offered, departs, bytes);
    if (link_.stamps) stamp(mark, bytes);
    if (hop_ && carries) {
      write_at_dequeue(mark, stamps, bytes);
      packet->ReplacePacketTag(stamps);
    }
    if (layout.bytes > 0) {
      IntHeader header(layout);
      header.queue = mark.fields.queue;
      header.link = mark.fields.link;
      packet->AddHeader(header);
    }
    packet->ReplacePacketTag(mark);
  }
  busy_ = true;
  const std::int64_t done = std::llround(departs) - now();
  if (link_.stamps) Simulator::Schedule(NanoSeconds(done), &LinkDevice::transmitted, this);
  Simulator::ScheduleWithContext(peer_->node_->GetId(), NanoSeconds(done + link_.delay), &LinkDevice::arrive, peer_,
                                 packet);
}

// --- headers

bool LinkDevice::collects(const Mark& mark) const {
  return !mark.fields.echo || (rules_->stamping->two_way && !rules_->one_way);
}

std::uint32_t LinkDevice::header_bytes(const Mark& mark, const Stamps* stamps, std::uint32_t hops) const {
  if (!rules_->stamping || rules_->stamping->plain) return rules_->header.bytes;
  if (!stamps) return 0;
  const remy_plus::Stamping& header = *rules_->stamping;
  if (mark.fields.echo) return stamps->carried.shown ? header.bytes(header.reflected_bytes, hops) : 0;
  return stamps->carried.there ? header.bytes(header.sent_bytes, hops) : 0;
}

std::uint32_t LinkDevice::bytes_on_wire(Ptr<const Packet> packet) const {
  Mark mark;
  Stamps stamps;
  const std::uint32_t bytes = packet->GetSize() + rules_->framing;
  if (!packet->PeekPacketTag(mark)) return bytes;
  const bool carries = packet->PeekPacketTag(stamps);
  return bytes + header_bytes(mark, carries ? &stamps : nullptr, stamps.carried.hops + collects(mark));
}

// What a queue disc holds is packets from IP upward.
double LinkDevice::waiting_bytes() const {
  if (!disc_) return static_cast<double>(queued_bytes_);
  const double header = remy_plus::Stamping::bytes(rules_->stamping->sent_bytes, 1);
  return disc_->GetNBytes() + disc_->GetNPackets() * (rules_->framing + header);
}

double LinkDevice::us(std::int64_t ns) const {
  return static_cast<double>(std::max<std::int64_t>(ns - rules_->begin, 0)) / rules_->ns_per_us;
}

remy_plus::Moment LinkDevice::moment(const Stamps& stamps, std::uint32_t bytes) const {
  remy_plus::Moment moment;
  moment.arrived = us(stamps.offered);
  moment.start = us(now());
  moment.service = bytes / link_.bytes_per_ns / rules_->ns_per_us;
  moment.size = bytes / rules_->packet_bytes;
  moment.bytes = bytes;
  moment.queue_packets = static_cast<double>(waiting());
  moment.queue_bytes = waiting_bytes();
  return moment;
}

void LinkDevice::write_at_enqueue(Ptr<Packet> packet, bool waits) {
  Mark mark;
  Stamps stamps;
  if (!packet->PeekPacketTag(mark) || !packet->PeekPacketTag(stamps)) return;
  stamps.offered = now();
  remy_plus::Moment found = moment(stamps, bytes_on_wire(packet));
  if (waits)
    found.start = found.arrived + (waiting_bytes() / link_.bytes_per_ns + free_at_ - now()) / rules_->ns_per_us;
  found.data = !mark.fields.echo;
  const bool written = stamps.carried.there && collects(mark);
  const remy_plus::Draws draws{rules_->seed, rules_->network, mark.fields.sender, mark.fields.number};
  hop_->enqueue(found, draws, written ? &stamps.carried : nullptr, stamps.words.data());
  packet->ReplacePacketTag(stamps);
}

void LinkDevice::write_at_dequeue(const Mark& mark, Stamps& stamps, std::uint32_t bytes) {
  const bool written = stamps.carried.there && collects(mark);
  const remy_plus::Draws draws{rules_->seed, rules_->network, mark.fields.sender, mark.fields.number};
  remy_plus::Moment found = moment(stamps, bytes);
  found.data = !mark.fields.echo;
  hop_->dequeue(found, draws, written ? &stamps.carried : nullptr, stamps.words.data());
}

void LinkDevice::stamp(Mark& mark, std::uint32_t bytes) {
  const double time = static_cast<double>(std::max<std::int64_t>(now() - rules_->begin, 0)) / rules_->ns_per_us;
  // The signal is the share of time that the link sends: what goes faster weighs less.
  const double weight = rate_.changes() ? std::round(bytes * link_.bytes_per_ns / rate_.rate()) : bytes;
  const double link = meter_.count(time, static_cast<std::uint64_t>(weight));
  if (rules_->one_way && mark.fields.echo) return;
  mark.fields.queue = std::max(mark.fields.queue, static_cast<std::uint32_t>(waiting()));
  mark.fields.link = std::max(mark.fields.link, static_cast<float>(link));
}

void LinkDevice::transmitted() {
  busy_ = false;
  if (waiting() == 0) return;
  note_waiting();
  if (const Waiting next = this->next(); next.packet) transmit(next);
}

LinkDevice::Waiting LinkDevice::next() {
  if (!disc_) {
    const Waiting waiting = queue_.front();
    queue_.pop_front();
    if (hop_) queued_bytes_ -= bytes_on_wire(waiting.packet);
    return waiting;
  }
  Ptr<ns3::QueueDiscItem> item = disc_->Dequeue();
  if (!item) return {};
  item->AddHeader();
  return {item->GetPacket(), item->GetTimeStamp().GetNanoSeconds()};
}

void LinkDevice::arrive(Ptr<Packet> packet) {
  Mark mark;
  if (packet->PeekPacketTag(mark)) {
    Stamps stamps;
    const bool carries = rules_->stamping && packet->PeekPacketTag(stamps);
    IntLayout layout = rules_->header;
    layout.bytes = header_bytes(mark, carries ? &stamps : nullptr, stamps.carried.hops);
    if (layout.bytes > 0) {
      IntHeader header(layout);
      packet->RemoveHeader(header);
      if (layout.needed() > 0 && layout.carried()) {
        mark.fields.queue = header.queue;
        mark.fields.link = header.link;
        packet->ReplacePacketTag(mark);
      }
    }
    if (filter_ && filter_(mark.fields)) return;
  }
  if (sink_) return sink_(packet);
  receive_(this, packet, ipv4, peer_->address_);
}

void LinkDevice::DoDispose() {
  peer_ = nullptr;
  node_ = nullptr;
  disc_ = nullptr;
  port_ = nullptr;
  queue_.clear();
  sink_ = nullptr;
  filter_ = nullptr;
  receive_ = ns3::MakeNullCallback<bool, Ptr<ns3::NetDevice>, Ptr<const Packet>, std::uint16_t, const ns3::Address&>();
  NetDevice::DoDispose();
}

}  // namespace lcca_ns3
