// SPDX-License-Identifier: GPL-2.0-only
// The door through which a congestion control of ns-3 gets what acknowledgements carry beside TCP.
#pragma once

namespace lcca_ns3 {

// Of one acknowledged data packet; in-network ones are the largest along the path.
struct Signals {
  double queue = 0;  // packets left behind it
  double link = 0;   // utilisation, 0..1
  double rtt = 0;    // µs
};

class SignalControl {
 public:
  virtual ~SignalControl() = default;
  // Called once per acknowledgement, before TCP reads it.
  virtual void observe(const Signals& signals) = 0;
};

}  // namespace lcca_ns3
