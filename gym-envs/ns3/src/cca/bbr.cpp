// SPDX-License-Identifier: GPL-2.0-only
#include "cca/bbr.hpp"

#include <algorithm>
#include <array>

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace lcca_ns3 {

using ns3::Ptr;
using ns3::Simulator;
using ns3::Time;

namespace {

constexpr double margin = 0.99;            // paces this much below the estimate, as Linux and ns-3 do
constexpr double probe_bw_window = 2;      // window in PROBE_BW, in BDP
constexpr double growth = 1.25;            // of bandwidth in a round: less, and the pipe counts as full …
constexpr int rounds_to_fill = 3;          // … after so many rounds
constexpr std::uint32_t least_window = 4;  // segments
constexpr std::uint32_t allowance = 3;     // segments in flight beyond the BDP: one each at sender, offload, receiver
constexpr double never = 1e300;
constexpr std::array<double, 8> cycle = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
constexpr int low_phase = 1;

}  // namespace

NS_OBJECT_ENSURE_REGISTERED(Bbr);

ns3::TypeId Bbr::GetTypeId() {
  using namespace ns3;
  const auto number = [](TypeId type, const std::string& name, double value, double Bbr::* member, const char* help) {
    return type.AddAttribute(name, help, DoubleValue(value), MakeDoubleAccessor(member), MakeDoubleChecker<double>());
  };
  const auto time = [](TypeId type, const std::string& name, const Time& value, Time Bbr::* member, const char* help) {
    return type.AddAttribute(name, help, TimeValue(value), MakeTimeAccessor(member), MakeTimeChecker());
  };
  static const TypeId id = [&] {
    TypeId type("lcca_ns3::Bbr");
    type.SetParent<TcpCongestionOps>().AddConstructor<Bbr>();
    number(type, "HighGain", 2.89, &Bbr::high_gain_, "Gain in STARTUP; its inverse in DRAIN");
    time(type, "RttWindowLength", Seconds(10), &Bbr::rtt_window_, "How long a minimum RTT is believed");
    time(type, "ProbeRttDuration", MilliSeconds(200), &Bbr::probe_rtt_duration_, "Shortest stay in PROBE_RTT");
    number(type, "High", 10, &Bbr::high_, "The high-rate phase ends from this signal on");
    number(type, "Low", 0, &Bbr::low_, "The low-rate phase ends from this signal down");
    number(type, "StartupExit", never, &Bbr::startup_exit_, "STARTUP ends from this signal on");
    number(type, "DrainExit", never, &Bbr::drain_exit_, "DRAIN ends from this signal down");
    number(type, "ProbeRttAbove", -1, &Bbr::probe_rtt_above_, "PROBE_RTT begins above this signal");
    return type
        .AddAttribute("BwWindowLength", "Rounds that a bandwidth is believed", UintegerValue(10),
                      MakeUintegerAccessor(&Bbr::bandwidth_window_), MakeUintegerChecker<std::uint32_t>())
        .AddAttribute("ExtraAckedRttWindowLength", "Rounds that extra acknowledged bytes are believed",
                      UintegerValue(5), MakeUintegerAccessor(&Bbr::extra_window_), MakeUintegerChecker<std::uint32_t>())
        .AddAttribute("AckEpochAckedResetThresh", "Bytes after which counting extra acknowledged ones begins anew",
                      UintegerValue(1 << 12), MakeUintegerAccessor(&Bbr::extra_reset_),
                      MakeUintegerChecker<std::uint32_t>())
        .AddAttribute("Stream", "Of random numbers, for the first phase", UintegerValue(4),
                      MakeUintegerAccessor(&Bbr::set_stream), MakeUintegerChecker<std::uint32_t>())
        .AddAttribute("Signal", "What the conditions look at: none, link, queue or rtt", StringValue("none"),
                      MakeStringAccessor(&Bbr::set_signal), MakeStringChecker())
        .AddAttribute("ProbeRttBySignal", "PROBE_RTT begins by the signal alone", BooleanValue(false),
                      MakeBooleanAccessor(&Bbr::probe_rtt_by_signal_), MakeBooleanChecker());
  }();
  return id;
}

Bbr::Bbr() : random_(ns3::CreateObject<ns3::UniformRandomVariable>()) {}

void Bbr::set_signal(std::string name) {
  constexpr std::array names = {"none", "link", "queue", "rtt"};
  const auto found = std::find(names.begin(), names.end(), name);
  NS_ABORT_MSG_IF(found == names.end(), "no signal " << name);
  signal_ = static_cast<Signal>(found - names.begin());
}

void Bbr::Init(Ptr<State> tcb) { tcb->m_pacing = true; }

void Bbr::observe(const Signals& signals) {
  signals_ = signals;
  least_rtt_ = least_rtt_ > 0 ? std::min(least_rtt_, signals.rtt) : signals.rtt;
}

void Bbr::CongControl(Ptr<State> tcb, const ns3::TcpRateOps::TcpRateConnection& connection, const Sample& sample) {
  delivered_ = connection.m_delivered;
  note_round(sample);
  note_bandwidth(sample);
  note_aggregation(*tcb, sample);
  turn_phase(sample);
  note_full_pipe(sample);
  leave_startup_or_drain(*tcb);
  note_min_rtt(*tcb);
  probe_rtt(*tcb);
  set_pacing(*tcb);
  set_window(*tcb, sample);
}

// --- the flow's beginning

void Bbr::start(State& tcb) {
  segment_ = tcb.m_segmentSize;
  initial_window_ = saved_window_ = tcb.m_cWnd;
  bandwidth_ = WindowedMax(bandwidth_window_);
  aggregation_ = AckAggregation(extra_window_, extra_reset_, Simulator::Now().GetSeconds());
  min_rtt_ = tcb.m_lastRtt.Get().IsStrictlyPositive() ? tcb.m_lastRtt.Get() : Time::Max();
  min_rtt_at_ = Simulator::Now();
  mode_ = Mode::startup;
  pacing_gain_ = window_gain_ = high_gain_;
  pace_first(tcb);
}

void Bbr::pace_first(State& tcb) {
  paced_by_rtt_ = tcb.m_minRtt != Time::Max();
  const double seconds = paced_by_rtt_ ? tcb.m_minRtt.GetSeconds() : 0.001;
  tcb.m_pacingRate = ns3::DataRate(static_cast<std::uint64_t>(pacing_gain_ * 8 * tcb.m_cWnd / seconds));
}

// --- the model

void Bbr::note_round(const Sample& sample) {
  round_begins_ = sample.m_delivered >= 0 && !sample.m_interval.IsZero() && sample.m_priorDelivered >= round_end_;
  if (!round_begins_) return;
  round_end_ = delivered_;
  ++round_;
  conserve_packets_ = false;
}

void Bbr::note_bandwidth(const Sample& sample) {
  if (sample.m_delivered < 0 || sample.m_interval.IsZero()) return;
  const auto rate = static_cast<double>(sample.m_deliveryRate.GetBitRate());
  const bool limited = sample.m_isAppLimited || sample.m_priorDelivered < limited_until_;
  if (rate >= bandwidth_.best() || !limited) bandwidth_.put(rate, round_);
}

void Bbr::note_aggregation(const State& tcb, const Sample& sample) {
  if (sample.m_ackedSacked == 0 || sample.m_delivered < 0) return;
  aggregation_.count(sample.m_ackedSacked, round_begins_, bandwidth_.best(), Simulator::Now().GetSeconds(), tcb.m_cWnd);
}

void Bbr::note_full_pipe(const Sample& sample) {
  if (filled_) return;
  if (startup_must_end()) filled_ = true;
  if (!round_begins_ || sample.m_isAppLimited) return;
  if (bandwidth_.best() >= growth * full_bandwidth_) {
    full_bandwidth_ = bandwidth_.best();
    rounds_without_growth_ = 0;
  } else if (++rounds_without_growth_ >= rounds_to_fill) {
    filled_ = true;
  }
}

void Bbr::note_min_rtt(const State& tcb) {
  const Time rtt = tcb.m_lastRtt;
  min_rtt_expired_ = Simulator::Now() > min_rtt_at_ + rtt_window_;
  if (!rtt.IsStrictlyPositive() || (rtt > min_rtt_ && !min_rtt_expired_)) return;
  min_rtt_ = rtt;
  min_rtt_at_ = Simulator::Now();
}

std::uint32_t Bbr::inflight(double gain) const {
  if (min_rtt_ == Time::Max()) return initial_window_;
  const double bdp = bandwidth_.best() * min_rtt_.GetSeconds() / 8;
  const bool probing = mode_ == Mode::probe_bw && phase_ == 0;
  const std::uint32_t spare = allowance + (probing ? 2 : 0);
  return static_cast<std::uint32_t>(std::min(gain * bdp + spare * segment_, 2e9));
}

// --- the states

void Bbr::turn_phase(const Sample& sample) {
  if (mode_ == Mode::probe_bw && phase_over(sample)) enter_phase((phase_ + 1) % static_cast<int>(cycle.size()));
}

// Losses end the high-rate phase whatever the signal says: a buffer smaller than the threshold would hold it for ever.
bool Bbr::phase_over(const Sample& sample) const {
  const bool elapsed = Simulator::Now() - phase_at_ > min_rtt_;
  if (pacing_gain_ > 1) {
    const bool full = sample.m_priorInFlight >= inflight(pacing_gain_);
    return elapsed && (sample.m_bytesLoss > 0 || (full && high_may_end()));
  }
  if (pacing_gain_ < 1) return (elapsed || sample.m_priorInFlight <= inflight(1)) && low_may_end();
  return elapsed;
}

void Bbr::enter_phase(int phase) {
  phase_ = phase;
  phase_at_ = Simulator::Now();
  pacing_gain_ = cycle[static_cast<std::size_t>(phase)];
}

void Bbr::leave_startup_or_drain(const State& tcb) {
  if (mode_ == Mode::startup && filled_) {
    mode_ = Mode::drain;
    pacing_gain_ = 1 / high_gain_;
  }
  if (mode_ == Mode::drain && tcb.m_bytesInFlight <= inflight(1) && drain_may_end()) enter_probe_bw();
}

void Bbr::enter_probe_bw() {
  mode_ = Mode::probe_bw;
  window_gain_ = probe_bw_window;
  const auto drawn = static_cast<int>(random_->GetInteger(0, cycle.size() - 2));
  enter_phase(drawn < low_phase ? drawn : drawn + 1);  // any but the low-rate phase
}

bool Bbr::wants_probe_rtt() const {
  if (signal_ == Signal::none) return min_rtt_expired_;
  const bool above = seen() > probe_rtt_above_;
  if (probe_rtt_by_signal_) return min_rtt_expired_ || (mode_ == Mode::probe_bw && above);
  return min_rtt_expired_ && above;
}

void Bbr::probe_rtt(State& tcb) {
  if (mode_ != Mode::probe_rtt && wants_probe_rtt()) {
    save_window(tcb);
    mode_ = Mode::probe_rtt;
    pacing_gain_ = window_gain_ = 1;
    probe_rtt_ends_ = Time();
  }
  if (mode_ != Mode::probe_rtt) return;
  limited_until_ = delivered_ + tcb.m_bytesInFlight;
  if (probe_rtt_ends_.IsZero()) {
    if (tcb.m_bytesInFlight > least_window * segment_) return;
    probe_rtt_ends_ = Simulator::Now() + probe_rtt_duration_;
    probe_rtt_round_done_ = false;
    round_end_ = delivered_;
    return;
  }
  probe_rtt_round_done_ |= round_begins_;
  if (probe_rtt_round_done_ && Simulator::Now() > probe_rtt_ends_) leave_probe_rtt(tcb);
}

void Bbr::leave_probe_rtt(State& tcb) {
  min_rtt_at_ = Simulator::Now();
  restore_window(tcb);
  if (filled_) return enter_probe_bw();
  mode_ = Mode::startup;
  pacing_gain_ = window_gain_ = high_gain_;
}

double Bbr::seen() const {
  switch (signal_) {
    case Signal::link:
      return signals_.link;
    case Signal::queue:
      return signals_.queue;
    case Signal::rtt:
      return least_rtt_ > 0 ? signals_.rtt / least_rtt_ : 1;
    default:
      return 0;
  }
}

// --- what is controlled

void Bbr::set_pacing(State& tcb) {
  if (!paced_by_rtt_ && tcb.m_minRtt != Time::Max()) pace_first(tcb);
  const double bits = margin * pacing_gain_ * bandwidth_.best();
  const ns3::DataRate rate = std::min(ns3::DataRate(static_cast<std::uint64_t>(bits)), tcb.m_maxPacingRate);
  if (filled_ || rate > tcb.m_pacingRate.Get()) tcb.m_pacingRate = rate;
}

void Bbr::set_window(State& tcb, const Sample& sample) {
  const std::uint32_t least = least_window * segment_, acked = sample.m_ackedSacked;
  const bool recovers = tcb.m_congState == State::CA_RECOVERY;
  std::uint32_t window = tcb.m_cWnd;
  if (acked > 0 && recovers && sample.m_bytesLoss > 0)
    window = std::max(window - std::min(window, sample.m_bytesLoss), segment_);
  if (acked > 0 && recovers && conserve_packets_)
    window = std::max(window, tcb.m_bytesInFlight.Get() + acked);
  else if (acked > 0)
    window = std::max(grown(window, acked), least);
  tcb.m_cWnd = mode_ == Mode::probe_rtt ? std::min(window, least) : window;
}

std::uint32_t Bbr::grown(std::uint32_t window, std::uint32_t acked) const {
  const std::uint32_t target = inflight(window_gain_);
  if (filled_)
    return std::min(window + acked, target + static_cast<std::uint32_t>(aggregation_.extra(bandwidth_.best())));
  return window < target || delivered_ < initial_window_ ? window + acked : window;
}

void Bbr::save_window(const State& tcb) {
  const bool cut = tcb.m_congState == State::CA_RECOVERY || mode_ == Mode::probe_rtt;
  saved_window_ = cut ? std::max(saved_window_, tcb.m_cWnd.Get()) : tcb.m_cWnd.Get();
}

void Bbr::restore_window(State& tcb) { tcb.m_cWnd = std::max(saved_window_, tcb.m_cWnd.Get()); }

// --- what TCP reports

void Bbr::CongestionStateSet(Ptr<State> tcb, State::TcpCongState_t state) {
  if (state == State::CA_OPEN && segment_ == 0) {
    start(*tcb);
  } else if (state == State::CA_LOSS) {
    save_window(*tcb);
  } else if (state == State::CA_RECOVERY) {
    save_window(*tcb);
    tcb->m_cWnd = tcb->m_bytesInFlight.Get() + std::max(tcb->m_lastAckedSackedBytes, segment_);
    conserve_packets_ = true;
  }
}

void Bbr::CwndEvent(Ptr<State> tcb, State::TcpCAEvent_t event) {
  if (event != State::CA_EVENT_COMPLETE_CWR) return;
  conserve_packets_ = false;
  restore_window(*tcb);
}

// TCP sets the window to this when it leaves recovery.
std::uint32_t Bbr::GetSsThresh(Ptr<const State> tcb, std::uint32_t) {
  save_window(*tcb);
  return saved_window_;
}

}  // namespace lcca_ns3
