// PRED's Queue Length Adjuster (Li et al., ToN 2025, section IV-B): in four stretches of time it tries a slope that is
// slightly larger, smaller, smaller, larger, and moves there where both pairs say so. Where the slope is as small as it
// may be, it does so with kmin.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

class QueueAdjuster {
 public:
  struct Parameters {
    double interval = 400e6;                                              // ps, of a stretch
    double slope = 0.1e-6, slope_step = 0.025e-6, least_slope = 0.05e-6;  // per byte
    double kmin = 15e3, kmin_step = 7.5e3;                                // bytes
    double share = 0.4;                                                   // of the throughput in the utility
    double good_queue = 22.5e3;                                           // bytes: less is worth no more
    double bad_queue = 500e3;                                             // bytes: worth nothing

    void require() const {
      constexpr double any = std::numeric_limits<double>::infinity();
      require_range("adjust_us", interval / microsecond, 1e-3, longest_us);
      require_range("slope_per_mb", slope * 1e6, 0, any);
      require_range("slope_step_per_mb", slope_step * 1e6, 0, any);
      require_range("least_slope_per_mb", least_slope * 1e6, 0, slope * 1e6);
      require_range("kmin_bytes", kmin, 0, any);
      require_range("kmin_step_bytes", kmin_step, 0, any);
      require_range("share", share, 0, 1);
      require_range("good_queue_bytes", good_queue, 0, any);
      require_range("bad_queue_bytes", bad_queue, good_queue, any);
    }
  };

  struct Line {
    double slope, kmin;
  };

  // Where it has come to, between what it tries.
  Line around(const Parameters& given) const { return begun_ == never ? Line{given.slope, given.kmin} : at_; }

  // Returns what holds for a packet; what `adjusts` moves has moved before.
  Line see(const Sight& sight, const Parameters& given, bool adjusts) {
    if (!adjusts) return {given.slope, given.kmin};
    if (begun_ == never) {
      at_ = {given.slope, given.kmin};
      begin(sight.now);
    }
    if (static_cast<double>(sight.now - begun_) > given.interval) end_stretch(sight, given);
    bytes_ += sight.bytes;
    queued_ += static_cast<double>(sight.queued);
    ++packets_;
    return tried(given);
  }

 private:
  static constexpr std::array more = {true, false, false, true};

  void begin(Time now) {
    begun_ = now;
    bytes_ = queued_ = packets_ = 0;
  }

  void end_stretch(const Sight& sight, const Parameters& given) {
    utility_[stretch_] = utility(sight, given);
    if (++stretch_ == utility_.size()) {
      stretch_ = 0;
      decide(given);
    }
    begin(sight.now);
  }

  double utility(const Sight& sight, const Parameters& given) const {
    const double rate = bytes_ * 8000 / static_cast<double>(sight.now - begun_) / sight.gbps;
    const double over = queued_ / packets_ - given.good_queue, room = given.bad_queue - given.good_queue;
    const double shortness = over <= 0 ? 1 : over >= room ? 0 : 1 - over / room;
    return given.share * rate + (1 - given.share) * shortness;
  }

  void decide(const Parameters& given) {
    const auto& u = utility_;
    if (u[0] > u[1] && u[3] > u[2])
      at_ = moved(given, true);
    else if (u[0] < u[1] && u[3] < u[2])
      at_ = moved(given, false);
  }

  Line tried(const Parameters& given) const { return moved(given, more[stretch_]); }

  // A step to more marks, or to fewer.
  Line moved(const Parameters& given, bool to_more) const {
    if (at_.slope > given.least_slope || (to_more && at_.kmin <= given.kmin)) {
      const double slope = at_.slope + (to_more ? given.slope_step : -given.slope_step);
      return {std::max(given.least_slope, slope), at_.kmin};
    }
    const double kmin = at_.kmin + (to_more ? -given.kmin_step : given.kmin_step);
    return {at_.slope, std::max(given.kmin, kmin)};
  }

  Line at_{};
  Time begun_ = never;
  double bytes_ = 0, queued_ = 0, packets_ = 0;  // of the stretch
  std::array<double, 4> utility_{};
  std::size_t stretch_ = 0;
};

}  // namespace remy_plus::fabric
