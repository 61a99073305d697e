// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/trace_source.hpp"

#include <algorithm>

#include "ns3/simulator.h"
#include "tcp/new_control.hpp"
#include "tcp/rate_sampler.hpp"

namespace lcca_ns3 {

using ns3::NanoSeconds;
using ns3::Simulator;

namespace {

std::int64_t clock() { return Simulator::Now().GetNanoSeconds(); }

}  // namespace

TraceSource::TraceSource(const Plan& plan, std::size_t index, FlowMonitor& flow_monitor, std::int64_t begin)
    : plan_(plan), index_(index), flow_monitor_(flow_monitor), begin_(begin) {
  for (const TracedFlow& flow : plan.trace.at(index))
    Simulator::Schedule(NanoSeconds(begin + plan.ns(flow.start)), &TraceSource::arrive, this, flow.length);
}

void TraceSource::attach(ns3::Ptr<MarkedSocket> socket) {
  socket_ = socket;
  socket_->drive(this);
}

void TraceSource::arrive(std::uint64_t length) {
  waiting_.push_back(length);
  if (!on_ && waiting_.size() == 1) begin_next();
}

void TraceSource::begin_next() {
  if (on_ || waiting_.empty()) return;
  const std::uint64_t length = waiting_.front();
  waiting_.pop_front();
  first_on_ = std::min(first_on_, us(clock()));
  flow_ = flow_monitor_.open(index_, us(clock()), length);
  on_ = true;
  socket_->restart(new_control(std::get<StockControl>(plan_.policy(index_)), 1000 * index_ + flows_++),
                   ns3::CreateObject<RateSampler>(), plan_.options.initial_window);
  socket_->top_up(static_cast<std::uint32_t>(length));
  socket_->send_now();
}

void TraceSource::sending(Mark::Fields& fields, std::uint32_t) {
  fields.sent = clock();
  fields.number = sent_++;
  fields.flow = flow_;
  fields.sender = static_cast<std::uint16_t>(index_);
  ++flow_monitor_.row(flow_).sent;
}

void TraceSource::acknowledged(const Mark::Fields& echo, const Stamps*) {
  if (watcher_) watcher_(echo);
  flow_monitor_.acknowledged(echo.flow, echo.delivered, us(clock()) - us(echo.sent), us(clock()));
  if (on_ && echo.flow == flow_ && echo.delivered >= flow_monitor_.row(flow_).length) complete(echo.arrived);
}

// The flow ends where its last packet reached the receiver. TCP has this acknowledgement still to read.
void TraceSource::complete(std::int64_t arrived) {
  on_ = false;
  flow_monitor_.close(flow_, us(clock()), true, false);
  flow_monitor_.row(flow_).end = us(arrived);
  if (!waiting_.empty()) Simulator::ScheduleNow(&TraceSource::begin_next, this);
}

void TraceSource::finish(double end) {
  if (on_) flow_monitor_.close(flow_, end, false, false);
  on_ = false;
}

}  // namespace lcca_ns3
