// SPDX-License-Identifier: GPL-2.0-only
// Bytes put on a link during the last collection interval, in ten buckets of absolute time: the engine's link signal,
// by bytes because packets on this wire differ in size.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace lcca_ns3 {

class ByteMeter {
 public:
  ByteMeter(double interval_us, double bytes_per_us) : per_us_(buckets_ / interval_us), rate_(bytes_per_us) {}

  // Counts `bytes` that start to be sent at `now` µs (non-decreasing); returns the utilisation in [0, 1], these
  // included.
  double count(double now, std::uint32_t bytes) {
    const auto bucket = static_cast<std::int64_t>(now * per_us_);
    if (bucket != newest_) enter(bucket);
    counts_[slot_] += bytes;
    total_ += bytes;
    const double most = std::max((now - begin_) * rate_, static_cast<double>(bytes));
    return std::min(1.0, static_cast<double>(total_) / most);
  }

 private:
  static constexpr std::int64_t buckets_ = 10;

  void enter(std::int64_t bucket) {
    const std::int64_t skipped = std::min(bucket - newest_, buckets_);
    for (std::int64_t i = 0; i < skipped; ++i) {
      slot_ = slot_ + 1 == buckets_ ? 0 : slot_ + 1;
      total_ -= counts_[slot_];
      counts_[slot_] = 0;
    }
    newest_ = bucket;
    begin_ = static_cast<double>(std::max<std::int64_t>(bucket - (buckets_ - 1), 0)) / per_us_;
  }

  double per_us_;
  double rate_;
  std::array<std::uint64_t, buckets_> counts_{};
  std::uint64_t total_ = 0;
  std::size_t slot_ = 0;
  std::int64_t newest_ = 0;
  double begin_ = 0;
};

}  // namespace lcca_ns3
