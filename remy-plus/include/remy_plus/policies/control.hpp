// What a policy steers of a sender, and what an ACK brings it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace remy_plus {

inline constexpr double largest_window = 1e6;  // packets (R+)

// What a policy remembers of one flow beyond the few numbers of Control; only policies that need it make one.
struct Mind {
  virtual ~Mind() = default;
};

// The part of a sender that a policy steers, and what it may remember of the flow.
struct Control {
  double window = 0;  // packets
  double gap = 0;     // µs between sends
  double threshold = 0;
  std::int64_t recover = -1;
  std::int64_t highest = -1;
  std::uint32_t rule = 0;  // of a table: the latest that was looked up
  bool adopts = false;     // in a mixture: its sender has the first policy
  std::unique_ptr<Mind> mind;
};

// What an ACK brings to a policy: a packet was received (of the current flow, or a late one of an earlier flow).
struct Ack {
  std::int64_t sequence;
  std::int64_t sent;  // packets sent so far by this sender, all flows
  bool current;
  double now;  // µs
};

// Counts look-ups per rule of one run.
using RuleHits = std::vector<std::uint64_t>;

struct Action {
  double increment;  // packets
  double multiple;
  double pacing;  // × the table's unit: receive EWMA (R+), µs (Remy), or another
};

}  // namespace remy_plus
