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

GivenSource::GivenSource(const Plan& plan, std::size_t index, Ledger& ledger, std::int64_t begin)
    : plan_(plan), index_(index), ledger_(ledger), begin_(begin) {
  for (const GivenFlow& flow : plan.given.at(index))
    Simulator::Schedule(NanoSeconds(begin + plan.ns(flow.start)), &GivenSource::arrive, this, flow.length);
}

void GivenSource::attach(ns3::Ptr<MarkedSocket> socket) {
  socket_ = socket;
  socket_->drive(this);
}

void GivenSource::arrive(std::uint64_t length) {
  waiting_.push_back(length);
  if (!on_ && waiting_.size() == 1) begin_next();
}

void GivenSource::begin_next() {
  if (on_ || waiting_.empty()) return;
  const std::uint64_t length = waiting_.front();
  waiting_.pop_front();
  first_on_ = std::min(first_on_, us(clock()));
  flow_ = ledger_.open(index_, us(clock()), length);
  on_ = true;
  socket_->restart(new_control(std::get<StockControl>(plan_.policy), 1000 * index_ + flows_++),
                   ns3::CreateObject<RateSampler>(), plan_.options.initial_window);
  socket_->top_up(static_cast<std::uint32_t>(length));
  socket_->send_now();
}

void GivenSource::sending(Mark::Fields& fields, std::uint32_t) {
  fields.sent = clock();
  fields.number = sent_++;
  fields.flow = flow_;
  fields.sender = static_cast<std::uint16_t>(index_);
  ++ledger_.row(flow_).sent;
}

void GivenSource::acknowledged(const Mark::Fields& echo, const Stamps*) {
  if (watcher_) watcher_(echo);
  ledger_.acknowledged(echo.flow, echo.delivered, us(clock()) - us(echo.sent), us(clock()));
  if (on_ && echo.flow == flow_ && echo.delivered >= ledger_.row(flow_).length) complete(echo.arrived);
}

// The flow ends where its last packet reached the receiver. TCP has this acknowledgement still to read.
void GivenSource::complete(std::int64_t arrived) {
  on_ = false;
  ledger_.close(flow_, us(clock()), true, false);
  ledger_.row(flow_).end = us(arrived);
  if (!waiting_.empty()) Simulator::ScheduleNow(&GivenSource::begin_next, this);
}

void GivenSource::finish(double end) {
  if (on_) ledger_.close(flow_, end, false, false);
  on_ = false;
}

}  // namespace lcca_ns3
