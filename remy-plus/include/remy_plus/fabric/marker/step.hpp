// Marks all packets beyond a threshold (DCTCP: Alizadeh et al., SIGCOMM 2010, section 3.1).
#pragma once

#include <limits>

#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

struct Step {
  static constexpr bool sees_marked = false, needs_sojourn = false;

  struct Parameters {
    using Marker = Step;

    double threshold = 300e3;  // bytes
    bool in_bdps = false;      // or bandwidth-delay products, until in_bytes()

    Parameters at(double gbps) const { return {threshold * gbps / 100}; }
    Parameters in_bytes(const auto& bytes_of) const { return {bytes_of(threshold)}; }
    void require() const {
      require_range(in_bdps ? "k_bdps" : "k_bytes", threshold, 0, std::numeric_limits<double>::infinity());
    }
  };

  Parameters parameters;

  bool marks(const Sight& sight, Draws&) const { return static_cast<double>(sight.queued) > parameters.threshold; }
};

}  // namespace remy_plus::fabric
