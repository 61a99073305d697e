// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ns3/simulator.h"
#include "tcp/new_control.hpp"
#include "tcp/rate_sampler.hpp"

namespace lcca_ns3 {

using ns3::NanoSeconds;
using ns3::Simulator;
using remy_plus::Component;

namespace {

constexpr double latest = 1e9;  // µs: later than any trial ends

std::int64_t clock() { return Simulator::Now().GetNanoSeconds(); }

// What a memory asks of the network where packets have headers.
struct StampedNet : remy_plus::StampsOnly {
  remy_plus::Reader& reader;
  const Stamps* header;
  bool as_they_are;  // queue, link and spare capacity are the mark's
  bool plain() const { return as_they_are; }
  const remy_plus::Seen& look(const remy_plus::Packet& packet) const {
    static const remy_plus::Seen nothing;
    return header ? reader.read(packet.flow, header->carried, header->words.data()) : nothing;
  }
};

}  // namespace

Source::Source(const Plan& plan, std::size_t index, FlowMonitor& flow_monitor, std::int64_t begin,
               remy_plus::Traffic& traffic)
    : plan_(plan),
      index_(index),
      flow_monitor_(flow_monitor),
      begin_(begin),
      begins_(traffic.first(index)),
      traffic_(traffic),
      log_keep_(remy_plus::portable_log(1 - plan.network.loss)) {
  if (const auto* p = policy()) {
    std::visit(
        [&](const auto& kind) {
          wanted_ |= kind.wanted;
          rule_hits_.assign(kind.rules(), 0);
        },
        *p);
  }
  if (plan.header) reader_.emplace(*plan.header);
  if (begins_ < latest) Simulator::Schedule(NanoSeconds(begin + plan.ns(begins_)), &Source::switch_on, this);
}

void Source::steer(Controller* controller) {
  controller_ = controller;
  wanted_ |= controller->wanted();
}

void Source::attach(ns3::Ptr<MarkedSocket> socket) {
  socket_ = socket;
  socket_->drive(this);
}

double Source::now() const { return static_cast<double>(clock() - begin_) / plan_.ns_per_us(); }

void Source::at(double time, void (Source::*what)()) {
  if (time < latest) Simulator::Schedule(NanoSeconds(begin_ + plan_.ns(time) - clock()), what, this);
}

// --- on and off

void Source::switch_on() {
  if (connector_) return std::exchange(connector_, nullptr)();
  length_ = traffic_.length(index_, flows_);
  flow_ = flow_monitor_.open(index_, now(), length_);
  on_ = true;
  if (announcer_) announcer_(true);
  first_on_ = std::min(first_on_, now());
  loss_stream_ = remy_plus::Stream(plan_.seed, plan_.network.id, Component::loss, index_, flows_++);
  draw_loss(sent_);
  supply_ = by_bytes() ? length_ : UINT64_MAX;
  last_send_ = 0;
  at(traffic_.next_off(index_, now()), &Source::switch_off);
  if (governed())
    start_policy();
  else
    start_stock();
  refill();
  socket_->send_now();
}

void Source::switch_off() {
  if (!on_) return;
  on_ = false;
  if (announcer_) announcer_(false);
  flow_monitor_.close(flow_, now(), true, false);
  timer_.Cancel();
  if (controller_) controller_->ended();
  at(traffic_.next_on(index_, now()), &Source::switch_on);
}

void Source::finish(double end) {
  if (!on_) return;
  const Row& row = flow_monitor_.row(flow_);
  const bool idle = row.sent == row.delivered + row.lost + row.dropped;
  flow_monitor_.close(flow_, end, false, governed() && control_.window < 1 && idle);
}

// --- the policy

void Source::start_policy() {
  socket_->forget_timeout();
  memory_.reset(static_cast<std::uint32_t>(sent_));
  acknowledged_ = sent_ - 1;
  control_ = {};
  if (controller_) return controller_->started(control_, flow_, sent_);
  std::visit(
      [&](const auto& kind) {
        kind.start(control_, memory_, rule_hits_);
        kind.unblock(control_, memory_, rule_hits_);
      },
      *policy());
  obey();
}

void Source::start_stock() {
  auto control = new_control(stock(), 1000 * index_ + flows_);
  informed_ = dynamic_cast<SignalControl*>(ns3::PeekPointer(control));
  least_rtt_ = HUGE_VAL;
  met_congestion_.reset();
  ns3::Ptr<ns3::TcpRateOps> rates = ns3::CreateObject<RateSampler>();
  if (stock().stock_rates) rates = ns3::CreateObject<ns3::TcpRateLinux>();
  socket_->restart(control, rates, plan_.options.initial_window);
}

void Source::inform(const Signals& signals) {
  if (informed_) informed_->observe(signals);
  least_rtt_ = std::min(least_rtt_, signals.rtt);
  if (const auto& congested = stock().congested) {
    const double seen = congested->signal == "queue"  ? signals.queue
                        : congested->signal == "link" ? signals.link
                                                      : signals.rtt / least_rtt_;
    met_congestion_ = seen >= congested->from;
  }
}

std::optional<Stamps> Source::header(const Mark::Fields& fields) {
  if (!plan_.header) return {};
  Stamps stamps;
  stamps.words.resize(plan_.header->words);
  const remy_plus::Draws draws{plan_.seed, plan_.network.id, fields.sender, fields.number};
  stamps.carried = remy_plus::departure(*plan_.header, draws, stamps.words.data());
  stamps.carried.told = remy_plus::told_by(control_.window, control_.gap, memory_.latest_rtt());
  return stamps;
}

void Source::acknowledged(const Mark::Fields& echo, const Stamps* header) {
  if (watcher_) watcher_(echo);
  const double time = now();
  const double sent = static_cast<double>(echo.sent - begin_) / plan_.ns_per_us();
  flow_monitor_.acknowledged(echo.flow, echo.delivered, time - sent, time);
  learn(echo, header, time, sent);
  if (on_ && by_bytes() && flow_monitor_.row(flow_).delivered >= length_) switch_off();
}

void Source::learn(const Mark::Fields& echo, const Stamps* header, double time, double sent) {
  if (!governed()) {
    if (echo.flow == flow_) inform({static_cast<double>(echo.queue), echo.link, time - sent});
    return;
  }
  remy_plus::Packet packet{};
  packet.sent = sent;
  packet.arrives = static_cast<double>(echo.arrived - begin_) / plan_.ns_per_us();
  packet.sequence = echo.number;
  packet.flow = echo.flow;
  packet.queue = echo.queue;
  packet.link = echo.link;
  const bool current = echo.flow == flow_;
  if (current && reader_) {
    StampedNet net{{plan_.network.link_rate}, *reader_, header, plan_.header->plain};
    memory_.receive(net, packet, time, acknowledged_, wanted_);
  } else if (current) {
    memory_.receive_plain(packet, time, acknowledged_, wanted_, plan_.network.link_rate);
  }
  acknowledged_ = std::max<std::int64_t>(acknowledged_, echo.number);
  if (controller_) {
    if (current && on_) controller_->acknowledged(memory_, echo.number, time - sent);
    return;
  }
  std::visit(
      [&](const auto& kind) {
        kind.feedback(control_, memory_, {echo.number, sent_, current, time}, rule_hits_);
        if (on_) kind.unblock(control_, memory_, rule_hits_);
      },
      *policy());
  obey();
}

void Source::resume() {
  obey();
  refill();
  socket_->send_now();
}

void Source::obey() {
  socket_->set_window(control_.window);
  if (on_ && due() > clock() && due() < INT64_MAX) wake();
}

// --- sending

std::int64_t Source::due() const {
  const double gap = control_.gap * plan_.ns_per_us();
  return gap < 1e18 ? last_send_ + static_cast<std::int64_t>(std::ceil(gap)) : INT64_MAX;
}

bool Source::may_send() const {
  if (controller_ && controller_->holds()) return false;
  return on_ && (!governed() || due() <= clock());
}

void Source::wake() {
  timer_.Cancel();
  timer_ = Simulator::Schedule(NanoSeconds(due() - clock()), [this] {
    refill();
    socket_->send_now();
  });
}

void Source::sending(Mark::Fields& fields, std::uint32_t) {
  fields.sent = last_send_ = clock();
  fields.number = static_cast<std::uint32_t>(sent_++);
  fields.flow = flow_;
  fields.sender = static_cast<std::uint16_t>(index_);
  fields.lost = fields.number == next_loss_;
  if (fields.lost) draw_loss(sent_);
  ++flow_monitor_.row(flow_).sent;
  if (governed() && on_ && due() > clock() && due() < INT64_MAX) wake();
}

void Source::refill() {
  if (!on_ || supply_ == 0) return;
  const auto block = socket_->block();
  const std::uint32_t segment = block->m_segmentSize;
  const std::uint32_t flight = block->m_bytesInFlight.Get() / segment, window = block->m_cWnd.Get() / segment;
  std::uint32_t wanted = 2 + (window > flight ? std::min(window - flight, 16384u) : 0);
  if (by_bytes()) wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, socket_->unsent() + supply_));
  const std::uint32_t added = socket_->top_up(wanted);
  if (by_bytes()) supply_ -= added;
}

void Source::timed_out() {
  if (governed()) obey();
}

void Source::draw_loss(std::int64_t from) {
  next_loss_ = -1;
  if (!(log_keep_ < 0)) return;
  const double gap = remy_plus::portable_log(loss_stream_.uniform()) / log_keep_;
  if (gap < 1e15) next_loss_ = from + static_cast<std::int64_t>(gap);
}

}  // namespace lcca_ns3
