#include "remy_plus/aqm/markers.hpp"

#include <stdexcept>
#include <string>

namespace remy_plus {

void SlopeMarker::check() const {
  if (!(min_k >= 0 && max_k >= min_k && max_k <= 1e9))
    throw std::invalid_argument("thresholds must be 0 <= min_k <= max_k packets, got " + std::to_string(min_k) +
                                " and " + std::to_string(max_k));
  if (!(max_p >= 0 && max_p <= 1)) throw std::invalid_argument("max_p must be in [0, 1], got " + std::to_string(max_p));
}

}  // namespace remy_plus
