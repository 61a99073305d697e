// Packets that started service during the last collection interval, in ten buckets of absolute time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "remy_plus/core/network.hpp"

namespace remy_plus {

// `unit` is the weight of a packet of size 1; smaller packets weigh less.
template <class Weight, Weight unit>
class BasicLinkMeter {
 public:
  BasicLinkMeter(const Model& model, double link_rate)
      : buckets_per_us_(buckets_ / model.link_interval),
        interval_(model.link_interval),
        link_rate_(link_rate),
        fixed_window_(model.rplus_link_window) {}

  // Counts a packet that starts service at `now` (non-decreasing) and returns the utilisation in [0, 1], this packet
  // included. The window is the running bucket and the nine before it. R+'s variant divides by the whole interval and
  // may pass 1 slightly.
  double count(double now, Weight weight = unit) {
    add(now, weight);
    if (fixed_window_) return total() / interval_ / link_rate_;
    return std::min(1.0, total() / std::max((now - begin_) * link_rate_, 1.0));
  }

  // Counts it only.
  void add(double now, Weight weight) {
    const auto bucket = static_cast<std::int64_t>(now * buckets_per_us_);
    if (bucket != newest_) enter(bucket);
    counts_[slot_] += weight;
    total_ += weight;
  }

 private:
  static constexpr std::int64_t buckets_ = 10;

  double total() const { return static_cast<double>(static_cast<std::int64_t>(total_)) / static_cast<double>(unit); }

  void enter(std::int64_t bucket) {
    const std::int64_t skipped = std::min(bucket - newest_, buckets_);
    for (std::int64_t i = 0; i < skipped; ++i) {
      slot_ = slot_ + 1 == buckets_ ? 0 : slot_ + 1;
      total_ -= counts_[slot_];
      counts_[slot_] = 0;
    }
    newest_ = bucket;
    begin_ = static_cast<double>(std::max<std::int64_t>(bucket - (buckets_ - 1), 0)) / buckets_per_us_;
  }

  double buckets_per_us_;
  double interval_;
  double link_rate_;
  bool fixed_window_;
  std::array<Weight, buckets_> counts_{};
  Weight total_ = 0;
  std::int64_t slot_ = 0;
  std::int64_t newest_ = 0;
  double begin_ = 0;  // µs, the window's first instant; the window covers 9 to 10 buckets, less early in a simulation
};

using LinkMeter = BasicLinkMeter<std::uint32_t, 1>;

}  // namespace remy_plus
