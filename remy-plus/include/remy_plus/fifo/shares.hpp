// Shares of time: ∫ dt / active senders, by which throughput is judged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "remy_plus/core/layout.hpp"
#include "remy_plus/core/network.hpp"

namespace remy_plus {

// One bottleneck: all senders share one clock, which runs at 1 / active senders.
class SharedClock {
 public:
  explicit SharedClock(const Network&) {}
  void settle(double now) {
    if (active_ > 0) clock_ += (now - since_) / active_;
    since_ = now;
  }
  void join(std::size_t) { ++active_; }
  void leave(std::size_t) { --active_; }
  double read(std::size_t) const { return clock_; }
  double at(std::size_t, double now) const { return active_ > 0 ? clock_ + (now - since_) / active_ : clock_; }

 private:
  int active_ = 0;
  double clock_ = 0;
  double since_ = 0;
};

// Many links: every measured sender has a clock, which runs at 1 / active senders on the most crowded link of its way
// forward. Senders that are not measured crowd links, but have no clock.
class PathClocks {
 public:
  explicit PathClocks(const Network& network)
      : layout_(*network.layout), active_(layout_.links.size()), crowd_(layout_.measured), clock_(layout_.measured) {}

  void settle(double now) {
    for (std::size_t i = 0; i < clock_.size(); ++i)
      if (crowd_[i] > 0) clock_[i] += (now - since_) / crowd_[i];
    since_ = now;
  }
  void join(std::size_t sender) { change(sender, 1); }
  void leave(std::size_t sender) { change(sender, -1); }
  double read(std::size_t sender) const { return sender < clock_.size() ? clock_[sender] : 0; }
  double at(std::size_t sender, double now) const {  // of a measured sender
    return crowd_[sender] > 0 ? clock_[sender] + (now - since_) / crowd_[sender] : clock_[sender];
  }

 private:
  void change(std::size_t sender, int by) {
    for (const std::uint32_t link : layout_.forward(sender)) active_[link] += by;
    for (std::size_t i = 0; i < crowd_.size(); ++i) {
      crowd_[i] = 0;
      for (const std::uint32_t link : layout_.forward(i)) crowd_[i] = std::max(crowd_[i], active_[link]);
    }
  }

  const Layout& layout_;
  std::vector<int> active_;    // senders, per link
  std::vector<int> crowd_;     // senders on the most crowded link, per measured sender
  std::vector<double> clock_;  // µs, per measured sender
  double since_ = 0;
};

}  // namespace remy_plus
