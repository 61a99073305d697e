#include "remy_plus/envs/reward.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "remy_plus/core/random.hpp"
#include "remy_plus/policies/neural_net.hpp"

namespace remy_plus {
namespace {

double log2_of(double x) { return portable_log(x) / 0.693147180559945309417; }

double mean_delay(const Ideal& ideal, const Interval& interval) {
  if (interval.packets == 0) return std::max(ideal.delay, interval.time);
  return interval.delay_sum / static_cast<double>(interval.packets);
}

double aurora(const Reward& reward, const Ideal& ideal, const Interval& interval) {
  const auto packets = static_cast<double>(interval.packets);
  const auto missing = static_cast<double>(interval.missing);
  const double throughput = packets / interval.time * reward.aurora_second;
  const double latency = mean_delay(ideal, interval) / reward.aurora_second;
  const double loss = missing > 0 ? missing / (packets + missing) : 0;
  return reward.aurora_scale *
         (reward.aurora_throughput * throughput - reward.aurora_latency * latency - reward.aurora_loss * loss);
}

// Raising a mean of T / D^k raises log T − k log D, and chance does not lower it: the logarithm of a few packets does.
double power(const Reward& reward, const Ideal& ideal, const Interval& interval) {
  const double throughput = static_cast<double>(interval.packets) / interval.share / ideal.link_rate;
  const double exponent = reward.delay_weight / reward.throughput_weight;
  const double halvings = exponent * log2_of(mean_delay(ideal, interval) / ideal.delay);
  return throughput * portable_exp2(static_cast<float>(-std::min(halvings, 60.0)));
}

// The utility's tangent at the best (T = link rate, D = base delay), in nats and without its constant: a sum over
// packets, so that it does not matter where intervals begin and end.
double linear(const Reward& reward, const Ideal& ideal, const Interval& interval) {
  const double packets = static_cast<double>(interval.packets), waited = interval.delay_sum / ideal.delay;
  return ((reward.throughput_weight + reward.delay_weight) * packets - reward.delay_weight * waited) / interval.share /
         ideal.link_rate;
}

double orca(const Reward& reward, const Ideal& ideal, const Interval& interval) {
  const double good = static_cast<double>(interval.packets) - reward.orca_loss * static_cast<double>(interval.missing);
  const double metric = std::min(1.0, reward.orca_slack * ideal.delay / mean_delay(ideal, interval));
  return good / interval.share / ideal.link_rate * metric;
}

}  // namespace

void Reward::check() const {
  for (const double weight : {throughput_weight, delay_weight, interval, aurora_throughput, aurora_latency, aurora_loss,
                              aurora_scale, orca_loss, orca_slack})
    if (!(weight >= 0) || !std::isfinite(weight)) throw std::invalid_argument("weights of a reward must be >= 0");
  if (kind == RewardKind::power && !(throughput_weight > 0))
    throw std::invalid_argument("power needs a throughput_weight > 0");
  if (!(aurora_second > 0)) throw std::invalid_argument("aurora_second must be > 0 µs");
}

double utility(const Reward& reward, const Ideal& ideal, const Interval& interval) {
  const double packets = std::max(static_cast<double>(interval.packets), 1.0);
  const double throughput = packets / interval.share / ideal.link_rate;
  return reward.throughput_weight * log2_of(throughput) -
         reward.delay_weight * log2_of(mean_delay(ideal, interval) / ideal.delay);
}

double interval_reward(const Reward& reward, const Ideal& ideal, const Interval& interval) {
  if (!(interval.time > 0) || !(interval.share > 0)) return 0;
  switch (reward.kind) {
    case RewardKind::utility:
      return std::max(utility(reward, ideal, interval), reward.floor) *
             std::min(interval.time / ideal.delay, reward.longest);
    case RewardKind::power:
      return power(reward, ideal, interval) * std::min(interval.time / ideal.delay, reward.longest);
    case RewardKind::aurora:
      return aurora(reward, ideal, interval);
    case RewardKind::orca:
      return orca(reward, ideal, interval);
    case RewardKind::linear:
      return linear(reward, ideal, interval) * interval.time / ideal.delay;
    case RewardKind::gain:
      break;
  }
  return 0;
}

}  // namespace remy_plus
