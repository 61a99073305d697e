// How a hop measures what it writes into headers: now, over a window, or on average.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "remy_plus/core/link_meter.hpp"
#include "remy_plus/core/network.hpp"

namespace remy_plus {

enum class Window : std::uint8_t { instant, rolling, tumbling, ewma, counter, aged };

// e^x for x <= 0 from basic arithmetic alone, so that its bits do not depend on the C library: 2^k e^r with |r| <=
// 0.347, by the series up to r^13 in pairs, since each term of a chain would wait for the one before.
inline double portable_exp(double x) {
  if (!(x > -700)) return 0;
  constexpr double ln2_high = 0.693147180369123816490, ln2_low = 1.90821492927058770002e-10;
  const auto k = -static_cast<std::int64_t>(0.5 - x * (1 / (ln2_high + ln2_low)));
  const auto steps = static_cast<double>(k);
  const double r = x - steps * ln2_high - steps * ln2_low, r2 = r * r, r4 = r2 * r2;
  const double up_to_3 = 1 + r + (1.0 / 2 + r * (1.0 / 6)) * r2;
  const double up_to_7 = 1.0 / 24 + r * (1.0 / 120) + (1.0 / 720 + r * (1.0 / 5040)) * r2;
  const double up_to_11 = 1.0 / 40320 + r * (1.0 / 362880) + (1.0 / 3628800 + r * (1.0 / 39916800)) * r2;
  const double rest = 1.0 / 479001600 + r * (1.0 / 6227020800);
  const double sum = up_to_3 + up_to_7 * r4 + (up_to_11 + rest * r4) * (r4 * r4);
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + k) << 52);  // a normal number: k >= -1010
}

// Of numbers that come with packets: the number itself; the mean over the interval last completed, 0 if none came; or
// an average that forgets with a time constant.
class SampleMeter {
 public:
  SampleMeter(Window window, double interval) : window_(window), interval_(interval) {}

  double read(double now, double sample) {
    if (window_ == Window::tumbling) return tumble(now, sample);
    if (window_ != Window::ewma) return sample;
    if (!seen_ || average_ == sample)  // what does not change needs no weight
      average_ = sample;
    else
      average_ = sample + (average_ - sample) * portable_exp((since_ - now) / interval_);
    seen_ = true;
    since_ = now;
    return average_;
  }

 private:
  double tumble(double now, double sample) {
    const double interval = std::floor(now / interval_);
    if (interval != current_) {
      completed_ = interval == current_ + 1 && count_ > 0 ? sum_ / count_ : 0;
      current_ = interval;
      sum_ = count_ = 0;
    }
    sum_ += sample;
    ++count_;
    return completed_;
  }

  Window window_;
  double interval_;  // µs
  bool seen_ = false;
  double average_ = 0, since_ = 0;
  double current_ = 0, sum_ = 0, count_ = 0, completed_ = 0;
};

// Of the link's use. Rolling windows are those of the model's link signal; a tumbling one is the share of the interval
// last completed in which the link was busy; the average forgets with a time constant.
class UseMeter {
 public:
  using Meter = BasicLinkMeter<std::uint64_t, 65536>;

  UseMeter(Window window, double interval, Model model, double rate)
      : window_(window), interval_(interval > 0 ? interval : model.link_interval), meter_(with(model), rate) {}

  // A packet of this size starts service, which takes `service` µs, at `start`. A rolling window has the packet in it.
  double read(double start, double service, double size) {
    if (window_ == Window::tumbling) return tumble(start, start + service);
    if (window_ != Window::ewma) {
      if (size != size_) {  // most packets are of one size
        size_ = size;
        weight_ = static_cast<std::uint64_t>(size * 65536 + 0.5);
      }
      return meter_.count(start, weight_);
    }
    const double found = start == until_ ? average_ : average_ * portable_exp((until_ - start) / interval_);
    if (service != service_) {
      service_ = service;
      kept_ = portable_exp(-service / interval_);
    }
    average_ = 1 - (1 - found) * kept_;
    until_ = start + service;
    return found;
  }

 private:
  Model with(Model model) const {
    model.link_interval = interval_;
    return model;
  }

  double tumble(double start, double end) {
    const double interval = std::floor(start / interval_);
    if (interval > current_) {
      completed_ = interval == current_ + 1 ? busy_ : 0;
      current_ = interval;
      busy_ = 0;
    }
    const double found = std::min(1.0, completed_ / interval_);
    while (end > (current_ + 1) * interval_) {
      const double boundary = (current_ + 1) * interval_;
      completed_ = busy_ + (boundary - start);
      busy_ = 0;
      ++current_;
      start = boundary;
    }
    busy_ += end - start;
    return found;
  }

  Window window_;
  double interval_;  // µs
  Meter meter_;
  double average_ = 0, until_ = 0;
  double size_ = 1, service_ = 0, kept_ = 1;       // of the latest packet, and what an average keeps in that time
  std::uint64_t weight_ = 65536;                   // of such a packet
  double current_ = 0, busy_ = 0, completed_ = 0;  // of intervals, µs
};

}  // namespace remy_plus
