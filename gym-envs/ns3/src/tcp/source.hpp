// SPDX-License-Identifier: GPL-2.0-only
// A sender: goes on and off as the engine's senders do (same random streams), keeps its socket supplied, and lets a
// policy of the engine or a stock congestion control decide about the window.
#pragma once

#include <functional>

#include "cca/signal_control.hpp"
#include "ns3/event-id.h"
#include "remy_plus/core/random.hpp"
#include "remy_plus/headers/hop.hpp"
#include "remy_plus/signals/memory.hpp"
#include "tcp/controller.hpp"
#include "tcp/flow_monitor.hpp"
#include "tcp/sender.hpp"

namespace lcca_ns3 {

class Source : public Sender {
 public:
  // `traffic` is that of all senders.
  Source(const Plan& plan, std::size_t index, FlowMonitor& flow_monitor, std::int64_t begin,
         remy_plus::Traffic& traffic);

  // From the first flow on, in the place of the plan's policy.
  void steer(Controller* controller);
  void resume();  // what the controller decided takes effect
  remy_plus::Control& control() { return control_; }
  const remy_plus::Memory& memory() const { return memory_; }

  // The first flow begins once the connection is there, which this sets up as the flow would begin.
  void connect_by(std::function<void()> connector) { connector_ = std::move(connector); }
  void connected() { switch_on(); }
  double begins() const { return begins_; }  // µs, as the traffic says; a flow by handshake begins after it

  // Called with true as a flow begins, with false as it ends.
  void announce(std::function<void(bool)> announcer) { announcer_ = std::move(announcer); }

  // --- Sender
  void attach(ns3::Ptr<MarkedSocket> socket) override;
  void finish(double end) override;
  double first_on() const override { return first_on_; }
  void watch(std::function<void(const Mark::Fields&)> watcher) override { watcher_ = std::move(watcher); }

  // --- Driver
  bool may_send() const override;
  void sending(Mark::Fields& fields, std::uint32_t bytes) override;
  std::optional<Stamps> header(const Mark::Fields& fields) override;
  void acknowledged(const Mark::Fields& echo, const Stamps* header) override;
  void refill() override;
  void timed_out() override;
  std::optional<bool> met_congestion() const override { return met_congestion_; }

 private:
  double now() const;                            // µs since the trial began
  void at(double time, void (Source::*what)());  // µs since the trial began
  void switch_on();
  void switch_off();
  void learn(const Mark::Fields& echo, const Stamps* header, double time, double sent);  // what an echo tells (µs)
  void start_policy();
  void start_stock();
  void inform(const Signals& signals);  // a stock congestion control that reads signals
  void obey();                          // hands the policy's window and gap to the socket
  void wake();
  void draw_loss(std::int64_t from);
  std::int64_t due() const;  // ns, when pacing allows the next packet
  bool by_bytes() const { return length_ > 0; }
  const StockControl& stock() const { return std::get<StockControl>(plan_.policy(index_)); }
  bool governed() const { return controller_ || policy(); }  // not by a stock congestion control
  const remy_plus::Policy* policy() const { return std::get_if<remy_plus::Policy>(&plan_.policy(index_)); }

  const Plan& plan_;
  std::size_t index_;
  FlowMonitor& flow_monitor_;
  std::int64_t begin_;  // ns
  double begins_;       // µs
  ns3::Ptr<MarkedSocket> socket_;
  std::function<void(const Mark::Fields&)> watcher_;
  Controller* controller_ = nullptr;
  std::function<void(bool)> announcer_;
  std::function<void()> connector_;  // none: the connection is there, or being set up
  std::optional<remy_plus::Reader> reader_;
  remy_plus::Traffic& traffic_;
  remy_plus::Stream loss_stream_;
  remy_plus::Memory memory_;
  remy_plus::Control control_;
  remy_plus::RuleHits rule_hits_;
  remy_plus::SignalMask wanted_ = remy_plus::ack_signals;
  SignalControl* informed_ = nullptr;  // the socket's congestion control
  double least_rtt_ = 0;               // µs, of the flow
  std::optional<bool> met_congestion_;
  ns3::EventId timer_;
  bool on_ = false;
  std::uint64_t length_ = 0;  // packets of the current (or last) flow; 0: it is switched off
  std::uint64_t supply_ = 0;  // packets of the flow that are not in the send buffer yet
  std::uint32_t flow_ = UINT32_MAX;
  std::uint32_t flows_ = 0;
  std::int64_t sent_ = 0;
  std::int64_t acknowledged_ = -1;
  std::int64_t next_loss_ = -1;
  std::int64_t last_send_ = 0;  // ns
  double log_keep_;
  double first_on_ = remy_plus::never;
};

}  // namespace lcca_ns3
