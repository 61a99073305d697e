// Ends trials that are no longer wanted, or that would not end by themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/fifo/sender.hpp"

namespace remy_plus {

// Thrown out of a trial that was told to stop.
struct Stopped {};

class Watchdog {
 public:
  static constexpr std::uint64_t interval = 1 << 14;  // events between two checks
  // Events without progress, or packets of a burst: as many as packets can be under way.
  static constexpr std::int64_t most_at_once = 1 << 24;
  static constexpr std::size_t most_flows = std::size_t{1} << 22;  // of a trial: 600 MB of records

  Watchdog(const Network& network, double duration, const std::atomic<bool>* stop)
      : network_(network), duration_(duration), stop_(stop) {}

  // Is the trial still wanted, does it go on, and do its sequence numbers still fit into a packet?
  [[gnu::cold]] void check(double now, std::int64_t events, const std::vector<Sender>& senders);
  [[noreturn, gnu::cold]] void stands_still(double now) const;
  [[noreturn, gnu::cold]] void too_many_flows(double now) const;

 private:
  const Network& network_;
  double duration_;
  const std::atomic<bool>* stop_;
  double went_on_ = -1;              // µs, when time was last seen to have moved
  std::int64_t went_on_events_ = 0;  // by then
};

}  // namespace remy_plus
