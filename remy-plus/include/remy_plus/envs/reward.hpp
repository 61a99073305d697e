// Rewards: what a step of a flow was worth. None of them needs more than a sender or its receiver can measure, but for
// the link's rate and the delay of an empty path, by which a training environment makes networks comparable.
#pragma once

#include <cstdint>

namespace remy_plus {

enum class RewardKind : std::uint8_t {
  utility,  // of the interval, bits × base delays, held within bounds
  power,    // T / link rate × (base delay / D)^(c_d / c_t) × base delays: the utility without its logarithm
  gain,     // how much the utility of the whole flow so far has risen, bits: sums to the flow's utility
  aurora,   // 10 × throughput − 1000 × latency − 2000 × loss (Jay et al., ICML 2019)
  orca,     // (throughput − 5 × loss rate) / link rate × delay metric (Abbasloo et al., SIGCOMM 2020)
  linear    // ((c_t + c_d) T − c_d ∑ delay / base delay / share) / link rate × base delays: sums over any intervals
};

struct Reward {
  RewardKind kind = RewardKind::utility;
  double throughput_weight = 1;  // c_t, bits per doubling of the throughput share
  double delay_weight = 1;       // c_d, bits per halving of the delay
  double interval = 1;           // base delays over which throughput and delay are measured, at least
  double floor = -10;            // bits; a worse utility of an interval counts as this
  double longest = 8;            // base delays; a longer interval counts as this: a flow may fall silent for good
  double aurora_second = 100;    // µs that stand for Aurora's second: 3 packets/µs look like 300 packets/s
  double aurora_throughput = 10, aurora_latency = 1000, aurora_loss = 2000, aurora_scale = 0.001;
  double orca_loss = 5, orca_slack = 1.25;

  // Throws std::invalid_argument naming what is wrong.
  void check() const;
};

// The best that a path can do: by it throughput and delay are normalised.
struct Ideal {
  double link_rate;  // packets/µs
  double delay;      // µs of a packet and its acknowledgement that meet no queue (the base delay)
};

// What a flow got over some time.
struct Interval {
  double time = 0;            // µs
  double share = 0;           // µs of fair share: ∫ dt / active senders
  std::uint64_t packets = 0;  // received, of this flow
  std::uint64_t missing = 0;  // sequence numbers that were skipped
  double delay_sum = 0;       // µs
};

// c_t log2(T / link rate) − c_d log2(D / base delay), in bits: T packets per µs of share, D the mean delay. With no
// packet at all, T is that of one packet, and D is the time for which none came.
double utility(const Reward& reward, const Ideal& ideal, const Interval& interval);

// The reward of an interval; any kind but `gain`.
double interval_reward(const Reward& reward, const Ideal& ideal, const Interval& interval);

}  // namespace remy_plus
