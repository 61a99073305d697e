// How the number that a hop writes differs from what it measured: read seldom, written late, or estimated with an
// error.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>

#include "remy_plus/core/random.hpp"

namespace remy_plus {

struct Imprecision {
  double refresh = 0;                 // µs: one reading in so long; 0: with every packet
  double delay = 0;                   // µs from a reading until it is written
  double bias = 0, noise = 0;         // shares of the number: its error's mean and standard deviation
  double shift = 0, shift_noise = 0;  // the same in the field's unit

  bool operator==(const Imprecision&) const = default;
  bool late() const { return refresh > 0 || delay > 0; }
  bool estimates() const { return bias != 0 || noise != 0 || shift != 0 || shift_noise != 0; }
  bool any() const { return late() || estimates(); }

  // The estimate of a number, never below 0.
  double of(double value, Stream stream) const {
    if (!estimates()) return value;
    const double factor = 1 + bias + (noise > 0 ? noise * normal(stream) : 0);
    return std::max(0.0, value * factor + shift + (shift_noise > 0 ? shift_noise * normal(stream) : 0));
  }

  // Of mean 0 and variance 1: a sum of twelve uniform draws, within 6 of the mean.
  static double normal(Stream& stream) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += stream.uniform();
    return sum;
  }
};

// Readings that are written late: each from `delay` after it on, until the next one is due. Of an interval of `refresh`
// the first packet's is read.
class LateNumber {
 public:
  explicit LateNumber(const Imprecision& how) : refresh_(how.refresh), delay_(how.delay) {}

  template <class Read>
  void advance(double now, const Read& read) {
    const double interval = refresh_ > 0 ? std::floor(now / refresh_) : 0;
    if (refresh_ == 0 || interval != interval_) readings_.push_back({now + delay_, read()});
    interval_ = interval;
    while (readings_.size() > 1 && readings_[1].from <= now) readings_.pop_front();
    known_ = readings_.front().from <= now;
  }

  bool known() const { return known_; }
  double value() const { return readings_.front().value; }

 private:
  struct Reading {
    double from, value;
  };

  double refresh_, delay_;  // µs
  double interval_ = -1;
  bool known_ = false;
  std::deque<Reading> readings_;  // the one that is written, and those that are not yet
};

}  // namespace remy_plus
