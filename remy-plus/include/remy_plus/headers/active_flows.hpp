// How many flows a port has met lately, known by their packets alone: in the interval that runs and in the one before.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "remy_plus/core/bitmap.hpp"

namespace remy_plus {

// Two maps that take turns every interval; a flow counts that set a bit of either.
class AgingMap {
 public:
  explicit AgingMap(std::size_t bits) : now_(bits), before_(bits) {}

  void set(std::uint64_t hash) {
    const std::size_t place = hash % now_.size();
    if (!now_.set(place) || before_[place]) return;
    ++ones_;
    settle();
  }
  // A new interval begins, the next one or a later one.
  void turn(bool next) {
    std::swap(now_, before_);
    now_.clear();
    if (!next) before_.clear();
    ones_ = before_.ones();
    settle();
  }
  double flows() const { return flows_; }

 private:
  void settle() {
    const auto bits = static_cast<double>(now_.size());
    flows_ = ones_ == 0 ? 0 : linear_count(bits, bits - static_cast<double>(ones_));
  }

  Bitmap now_, before_;
  std::size_t ones_ = 0;  // of both together
  double flows_ = 0;
};

// Cells of a few bits, one per flow by its hash: in which bucket of sizes its latest packet put it. Two arrays take
// turns every interval, with counts of their buckets; a packet takes its flow out of both before it is put into the
// first.
class AgingBuckets {
 public:
  static constexpr int cell_bits = 4;
  static constexpr unsigned count = (1u << cell_bits) - 1;  // of buckets; a cell of 0 is empty

  explicit AgingBuckets(std::size_t cells) : now_{std::vector<std::uint8_t>(cells), {}}, before_(now_) {}

  void put(std::uint64_t hash, unsigned bucket) {
    const std::size_t place = hash % now_.cells.size();
    before_.put(place, 0);
    now_.put(place, bucket);
  }
  void turn(bool next) {
    std::swap(now_, before_);
    now_ = Cells{std::vector<std::uint8_t>(now_.cells.size()), {}};
    if (!next) before_ = now_;
  }
  int below(unsigned bucket) const {
    int found = 0;
    for (unsigned b = 1; b < bucket; ++b) found += now_.flows[b] + before_.flows[b];
    return found;
  }

  // 1 below 4 KiB, then one more for every doubling; the last has no end. 0 for nothing.
  static unsigned of(double bytes) {
    if (bytes <= 0) return 0;
    const auto units = static_cast<std::uint64_t>(std::min(bytes, 1e15)) >> 12;
    return std::min(1 + static_cast<unsigned>(std::bit_width(units)), count);
  }

 private:
  struct Cells {
    std::vector<std::uint8_t> cells;
    std::array<int, count + 1> flows{};  // by bucket

    void put(std::size_t place, unsigned bucket) {
      --flows[cells[place]];
      ++flows[bucket];
      cells[place] = static_cast<std::uint8_t>(bucket);
    }
  };

  Cells now_, before_;
};

class ActiveFlows {
 public:
  static constexpr int usual_bits = 1024;

  // `bits` of memory for an interval, or 0 for exact counts; `interval` in µs.
  ActiveFlows(int bits, bool ranks, double interval) : ranks_(ranks), interval_(interval) {
    const auto size = static_cast<std::size_t>(bits);
    if (size > 0 && ranks) buckets_.emplace(std::max<std::size_t>(size / AgingBuckets::cell_bits, 1));
    if (size > 0 && !ranks) map_.emplace(size);
  }

  void advance(double now) {
    const double interval = std::floor(now / interval_);
    if (interval == current_) return;
    if (map_) map_->turn(interval == current_ + 1);
    if (buckets_) buckets_->turn(interval == current_ + 1);
    std::erase_if(exact_, [&](const auto& each) { return each.second.interval < interval - 1; });
    current_ = interval;
  }

  // A packet of a flow passes. For ranks it says how many bytes the flow has left; with none left, the flow has ended.
  void see(std::uint64_t flow, double left = 0) {
    const std::uint64_t hash = mix64(flow + 0x9e3779b97f4a7c15ull);
    if (map_) return map_->set(hash);
    if (buckets_) return buckets_->put(hash, AgingBuckets::of(left));
    if (ranks_ && left <= 0)
      exact_.erase(flow);
    else
      exact_[flow] = {left, current_};
  }

  double flows() const { return map_ ? map_->flows() : static_cast<double>(exact_.size()); }

  // Flows with fewer bytes left: exactly, or those of the smaller buckets.
  double rank(double left) const {
    if (buckets_) return buckets_->below(AgingBuckets::of(left));
    return static_cast<double>(
        std::count_if(exact_.begin(), exact_.end(), [&](const auto& each) { return each.second.left < left; }));
  }

 private:
  struct Latest {
    double left, interval;
  };

  bool ranks_;
  double interval_;
  double current_ = 0;
  std::optional<AgingMap> map_;
  std::optional<AgingBuckets> buckets_;
  std::unordered_map<std::uint64_t, Latest> exact_;  // with neither: flows of this interval and the one before
};

}  // namespace remy_plus
