// The policy that is a congestion control of somebody else, such as a class in Python: it is told what each
// acknowledgement brings, and says a window and a gap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "remy_plus/policies/control.hpp"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus {

// What it is told besides the signals that it wants.
struct News {
  double now;           // µs
  double rtt;           // µs, the latest of this flow
  double smallest_rtt;  // µs, of this flow so far
  std::int64_t sequence;
  std::int64_t sent;  // packets sent so far by this sender, all flows
  std::int64_t lost;  // packets of this flow that are missing just before this one
  bool late;          // of an earlier flow
};

class ForeignControl {
 public:
  virtual ~ForeignControl() = default;
  // A flow begins: sets window and gap, and what is remembered of the flow.
  virtual void start(Control& control) const = 0;
  virtual void on_ack(Control& control, const Signals& signals, const News& news) const = 0;
  // The same for another trial, which shares nothing with this one that either changes.
  virtual std::shared_ptr<const ForeignControl> fresh() const = 0;
};

struct Foreign {
  std::shared_ptr<const ForeignControl> control;
  bool late = false;  // whether it is told of late packets of earlier flows too
  SignalMask wanted = 0;

  void start(Control& steered, const Memory&, RuleHits&) const {
    steered = {};
    control->start(steered);
  }
  void feedback(Control& steered, const Memory& memory, const Ack& ack, RuleHits&) const {
    if (!ack.current && !late) return;
    control->on_ack(steered, memory.signals(),
                    {ack.now, memory.latest_rtt(), memory.smallest_rtt(), ack.sequence, ack.sent,
                     ack.current ? missing(steered, ack.sequence) : 0, !ack.current});
  }
  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }

 private:
  // Nobody knows what is missing before the first packet of a flow that arrives.
  static std::int64_t missing(Control& steered, std::int64_t sequence) {
    const std::int64_t gap = steered.highest < 0 ? 0 : sequence - steered.highest - 1;
    steered.highest = std::max(steered.highest, sequence);
    return std::max<std::int64_t>(gap, 0);
  }
};

}  // namespace remy_plus
