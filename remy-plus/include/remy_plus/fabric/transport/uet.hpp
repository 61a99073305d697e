// Transports of selective hosts that send by a window in bytes on the wire, by credit of the receiver, or by both: NSCC
// and RCCC of Ultra Ethernet 1.0 (facts of uet-htsim @40ccb05), EQDS (Olteanu et al., NSDI 2022) and NDP (Handley et
// al., SIGCOMM 2017), whose receivers pull a packet for each one that arrives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"
#include "remy_plus/fabric/transport/path_choice.hpp"

namespace remy_plus::fabric {

// Of receivers that grant; as they are, RCCC's.
struct GrantParameters : Parameters {
  using Parameters::Parameters;

  double quantum_bytes = read("quantum_bytes", 256.0);  // of credit
  int grant_quanta = read("grant_quanta", 64);          // at most in a grant
  double credit_rate = read("credit_rate", 0.99);       // of the receiver's link
  // Senders that wait for credit with nothing under way ask for it again, and receivers forget flows that have ended;
  // else, as in uet-htsim, requests ask for what the last packet did.
  bool asks = read("asks", true);
  bool pulls = read("pulls", false);  // NDP: one packet for each that arrives
};

struct UetParameters : GrantParameters {
  using GrantParameters::GrantParameters;

  // NSCC. Of the network: its base RTT, BDP and, for gains, the BDP over 150,000 bytes.
  bool window = read("window", true);
  double first_bdps = read("first_bdps", 1.5);  // first window, first credit, most credit
  double most_bdps = read("most_bdps", 1.5);    // largest window, of the flow's own base RTT
  double target_rtts =
      read("target_rtts", 0.0);  // queueing delay aimed at, network RTTs; 0: 0.75 with trimming, 1 without
  double proportional = read("proportional", 4.0);  // packets that a window of bytes acknowledged without queueing adds
  double fair = read("fair", 5.0);                  // packets that a window adds above the target without a mark
  double steady = read("steady", 0.15);             // packets more per RTT
  double fast = read("fast", 0.25);       // bytes that a byte acknowledged without queueing adds after a window of them
  double fast_us = read("fast_us", 1.0);  // queueing delay that counts as none
  double gamma = read("gamma", 0.8);      // multiplicative decrease
  double most_decrease = read("most_decrease", 0.5);    // of a window
  double weight = read("weight", 0.0125);               // of a sample in the mean delay
  double adjust_packets = read("adjust_packets", 8.0);  // acknowledged between changes
  double quick_rtts = read("quick_rtts", 4.0);          // targets: queueing delay that calls for a quick cut
  double quick_share = read("quick_share", 0.125);  // of the largest window: cut if less was acknowledged in a round

  bool credit = read("credit", false);  // of the receiver

  // Losses.
  double timeout_us = read("timeout_us", 15.0);         // since a packet was sent, and
  double timeout_drains = read("timeout_drains", 6.0);  // times that its queue takes to empty
};

// What an ACK tells such a transport.
struct WireAck {
  Time now;
  std::int64_t bytes;      // newly arrived, on the wire
  std::int64_t under_way;  // after it
  bool marked;
  Time rtt;  // of the packet that it answers; below 0: not known
};

class Uet final : public Transport {
 public:
  Uet(const Frame& frame, const UetParameters& parameters) : Transport(frame), p_(parameters) {}

  Hosts hosts() const override { return Hosts::selective; }
  // Its senders remember when they sent what: a header is all that packets have beyond their frames.
  Telemetry telemetry() const override { return header() ? Telemetry::header : Telemetry::none; }
  const Stamping* header() const override { return choice_ ? choice_->header.get() : nullptr; }
  int sent_overhead() const override { return 0; }
  void choose_by(std::shared_ptr<const PathChoice> choice) override { choice_ = std::move(choice); }
  const PathChoice* choice() const override { return choice_.get(); }
  void reserve(std::size_t flows) override { states_.resize(flows); }
  const UetParameters& parameters() const { return p_; }
  // Null: its receivers grant nothing.
  const GrantParameters* grants() const { return p_.credit || p_.pulls ? &p_ : nullptr; }

  void start(std::uint32_t number, Flow& flow) override {
    State& state = states_[number];
    state.base = frame_.base_rtt;
    state.window = first_bytes(flow);
    state.most = most_window(flow, state.base);
  }
  void go_on(std::uint32_t number, Flow& flow, std::uint32_t before) override {
    start(number, flow);
    State& state = states_[number];
    const State& last = states_[before];
    state.base = last.base;
    state.most = last.most;
    state.mean = last.mean;
    state.window = last.window;
  }
  void on_ack(std::uint32_t, Flow&, const Ack&) override {}

  std::int64_t window(std::uint32_t number) const { return states_[number].window; }
  std::int64_t most(std::uint32_t number) const { return states_[number].most; }
  Time mean_delay(std::uint32_t number) const { return states_[number].mean; }
  Time base_rtt(std::uint32_t number) const { return states_[number].base; }

  // Bytes on the wire at the start: of the window and of credit, which never has more. A packet may always go.
  std::int64_t first_bytes(const Flow& flow) const {
    return std::max<std::int64_t>(static_cast<std::int64_t>(p_.first_bdps * bdp(flow, frame_.base_rtt)),
                                  frame_.frame_bytes);
  }
  Time timeout(const Flow& flow) const override {
    const double packets = std::ceil(bdp(flow, frame_.base_rtt) / frame_.frame_bytes);
    const double queue = (frame_.queue_bdps > 0 ? frame_.queue_bdps : 5) * packets * frame_.frame_bytes;  // bytes
    return static_cast<Time>(p_.timeout_us * microsecond + p_.timeout_drains * queue * 8000 / flow.line_gbps);
  }

  void on_wire_ack(std::uint32_t number, const Flow& flow, const WireAck& ack) {
    State& state = states_[number];
    state.achieved += ack.bytes;
    state.received += ack.bytes;
    state.ignored += ack.bytes;
    const Time target = target_delay();
    Time delay = state.mean;
    if (ack.rtt >= 0) {
      lower_base(state, flow, ack.rtt);
      delay = ack.rtt - state.base;
      average(state, !ack.marked && delay > target ? state.base / 4 : delay);
    }
    if (!p_.window || cut_quickly(state, ack.marked, delay, ack.under_way, ack.now)) return;
    if (ack.marked) {
      if (delay >= target) decrease(state, ack.now);
    } else if (delay >= target) {
      state.increase += p_.fair * gain(flow) * static_cast<double>(ack.bytes);
    } else if (!increase_fast(state, flow, ack.bytes, delay)) {
      state.increase += p_.proportional * gain(flow) * static_cast<double>(ack.bytes) *
                        static_cast<double>(target - delay) / static_cast<double>(reference_rtt);
    }
    clamp(state);
    if (static_cast<double>(state.received) > p_.adjust_packets * frame_.frame_bytes ||
        ack.now - state.adjusted > frame_.base_rtt)
      adjust(state, flow, ack.now);
    clamp(state);
  }

  // A packet of so many bytes was trimmed.
  void on_trim(std::uint32_t number, const Flow& flow, std::int64_t bytes, Time since, bool at_last_hop,
               std::int64_t under_way, Time now) {
    State& state = states_[number];
    lower_base(state, flow, since);
    state.ignored += bytes;
    average(state, frame_.base_rtt);
    state.trimmed = true;
    if (!p_.window || cut_quickly(state, true, state.mean, under_way, now)) return;
    if (p_.credit && at_last_hop) return;
    state.window -= bytes;
    clamp(state);
  }

  void on_timeout(std::uint32_t number, std::int64_t bytes) {
    State& state = states_[number];
    state.window = std::max<std::int64_t>(state.window - bytes, frame_.frame_bytes);
  }

  Time target_delay() const {
    const double rtts = p_.target_rtts > 0 ? p_.target_rtts : frame_.trims ? 0.75 : 1.0;
    return static_cast<Time>(rtts * static_cast<double>(frame_.base_rtt));
  }

 private:
  static constexpr double reference_bdp = 150'000;  // bytes: 100 Gb/s, 12 µs
  static constexpr Time reference_rtt = 12 * microsecond;

  struct alignas(64) State {
    std::int64_t window = 0, most = 0;        // bytes on the wire
    double increase = 0;                      // of the window, times the window
    std::int64_t received = 0, achieved = 0;  // since the last change; since the last round
    std::int64_t ignored = 0, to_ignore = 0, without_queueing = 0;
    Time round_end = 0, base = 0, mean = 0, decreased = 0, adjusted = 0;
    bool trimmed = false, fast = false;
  };

  static double bdp(const Flow& flow, Time rtt) { return static_cast<double>(rtt) * flow.line_gbps / 8000; }
  std::int64_t most_window(const Flow& flow, Time rtt) const {
    return static_cast<std::int64_t>(p_.most_bdps * bdp(flow, rtt));
  }
  double gain(const Flow& flow) const { return frame_.payload * bdp(flow, frame_.base_rtt) / reference_bdp; }

  void clamp(State& state) const {
    state.window = std::clamp<std::int64_t>(state.window, frame_.frame_bytes,
                                            std::max<std::int64_t>(state.most, frame_.frame_bytes));
  }

  void lower_base(State& state, const Flow& flow, Time rtt) const {
    if (rtt >= state.base) return;
    state.base = rtt;
    state.most = most_window(flow, rtt);
  }

  void average(State& state, Time sample) const {
    state.mean =
        static_cast<Time>(p_.weight * static_cast<double>(sample) + (1 - p_.weight) * static_cast<double>(state.mean));
  }

  // Whether it was, or what the ACK says is of before it.
  bool cut_quickly(State& state, bool marked, Time delay, std::int64_t under_way, Time now) const {
    if (marked && state.ignored < state.to_ignore) {
      state.increase = 0;
      state.received = 0;
      return true;
    }
    if (now <= state.round_end) return false;
    bool cut = false;
    const bool late = static_cast<double>(delay) > p_.quick_rtts * static_cast<double>(target_delay());
    if (state.round_end != 0 && (state.trimmed || late) &&
        static_cast<double>(state.achieved) < p_.quick_share * static_cast<double>(state.most)) {
      cut = true;
      state.window = std::max<std::int64_t>(state.achieved, frame_.frame_bytes);
      state.to_ignore = under_way;
      state.ignored = 0;
      state.trimmed = false;
      state.increase = 0;
      state.received = 0;
    }
    state.achieved = 0;
    state.round_end = now + state.base + target_delay();
    return cut;
  }

  bool increase_fast(State& state, const Flow& flow, std::int64_t bytes, Time delay) const {
    if (static_cast<double>(delay) >= p_.fast_us * microsecond) {
      state.without_queueing = 0;
      state.fast = false;
      return false;
    }
    state.without_queueing += bytes;
    if (state.without_queueing <= state.window && !state.fast) return false;
    state.window +=
        static_cast<std::int64_t>(p_.fast * bdp(flow, frame_.base_rtt) / reference_bdp * static_cast<double>(bytes));
    state.fast = true;
    return true;
  }

  void decrease(State& state, Time now) const {
    state.fast = false;
    state.without_queueing = 0;
    const Time target = target_delay();
    if (state.mean <= target || now - state.decreased <= state.base) return;
    const auto mean = static_cast<double>(state.mean);
    const double left = 1 - p_.gamma * (mean - static_cast<double>(target)) / mean;
    state.window = static_cast<std::int64_t>(static_cast<double>(state.window) * std::max(left, 1 - p_.most_decrease));
    state.decreased = now;
  }

  void adjust(State& state, const Flow& flow, Time now) const {
    state.window += static_cast<std::int64_t>(state.increase) / state.window;
    if (now - state.adjusted >= frame_.base_rtt) {
      state.window += static_cast<std::int64_t>(p_.steady * gain(flow));
      state.adjusted = now;
    }
    state.increase = 0;
    state.received = 0;
  }

  UetParameters p_;
  std::shared_ptr<const PathChoice> choice_;
  std::vector<State> states_;
};

}  // namespace remy_plus::fabric
