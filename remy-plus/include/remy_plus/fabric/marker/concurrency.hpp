// How many flows come by a port (PRED's Flow Concurrent Stabilizer; Li et al., ToN 2025, section IV-A): those of an
// interval, each of which sets a bit of a map, or those of the interval before if they were more.
#pragma once

#include <algorithm>
#include <cstdint>

#include "remy_plus/core/bitmap.hpp"
#include "remy_plus/core/random.hpp"
#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

class Concurrency {
 public:
  struct Parameters {
    double interval = 100e6;  // ps
    int bits = 120;           // of the map

    void require() const {
      require_range("count_us", interval / microsecond, 1e-3, longest_us);
      require_range("count_bits", bits, 1, 1 << 20);
    }
  };

  // Counts the flow of a packet; returns how many there are.
  double see(const Sight& sight, const Parameters& given) {
    turn(sight.now, given);
    const std::uint64_t hash = mix64(sight.flow + 0x9e3779b97f4a7c15ull * (1 + number_));
    seen_.set(static_cast<std::size_t>(hash % seen_.size()));
    return flows();
  }

  double flows() const { return std::max(static_cast<double>(seen_.ones()), last_); }

 private:
  // A new interval begins with the first packet after one; where a whole one passed without any, the last had none.
  void turn(Time now, const Parameters& given) {
    if (seen_.size() > 0 && static_cast<double>(now - begun_) <= given.interval) return;
    last_ = static_cast<double>(now - begun_) <= 2 * given.interval ? static_cast<double>(seen_.ones()) : 0;
    begun_ = now;
    ++number_;
    seen_ = Bitmap(static_cast<std::size_t>(given.bits));
  }

  Bitmap seen_;
  Time begun_ = 0;
  std::uint64_t number_ = 0;  // of the interval: flows set another bit in each
  double last_ = 0;           // flows of the interval before
};

}  // namespace remy_plus::fabric
