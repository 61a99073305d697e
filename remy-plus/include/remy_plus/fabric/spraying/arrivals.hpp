// Which packets of a flow have arrived, in whatever order.
#pragma once

#include <cstdint>
#include <vector>

namespace remy_plus::fabric {

class Arrivals {
 public:
  std::uint32_t expected() const { return expected_; }          // all before it have arrived
  std::uint32_t out_of_order() const { return out_of_order_; }  // packets beyond it

  bool has(std::uint32_t packet) const {
    return packet < expected_ || (packet < end_ && (word(packet) >> (packet & 63) & 1));
  }

  // False if it had arrived before.
  bool add(std::uint32_t packet) {
    if (packet == expected_ && out_of_order_ == 0) {
      ++expected_;
      return true;
    }
    if (has(packet)) return false;
    reach(packet);
    words_[place(packet)] |= std::uint64_t{1} << (packet & 63);
    ++out_of_order_;
    while (expected_ < end_ && (word(expected_) >> (expected_ & 63) & 1)) {
      words_[place(expected_)] &= ~(std::uint64_t{1} << (expected_ & 63));
      ++expected_;
      --out_of_order_;
    }
    return true;
  }

  // A bit for each of the 64 packets from `base` on.
  std::uint64_t map(std::uint32_t base) const {
    std::uint64_t found = 0;
    for (std::uint32_t i = 0; i < 64; ++i) found |= std::uint64_t{has(base + i)} << i;
    return found;
  }

  void release() { words_ = {}; }

 private:
  std::size_t place(std::uint32_t packet) const { return (packet >> 6) & (words_.size() - 1); }
  std::uint64_t word(std::uint32_t packet) const { return words_[place(packet)]; }

  // Words from that of `expected_` to that of `packet` have places of their own.
  void reach(std::uint32_t packet) {
    const std::size_t span = (packet >> 6) - (expected_ >> 6) + 1;
    if (span > words_.size()) {
      std::size_t capacity = words_.empty() ? 2 : words_.size();
      while (capacity < span) capacity *= 2;
      std::vector<std::uint64_t> words(capacity, 0);
      if (!words_.empty() && end_ > 0)
        for (std::uint32_t i = expected_ >> 6; i <= (end_ - 1) >> 6; ++i)
          words[i & (capacity - 1)] = words_[i & (words_.size() - 1)];
      words_.swap(words);
    }
    if (packet >= end_) end_ = packet + 1;
  }

  std::vector<std::uint64_t> words_;  // a power of two of them; those without a packet under way are 0
  std::uint32_t expected_ = 0, end_ = 0, out_of_order_ = 0;
};

}  // namespace remy_plus::fabric
