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
  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }

  void push(std::uint64_t key, std::uint32_t flow) { waiting_.emplace(key, flow); }
  std::pair<std::uint64_t, std::uint32_t> take() {
    const auto next = waiting_.top();
    waiting_.pop();
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
  static constexpr int place_bits = 32;

  using Entry = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting_;
  std::uint64_t served_ = 0, tickets_ = 0;
  std::uint32_t places_ = 0;
};

}  // namespace remy_plus::fabric
