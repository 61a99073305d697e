// Bits, of which flows set one each: how many flows there were follows from how many bits are still 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "remy_plus/core/random.hpp"

namespace remy_plus {

// Linear counting (Whang, Vander-Zanden and Taylor, TODS 1990): m ln(m / zeros). A full map counts as one with a zero.
inline double linear_count(double bits, double zeros) { return bits * portable_log(bits / std::max(zeros, 1.0)); }

class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(std::size_t bits) : bits_(bits, false) {}

  // Whether it was 0.
  bool set(std::size_t place) {
    auto bit = bits_[place];
    const bool changes = !bit;
    ones_ += changes;
    bit = true;
    return changes;
  }
  void clear() {
    std::fill(bits_.begin(), bits_.end(), false);
    ones_ = 0;
  }

  bool operator[](std::size_t place) const { return bits_[place]; }
  std::size_t size() const { return bits_.size(); }
  std::size_t ones() const { return ones_; }

 private:
  std::vector<bool> bits_;
  std::size_t ones_ = 0;
};

}  // namespace remy_plus
