// What a sender learns from the header of one packet.
#pragma once

#include "remy_plus/signals/signals.hpp"

namespace remy_plus {

// Signals that one header carried; the others stay as they were.
struct Seen {
  SignalMask fresh = 0;
  Signals values{};
};

}  // namespace remy_plus
