// SPDX-License-Identifier: GPL-2.0-only
// Steers a sender's flows from outside, in the place of a policy. Where a decision is due it stops ns-3 and holds the
// sender: nothing but retransmissions leaves until `Source::resume`.
#pragma once

#include <cstdint>

#include "remy_plus/policies/policy.hpp"
#include "remy_plus/signals/memory.hpp"

namespace lcca_ns3 {

class Controller {
 public:
  virtual ~Controller() = default;
  virtual remy_plus::SignalMask wanted() const = 0;
  virtual bool holds() const = 0;

  // A flow starts with this number (of the trial), its first packet with `first`.
  virtual void started(remy_plus::Control& control, std::uint32_t flow, std::int64_t first) = 0;
  // A packet of the flow was acknowledged.
  virtual void acknowledged(const remy_plus::Memory& memory, std::uint32_t number, double delay) = 0;
  virtual void ended() = 0;
};

}  // namespace lcca_ns3
