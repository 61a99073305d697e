// How long a queue had which length. Lengths are exact below 64 bytes, else to one part in 32: a bin is named by its
// largest length, so that nothing is told too short.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "remy_plus/core/large_pages.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

class QueueTimes {
 public:
  // Time without a queue is not added: it is what is left of the whole.
  void add(std::int64_t bytes, Time time) {
    if (bytes == 0) return;
    const std::size_t bin = bin_of(static_cast<std::uint64_t>(bytes));
    if (bin >= times_.size()) times_.resize(bin + 1);
    times_[bin] += time;
  }

  // The length that is not exceeded for this share of the whole time.
  std::uint64_t quantile(double share, Time whole) const {
    double longer = 0;
    for (std::size_t bin = times_.size(); bin-- > 0;) {
      longer += static_cast<double>(times_[bin]);
      if (longer > (1 - share) * static_cast<double>(whole)) return largest(bin);
    }
    return 0;
  }

  std::size_t bins() const { return times_.size(); }
  Time time(std::size_t bin) const { return times_[bin]; }

  static std::uint64_t largest(std::size_t bin) {
    if (bin < 2 * parts) return bin;
    const std::size_t doublings = bin / parts - 1;
    return (((bin % parts + parts + 1) << doublings)) - 1;
  }

 private:
  static constexpr std::size_t parts = 32;  // of a doubling

  static std::size_t bin_of(std::uint64_t bytes) {
    if (bytes < 2 * parts) return bytes;
    const auto doublings = static_cast<std::size_t>(std::bit_width(bytes / (2 * parts)));
    return doublings * parts + (bytes >> doublings);
  }

  std::vector<Time, LargePages<Time>> times_;
};

}  // namespace remy_plus::fabric
