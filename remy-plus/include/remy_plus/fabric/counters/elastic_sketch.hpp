// Elastic Sketch (Yang et al., SIGCOMM 2018, section 3.1, the basic version): bytes of the largest flows in buckets
// with votes, of the others in an array of counters that flows share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "remy_plus/core/bitmap.hpp"
#include "remy_plus/core/random.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

class ElasticSketch {
 public:
  // `ostracism`: a flow leaves its bucket when the bytes of others are so many times its own.
  ElasticSketch(std::size_t buckets, std::size_t counters, double ostracism) : ostracism_(ostracism) {
    require_range("buckets", static_cast<double>(buckets), 1, most);
    require_range("counters", static_cast<double>(counters), 1, most);
    require_range("ostracism", ostracism, 0, 1e9);
    buckets_.resize(buckets);
    counters_.resize(counters);
  }

  void insert(std::uint32_t flow, int bytes) {
    Bucket& at = buckets_[mix64(flow + 1) % buckets_.size()];
    const auto size = static_cast<std::uint64_t>(bytes);
    if (at.own == 0) {
      at = {flow, size, 0, false};
    } else if (at.flow == flow) {
      at.own += size;
    } else if (at.others += size; static_cast<double>(at.others) < ostracism_ * static_cast<double>(at.own)) {
      counter(flow) += size;
    } else {
      counter(at.flow) += at.own;
      at = {flow, size, size, true};
    }
  }

  // The flows in buckets and their bytes: of those that took a bucket from another one, with what the counters hold.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> flows() const {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> found;
    for (const Bucket& each : buckets_)
      if (each.own > 0) found.emplace_back(each.flow, each.own + (each.light ? counters_[place(each.flow)] : 0));
    return found;
  }

  // About how many flows the counters hold, by how many counters are still 0 (linear counting).
  double small_flows() const {
    const auto empty = static_cast<double>(std::count(counters_.begin(), counters_.end(), 0u));
    return linear_count(static_cast<double>(counters_.size()), empty);
  }

  void reset() {
    std::fill(buckets_.begin(), buckets_.end(), Bucket{});
    std::fill(counters_.begin(), counters_.end(), 0u);
  }

 private:
  static constexpr double most = 1 << 24;

  struct Bucket {
    std::uint32_t flow = 0;
    std::uint64_t own = 0, others = 0;  // bytes
    bool light = false;                 // some of its bytes may be in the counters
  };

  std::size_t place(std::uint32_t flow) const { return mix64(~std::uint64_t{flow}) % counters_.size(); }
  std::uint64_t& counter(std::uint32_t flow) { return counters_[place(flow)]; }

  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> counters_;
  double ostracism_;
};

}  // namespace remy_plus::fabric
