// SPDX-License-Identifier: GPL-2.0-only
// The largest of the values that were put in during the last `length` rounds.
#pragma once

#include <cstdint>
#include <deque>

namespace lcca_ns3 {

class WindowedMax {
 public:
  explicit WindowedMax(std::uint32_t length = 1) : length_(length) {}

  double best() const { return values_.empty() ? 0 : values_.front().value; }

  void put(double value, std::uint32_t round) {
    while (!values_.empty() && values_.back().value <= value) values_.pop_back();
    values_.push_back({value, round});
    while (round - values_.front().round > length_) values_.pop_front();
  }

 private:
  struct Entry {
    double value;
    std::uint32_t round;
  };
  std::uint32_t length_;
  std::deque<Entry> values_;  // falling values, rising rounds
};

}  // namespace lcca_ns3
