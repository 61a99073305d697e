// SPDX-License-Identifier: GPL-2.0-only
// A sender whose flows are given, not drawn: one after another on one connection, each as on a new one. A flow that
// arrives while another is on waits for it.
#pragma once

#include <deque>

#include "tcp/flow_monitor.hpp"
#include "tcp/sender.hpp"

namespace lcca_ns3 {

class TraceSource : public Sender {
 public:
  TraceSource(const Plan& plan, std::size_t index, FlowMonitor& flow_monitor, std::int64_t begin);

  // --- Sender
  void attach(ns3::Ptr<MarkedSocket> socket) override;
  void finish(double end) override;
  double first_on() const override { return first_on_; }
  void watch(std::function<void(const Mark::Fields&)> watcher) override { watcher_ = std::move(watcher); }

  // --- Driver
  bool may_send() const override { return on_; }
  void sending(Mark::Fields& fields, std::uint32_t bytes) override;
  void acknowledged(const Mark::Fields& echo, const Stamps* header) override;
  void refill() override {}  // the whole flow is in the send buffer
  void timed_out() override {}
  std::optional<bool> met_congestion() const override { return std::nullopt; }

 private:
  double us(std::int64_t time) const { return static_cast<double>(time - begin_) / plan_.ns_per_us(); }
  void arrive(std::uint64_t length);
  void begin_next();
  void complete(std::int64_t arrived);

  const Plan& plan_;
  std::size_t index_;
  FlowMonitor& flow_monitor_;
  std::int64_t begin_;  // ns
  ns3::Ptr<MarkedSocket> socket_;
  std::function<void(const Mark::Fields&)> watcher_;
  std::deque<std::uint64_t> waiting_;  // lengths in packets
  bool on_ = false;
  std::uint32_t flow_ = UINT32_MAX;
  std::uint32_t flows_ = 0;
  std::uint32_t sent_ = 0;
  double first_on_ = remy_plus::never;
};

}  // namespace lcca_ns3
