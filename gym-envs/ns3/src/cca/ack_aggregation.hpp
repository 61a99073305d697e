// SPDX-License-Identifier: GPL-2.0-only
// How many bytes more than the bandwidth explains are acknowledged at once: BBR adds them to its window. As ns3::TcpBbr
// has it, elapsed time counts in whole seconds only, so that without aggregation too it comes near the threshold.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace lcca_ns3 {

class AckAggregation {
 public:
  AckAggregation() = default;
  AckAggregation(std::uint32_t rounds, std::uint32_t threshold, double now)
      : rounds_(rounds), threshold_(threshold), since_(now) {}

  // bandwidth in bits/s, now in s, acked and window in bytes.
  void count(std::uint32_t acked, bool round_begins, double bandwidth, double now, std::uint32_t window) {
    if (round_begins && ++age_ >= rounds_) {
      age_ = 0;
      most_ = {0, most_[0]};
    }
    double expected = bandwidth / 8 * std::floor(now - since_);
    if (acked_ <= expected || acked_ + acked >= threshold_) {
      acked_ = 0;
      since_ = now;
      expected = 0;
    }
    acked_ += acked;
    most_[0] = std::max(most_[0], std::min<double>(acked_ - expected, window));
  }

  // At most what the bandwidth brings in 0.1 s.
  double extra(double bandwidth) const { return std::min(std::max(most_[0], most_[1]), bandwidth / 80); }

 private:
  std::uint32_t rounds_ = 0, age_ = 0;
  std::uint32_t threshold_ = 0;
  double since_ = 0, acked_ = 0;
  std::array<double, 2> most_{};  // of the rounds now, and of those before
};

}  // namespace lcca_ns3
