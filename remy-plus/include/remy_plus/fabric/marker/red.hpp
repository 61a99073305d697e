// RED on the queue as it is (Zhu et al., SIGCOMM 2015, Figure 5): no packet is marked up to kmin, all beyond kmax,
// between them a share that rises in a line to pmax.
#pragma once

#include <limits>

#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

struct Red {
  static constexpr bool sees_marked = false, needs_sojourn = false;

  struct Parameters {
    using Marker = Red;

    double kmin = 400e3, kmax = 1600e3;  // bytes
    double pmax = 0.2;
    bool in_bdps = false;  // thresholds are bandwidth-delay products, until in_bytes()

    Parameters at(double gbps) const { return {kmin * gbps / 100, kmax * gbps / 100, pmax}; }
    Parameters in_bytes(const auto& bytes_of) const { return {bytes_of(kmin), bytes_of(kmax), pmax}; }
    void require() const {
      constexpr double any = std::numeric_limits<double>::infinity();
      require_range(in_bdps ? "kmin_bdps" : "kmin_bytes", kmin, 0, any);
      require_range(in_bdps ? "kmax_bdps" : "kmax_bytes", kmax, kmin, any);
      require_range("pmax", pmax, 0, 1);
    }
  };

  Parameters parameters;

  bool marks(const Sight& sight, Draws& draws) const {
    const auto queued = static_cast<double>(sight.queued);
    if (queued <= parameters.kmin) return false;
    if (queued > parameters.kmax) return true;
    const double share = (queued - parameters.kmin) / (parameters.kmax - parameters.kmin);
    return draws.next() <= share * parameters.pmax;
  }
};

}  // namespace remy_plus::fabric
