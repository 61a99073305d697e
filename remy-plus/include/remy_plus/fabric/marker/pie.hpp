// PIE (Pan et al., RFC 8033, sections 4.1 to 4.4) that marks: a probability that follows how far the queueing delay is
// from a target and where it goes. The delay is the queue over the rate of the port; between two packets the queue
// drains at that rate. With the bound on steps up of section 5.5; without the RFC's drops beyond a probability of 0.1
// and without derandomisation (section 5.4).
#pragma once

#include <algorithm>
#include <limits>

#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

struct Pie {
  static constexpr bool sees_marked = true, needs_sojourn = false;

  struct Parameters {
    using Marker = Pie;

    double target = 15e6, update = 15e6, burst = 150e6;  // ps
    double alpha = 0.125e-9, beta = 1.25e-9;             // per ps

    Parameters at(double) const { return *this; }
    void require() const {
      constexpr double any = std::numeric_limits<double>::infinity();
      require_range("target_us", target / microsecond, 0, longest_us);
      require_range("update_us", update / microsecond, 1e-3, longest_us);
      require_range("burst_us", burst / microsecond, 0, longest_us);
      require_range("alpha_per_ms", alpha * 1e9, 0, any);
      require_range("beta_per_ms", beta * 1e9, 0, any);
    }
  };

  Pie() = default;
  explicit Pie(const Parameters& given) : parameters(given) {}

  Parameters parameters;

  bool marks(const Sight& sight, Draws& draws) {
    bring_up_to(sight);
    queue_ps_ = static_cast<double>(sight.queued) * 8000 / sight.gbps;
    seen_ = sight.now;
    const double half = parameters.target / 2;
    if (probability_ == 0 && delay_ < half && older_ < half) spare_ = parameters.burst;
    if (spare_ > 0 || (delay_ < half && probability_ < 0.2) || sight.queued <= 2 * sight.bytes) return false;
    return draws.next() <= probability_;
  }

 private:
  void bring_up_to(const Sight& sight) {
    if (next_ == never) next_ = sight.now + step();
    for (; next_ <= sight.now; next_ += step()) {
      update(std::max(0.0, queue_ps_ - static_cast<double>(next_ - seen_)));
      if (probability_ == 0 && delay_ == 0 && older_ == 0 && spare_ == 0) {  // nothing would change until now
        next_ += (sight.now - next_) / step() * step();
      }
    }
  }

  void update(double delay) {
    older_ = delay_;
    delay_ = delay;
    double change = parameters.alpha * (delay - parameters.target) + parameters.beta * (delay - older_);
    change /= damping();
    if (probability_ >= 0.1) change = std::min(change, 0.02);
    probability_ += change;
    if (delay == 0 && older_ == 0) probability_ *= 0.98;
    probability_ = std::clamp(probability_, 0.0, 1.0);
    spare_ = std::max(0.0, spare_ - parameters.update);
  }

  // Small probabilities move in small steps (section 4.2).
  double damping() const {
    constexpr double below[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}, by[] = {2048, 512, 128, 32, 8, 2};
    for (int i = 0; i < 6; ++i)
      if (probability_ < below[i]) return by[i];
    return 1;
  }

  Time step() const { return static_cast<Time>(parameters.update); }

  Time next_ = never, seen_ = 0;
  double queue_ps_ = 0;           // that the last packet found or left, as a delay
  double delay_ = 0, older_ = 0;  // ps, at the last two updates
  double probability_ = 0;
  double spare_ = 0;  // ps of burst that are left
};

}  // namespace remy_plus::fabric
