// PRED (Li et al., IEEE/ACM ToN 2025): RED whose slope is in proportion to the number of flows that come by, times a
// factor that is moved by trials of slightly more and slightly less.
#pragma once

#include <array>
#include <limits>

#include "remy_plus/fabric/marker/concurrency.hpp"
#include "remy_plus/fabric/marker/queue_adjuster.hpp"
#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

struct Pred {
  static constexpr bool sees_marked = true, needs_sojourn = false;

  struct Parameters {
    using Marker = Pred;

    double kmax = 500e3;              // bytes: all are marked beyond it
    bool counts = true;               // the slope goes with the number of flows (FCS)
    bool adjusts = true;              // the factor and kmin are adjusted (QLA)
    Concurrency::Parameters counter;  // FCS
    QueueAdjuster::Parameters adjuster;

    Parameters at(double) const { return *this; }
    void require() const {
      require_range("kmax_bytes", kmax, 0, std::numeric_limits<double>::infinity());
      counter.require();
      adjuster.require();
    }
  };

  Pred() = default;
  explicit Pred(const Parameters& given) : parameters(given) {}

  Parameters parameters;

  // As the last packet met it: flows, the slope per MB for one flow and kmin around which trials are.
  static constexpr std::array state_names = {"flows", "slope_per_mb", "kmin_bytes"};
  std::array<double, 3> state() const {
    const auto [slope, kmin] = adjuster_.around(parameters.adjuster);
    return {parameters.counts ? counter_.flows() : 1, slope * 1e6, kmin};
  }

  bool marks(const Sight& sight, Draws& draws) {
    const double flows = parameters.counts ? counter_.see(sight, parameters.counter) : 1;
    const auto [slope, kmin] = adjuster_.see(sight, parameters.adjuster, parameters.adjusts);
    const auto queued = static_cast<double>(sight.queued);
    if (queued > parameters.kmax) return true;
    return queued > kmin && draws.next() <= flows * slope * (queued - kmin);
  }

 private:
  Concurrency counter_;
  QueueAdjuster adjuster_;
};

}  // namespace remy_plus::fabric
