// The smallest of a set of times that change one at a time: blocks of eight with their minima.
//
// Few senders make one block, scanned when its minimum rises; many senders cost a block and the row of minima.
#pragma once

#include <cstddef>
#include <vector>

#include "remy_plus/core/network.hpp"

namespace remy_plus {

class Earliest {
 public:
  void reset(std::size_t count) {
    const std::size_t blocks = (count + width_ - 1) / width_;
    times_.assign(blocks * width_, never);
    minima_.assign(blocks, never);
    where_.assign(blocks, 0);
    time_ = never;
    at_ = 0;
  }

  // Makes room for more, keeping what is there.
  void grow(std::size_t count) {
    const std::size_t blocks = (count + width_ - 1) / width_;
    times_.resize(blocks * width_, never);
    minima_.resize(blocks, never);
    where_.resize(blocks, 0);
  }

  double time() const { return time_; }   // the smallest, infinite if there is none
  std::size_t at() const { return at_; }  // its index; of equals the one that was set first or the lowest

  void set(std::size_t i, double time) {
    const std::size_t block = i / width_;
    times_[i] = time;
    if (time < minima_[block]) {
      minima_[block] = time;
      where_[block] = i;
      if (time < time_) {
        time_ = time;
        at_ = i;
      }
    } else if (where_[block] == i && time > minima_[block]) {
      scan(block);
      if (at_ == i) scan_minima();
    }
  }

 private:
  static constexpr std::size_t width_ = 8;

  void scan(std::size_t block) {
    const double* times = &times_[block * width_];
    double best = times[0];
    std::size_t at = 0;
    for (std::size_t k = 1; k < width_; ++k) {
      const bool sooner = times[k] < best;
      at = sooner ? k : at;
      best = sooner ? times[k] : best;
    }
    minima_[block] = best;
    where_[block] = block * width_ + at;
  }

  void scan_minima() {
    double best = minima_[0];
    std::size_t at = 0;
    for (std::size_t b = 1; b < minima_.size(); ++b) {
      const bool sooner = minima_[b] < best;
      at = sooner ? b : at;
      best = sooner ? minima_[b] : best;
    }
    time_ = best;
    at_ = where_[at];
  }

  std::vector<double> times_;
  std::vector<double> minima_;
  std::vector<std::size_t> where_;
  double time_ = never;
  std::size_t at_ = 0;
};

}  // namespace remy_plus
