// What a selective sender remembers of the packets that it has sent and that are not acknowledged in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "remy_plus/fabric/ring.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

struct Sent {
  Time at = 0;                          // the last time
  std::uint32_t bytes = 0;              // on the wire
  std::uint8_t times = 0, entropy = 0;  // the last one
  bool under_way = false;               // neither acknowledged nor known to be lost
  bool arrived = false;

  bool is_lost() const { return !under_way && !arrived; }  // and not sent again yet
};

class UnderWay {
 public:
  Sent& operator[](std::uint32_t packet) { return sent_[packet & (sent_.size() - 1)]; }
  bool knows(std::uint32_t packet) const { return packet >= begin_ && packet < end_; }
  std::uint32_t end() const { return end_; }

  // A packet is sent, as the next one or again.
  Sent& send(std::uint32_t packet, std::uint32_t bytes, std::uint8_t entropy, Time now) {
    if (packet == end_) {
      if (end_ - begin_ == sent_.size()) grow();
      ++end_;
      (*this)[packet] = {};
    }
    Sent& sent = (*this)[packet];
    sent.at = now;
    sent.bytes = bytes;
    sent.entropy = entropy;
    sent.under_way = true;
    if (sent.times < 255) ++sent.times;
    order_.push({packet, now});
    return sent;
  }

  // All before `packet` have arrived.
  void forget_before(std::uint32_t packet) { begin_ = std::max(begin_, packet); }

  // Takes the packet for lost: it is to be sent again. Of those, the first in order goes first.
  void lose(std::uint32_t packet) {
    (*this)[packet].under_way = false;
    again_.insert(std::upper_bound(again_.begin(), again_.end(), packet, std::greater<>()), packet);
  }
  bool lost_any() {
    while (!again_.empty() && (!knows(again_.back()) || (*this)[again_.back()].arrived)) again_.pop_back();
    return !again_.empty();
  }
  std::uint32_t first_lost() const { return again_.back(); }
  void take_first_lost() { again_.pop_back(); }

  // The packet that has been under way for longest; false if there is none.
  bool oldest(std::uint32_t& packet) {
    while (!order_.empty()) {
      const Order& first = order_.front();
      if (knows(first.packet)) {
        const Sent& sent = (*this)[first.packet];
        if (sent.under_way && sent.at == first.at) {
          packet = first.packet;
          return true;
        }
      }
      order_.pop();
    }
    return false;
  }

  // No longer looks for what oldest() found, unless it is sent again.
  void pass_oldest() { order_.pop(); }

  void release() {
    sent_ = std::vector<Sent>(1);
    order_ = {};
    again_ = {};
    begin_ = end_;
  }

 private:
  struct Order {
    std::uint32_t packet;
    Time at;
  };

  void grow() {
    std::vector<Sent> larger(sent_.size() * 2);
    for (std::uint32_t i = begin_; i != end_; ++i) larger[i & (larger.size() - 1)] = (*this)[i];
    sent_.swap(larger);
  }

  std::vector<Sent> sent_ = std::vector<Sent>(1);  // a power of two
  std::uint32_t begin_ = 0, end_ = 0;
  Ring<Order> order_;                 // of sending
  std::vector<std::uint32_t> again_;  // falling
};

}  // namespace remy_plus::fabric
