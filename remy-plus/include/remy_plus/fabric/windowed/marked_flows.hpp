// How many flows of a receiver had a mark of late, and how an ACK brings that number back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

// A number from 1 in a byte that is not 0: exact to 32, above rounded down to five significant bits, to half a million
// at most.
class RoundedCount {
 public:
  static std::uint8_t code(std::size_t count) {
    const auto most = std::min<std::size_t>(count, std::size_t{31} << 14);
    const int cut = std::max(static_cast<int>(std::bit_width(most)) - 5, 0);
    return static_cast<std::uint8_t>((static_cast<std::size_t>(cut) << 4) + (most >> cut));
  }
  static std::uint32_t count(std::uint8_t code) {
    if (code < 32) return code;
    const int cut = (code >> 4) - 1;
    return (code - (static_cast<std::uint32_t>(cut) << 4)) << cut;
  }
};

// Of one receiver: the flows that had a mark within a time, the present moment included and the end not.
class MarkedFlows {
 public:
  // A packet of a flow came with a mark; returns how many flows there are now. Times do not fall.
  std::size_t add(std::uint32_t flow, Time now, Time within) {
    marks_.emplace_back(now, flow);
    last_[flow] = now;
    for (; marks_.front().first <= now - within && marks_.front().first < now; marks_.pop_front()) {
      const auto found = last_.find(marks_.front().second);
      if (found != last_.end() && found->second == marks_.front().first) last_.erase(found);
    }
    return last_.size();
  }

  // It has ended.
  void forget(std::uint32_t flow) {
    if (!last_.empty()) last_.erase(flow);
  }

 private:
  std::deque<std::pair<Time, std::uint32_t>> marks_;  // in their order
  std::unordered_map<std::uint32_t, Time> last_;      // of each flow, its latest mark
};

}  // namespace remy_plus::fabric
