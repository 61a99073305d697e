// Flows that may send, and whose turn it is: that of the least key, of the lowest number among equals.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace remy_plus::fabric {

class Turns {
 public:
  bool empty() const { return first_.first == nobody; }
  std::size_t size() const { return empty() ? 0 : 1 + others_.size(); }

  void push(std::uint64_t key, std::uint32_t flow) {
    Entry entry{key, flow};
    if (empty()) {
      first_ = entry;
      return;
    }
    if (entry < first_) std::swap(entry, first_);
    others_.push(entry);
  }
  std::pair<std::uint64_t, std::uint32_t> take() {
    const Entry next = first_;
    if (others_.empty()) {
      first_.first = nobody;
    } else {
      first_ = others_.top();
      others_.pop();
    }
    return next;
  }

  // --- keys of turns by rotation

  // A place behind those of all flows that came before.
  std::uint32_t place() { return ++places_; }
  // Of a flow with a place: it is served after those between who was served last and itself, round after round.
  std::uint64_t around(std::uint32_t place) const {
    const std::uint64_t round = served_ >> place_bits, last = served_ & ((std::uint64_t{1} << place_bits) - 1);
    return (place > last ? round : round + 1) << place_bits | place;
  }
  void serve(std::uint64_t key) { served_ = key; }
  // Behind all that wait.
  std::uint64_t behind() { return ++tickets_; }

 private:
  using Entry = std::pair<std::uint64_t, std::uint32_t>;

  static constexpr int place_bits = 32;
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};

  Entry first_{nobody, 0};  // apart: most hosts have one flow that may send
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> others_;
  std::uint64_t served_ = 0, tickets_ = 0;
  std::uint32_t places_ = 0;
};

}  // namespace remy_plus::fabric
