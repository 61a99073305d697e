// The flows that a host is receiving by a link, by what each says that it has left to send: what a receiver knows of
// how its senders stand to each other, and tells them in ACKs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "remy_plus/fabric/flow.hpp"

namespace remy_plus::fabric {

// Bytes in 16 bits, exact below 4,096 and then to one part in 2,048, rounded down; larger numbers have larger codes.
inline std::uint16_t left_code(std::uint64_t bytes) {
  const int shift = std::max(static_cast<int>(std::bit_width(bytes)) - 12, 0);
  return static_cast<std::uint16_t>(
      std::min<std::uint64_t>((static_cast<std::uint64_t>(shift) << 11) + (bytes >> shift), 0xffff));
}

// Of a flow, in an ACK: how many of the flows into its receiver have fewer bytes left, and how many there are. 12 bits
// each.
struct Standing {
  std::uint32_t rank = 0, flows = 0;

  static constexpr std::uint32_t most = (1u << 12) - 1;
  std::uint32_t code() const { return std::min(rank, most) << 12 | std::min(flows, most); }
  static Standing of(std::uint64_t code) {
    return {static_cast<std::uint32_t>(code >> 12) & most, static_cast<std::uint32_t>(code) & most};
  }
};

class Arriving {
 public:
  // Data of a flow has come that says so much is left.
  void see(std::uint32_t number, Flow& flow, std::uint16_t left) {
    const Entry now{left, number};
    if (!flow.arriving) {
      flow.arriving = true;
      entries_.insert(place(now), now);
    } else if (left != flow.left) {
      const auto old = place({flow.left, number}), to = place(now);
      *old = now;
      if (to > old + 1)
        std::rotate(old, old + 1, to);
      else if (to < old)
        std::rotate(to, old, old + 1);
    }
    flow.left = left;
  }

  // All of it has come.
  void forget(std::uint32_t number, Flow& flow) {
    if (!flow.arriving) return;
    flow.arriving = false;
    entries_.erase(place({flow.left, number}));
  }

  // Of flows that have as much left, the one that began first comes first.
  Standing standing(std::uint32_t number, const Flow& flow) {
    return {static_cast<std::uint32_t>(place({flow.left, number}) - entries_.begin()),
            static_cast<std::uint32_t>(entries_.size())};
  }

 private:
  using Entry = std::pair<std::uint16_t, std::uint32_t>;

  std::vector<Entry>::iterator place(const Entry& entry) { return std::ranges::lower_bound(entries_, entry); }

  std::vector<Entry> entries_;  // rising
};

}  // namespace remy_plus::fabric
