// The buffer that the ports of a switch share, with dynamic thresholds: of what came in by a lane with PFC, of queues
// without. What has left since ports were last brought up to date still counts, so that nothing is told too low.
#pragma once

#include <algorithm>
#include <cstdint>

#include "remy_plus/fabric/port.hpp"
#include "remy_plus/fabric/settings.hpp"

namespace remy_plus::fabric {

class Buffer {
 public:
  Buffer(const Settings& settings, int ports)
      : settings_(settings), free_(settings.buffer_per_port > 0 ? settings.buffer_per_port * ports : settings.buffer) {}

  // --- without PFC

  bool fits(int bytes, std::int64_t queued, double alpha) const {
    return free_ >= bytes && static_cast<double>(queued + bytes) <= alpha * free_;
  }
  void take(int bytes) { free_ -= bytes; }
  void give_back(int bytes) { free_ += bytes; }

  // --- with PFC

  bool over(const Lane& in, int bytes, double alpha) const {
    return in.headroom > 0 || static_cast<double>(in.ingress + bytes) > alpha * free_;
  }
  void take(Lane& in, int bytes) {
    in.ingress += bytes;
    free_ -= bytes;
  }
  void give_back(Lane& in, int bytes) {
    const std::int64_t spare = std::min<std::int64_t>(in.headroom, bytes);
    in.headroom -= spare;
    in.ingress -= bytes - spare;
    free_ += static_cast<double>(bytes - spare);
  }
  bool resumes(const Lane& in, double alpha) const {
    const auto held = static_cast<double>(in.ingress);
    return in.headroom == 0 && (held < settings_.resume_below || held + settings_.resume_offset <= alpha * free_);
  }

 private:
  const Settings& settings_;
  double free_;  // bytes, headroom apart
};

}  // namespace remy_plus::fabric
