// Hand-designed policies that do as hops say. Without a header that carries their signal they never learn a rate.
#pragma once

#include <algorithm>

#include "remy_plus/policies/control.hpp"
#include "remy_plus/policies/pacing.hpp"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus {

// One packet in so many units, and no window: RCP's sender (1 / fair rate), or a share of the capacity
// (flows / capacity).
struct ExplicitRate {
  PacingUnit unit;
  double factor;       // of the unit
  double initial_gap;  // µs, until the network has spoken
  SignalMask wanted = unit.wanted();

  void start(Control& control, const Memory&, RuleHits&) const {
    control.window = 1e18;
    control.gap = initial_gap;
  }
  void feedback(Control& control, const Memory& memory, const Ack& ack, RuleHits&) const {
    const double found = ack.current ? unit.value(memory.signals()) : 0;
    if (found > 0) control.gap = factor * found;
  }
  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }
};

// XCP's sender: the window changes by what the header of each acknowledged packet says (SIGCOMM 2002, section 3.4).
struct Xcp {
  double initial;   // packets
  double smallest;  // packets; of 1, a single loss would silence the flow
  SignalMask wanted = bit(xcp_feedback);

  void start(Control& control, const Memory&, RuleHits&) const {
    control = {};
    control.window = initial;
  }
  void feedback(Control& control, const Memory& memory, const Ack& ack, RuleHits&) const {
    const double allowed = memory.signals()[xcp_feedback];
    if (!ack.current || allowed == 0) return;
    control.window = std::clamp(control.window + allowed - 1, smallest, largest_window);
  }
  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }
};

}  // namespace remy_plus
