// SPDX-License-Identifier: GPL-2.0-only
// BBR version 1 (Cardwell et al., CACM 60(2), 2017; draft-cardwell-iccrg-bbr-congestion-control-00), and BBR': the same
// with conditions on a signal at the ends of its phases ("No Signal to Rule Them All", section 7 and Table 4).
//
// With the signal "none" it is BBR and behaves as ns3::TcpBbr does, but for a restart from idle: senders here always
// have data.
#pragma once

#include <cstdint>
#include <string>

#include "cca/ack_aggregation.hpp"
#include "cca/signal_control.hpp"
#include "cca/windowed_max.hpp"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-rate-ops.h"

namespace lcca_ns3 {

class Bbr : public ns3::TcpCongestionOps, public SignalControl {
 public:
  enum class Signal { none, link, queue, rtt };

  static ns3::TypeId GetTypeId();
  Bbr();

  void observe(const Signals& signals) override;
  void set_signal(std::string name);  // of enum Signal
  void set_stream(std::uint32_t stream) { random_->SetStream(stream); }

  // --- ns3::TcpCongestionOps
  std::string GetName() const override { return "bbr-prime"; }
  void Init(ns3::Ptr<ns3::TcpSocketState> tcb) override;
  bool HasCongControl() const override { return true; }
  void CongControl(ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                   const ns3::TcpRateOps::TcpRateSample& sample) override;
  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> tcb, ns3::TcpSocketState::TcpCongState_t state) override;
  void CwndEvent(ns3::Ptr<ns3::TcpSocketState> tcb, ns3::TcpSocketState::TcpCAEvent_t event) override;
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, std::uint32_t bytes_in_flight) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<Bbr>(this); }

 private:
  using State = ns3::TcpSocketState;
  using Sample = ns3::TcpRateOps::TcpRateSample;
  enum class Mode { startup, drain, probe_bw, probe_rtt };
  static constexpr int phases_ = 8;

  void start(State& tcb);
  void pace_first(State& tcb);
  void note_round(const Sample& sample);
  void note_bandwidth(const Sample& sample);
  void note_aggregation(const State& tcb, const Sample& sample);
  void note_full_pipe(const Sample& sample);
  void note_min_rtt(const State& tcb);

  void turn_phase(const Sample& sample);
  bool phase_over(const Sample& sample) const;
  void enter_phase(int phase);
  void leave_startup_or_drain(const State& tcb);
  void enter_probe_bw();
  void probe_rtt(State& tcb);
  void leave_probe_rtt(State& tcb);

  void set_pacing(State& tcb);
  void set_window(State& tcb, const Sample& sample);
  std::uint32_t grown(std::uint32_t window, std::uint32_t acked) const;  // bytes
  void save_window(const State& tcb);
  void restore_window(State& tcb);
  std::uint32_t inflight(double gain) const;  // bytes

  // Conditions of BBR'; each holds where BBR' is off.
  double seen() const;
  bool high_may_end() const { return signal_ == Signal::none || seen() >= high_; }
  bool low_may_end() const { return signal_ == Signal::none || seen() <= low_; }
  bool startup_must_end() const { return signal_ != Signal::none && seen() >= startup_exit_; }
  bool drain_may_end() const { return signal_ == Signal::none || seen() <= drain_exit_; }
  bool wants_probe_rtt() const;

  // --- attributes
  double high_gain_ = 0;
  std::uint32_t bandwidth_window_ = 0;                // rounds
  std::uint32_t extra_window_ = 0, extra_reset_ = 0;  // rounds, bytes
  ns3::Time rtt_window_, probe_rtt_duration_;
  Signal signal_ = Signal::none;
  double high_ = 0, low_ = 0, startup_exit_ = 0, drain_exit_ = 0, probe_rtt_above_ = 0;
  bool probe_rtt_by_signal_ = false;

  // --- model of the path
  WindowedMax bandwidth_;  // bits/s
  AckAggregation aggregation_;
  ns3::Time min_rtt_, min_rtt_at_;
  bool min_rtt_expired_ = false;
  Signals signals_;
  double least_rtt_ = 0;  // µs, of this flow

  // --- rounds
  std::uint64_t delivered_ = 0, round_end_ = 0;  // bytes
  std::uint64_t limited_until_ = 0;              // bytes: rates of packets sent before were limited by PROBE_RTT
  std::uint32_t round_ = 0;
  bool round_begins_ = false;

  // --- state
  Mode mode_ = Mode::startup;
  double pacing_gain_ = 0, window_gain_ = 0;
  int phase_ = 0;
  ns3::Time phase_at_;
  double full_bandwidth_ = 0;
  int rounds_without_growth_ = 0;
  bool filled_ = false;
  ns3::Time probe_rtt_ends_;
  bool probe_rtt_round_done_ = false;
  bool conserve_packets_ = false;
  bool paced_by_rtt_ = false;  // whether an RTT was known when the first pacing rate was set
  std::uint32_t saved_window_ = 0, segment_ = 0, initial_window_ = 0;  // bytes
  ns3::Ptr<ns3::UniformRandomVariable> random_;
};

}  // namespace lcca_ns3
