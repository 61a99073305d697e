// Flows that wait for their pace. The first few are looked at one by one, since their times move with every ACK.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "remy_plus/fabric/flow.hpp"

namespace remy_plus::fabric {

class Paced {
 public:
  explicit Paced(std::span<Flow> flows) : flows_(flows) {}

  // A flow waits until its next_send, which may have changed since it was added.
  void add(std::uint32_t number) {
    Flow& flow = flows_[number];
    if (flow.paced <= flow.next_send) return;
    if (flow.paced == never && count_ < few_.size()) {
      few_[count_++] = number;
      flow.paced = among_few;
      return;
    }
    flow.paced = flow.next_send;
    others_.push({flow.paced, number});
  }

  // When the next one is due.
  Time next() const {
    Time found = others_.empty() ? never : others_.top().first;
    for (std::size_t i = 0; i < count_; ++i) found = std::min(found, flows_[few_[i]].next_send);
    return found;
  }

  // Calls release(flow) for those that are due, by time and number; it may add them again.
  template <class Release>
  void release(Time now, const Release& release) {
    for (std::size_t i = 0; i < count_;) {
      if (flows_[few_[i]].next_send > now) {
        ++i;
        continue;
      }
      due_.push_back(few_[i]);
      few_[i] = few_[--count_];
    }
    while (!others_.empty() && others_.top().first <= now) {
      const auto [at, number] = others_.top();
      others_.pop();
      if (flows_[number].paced == at) due_.push_back(number);
    }
    if (due_.size() > 1) std::ranges::sort(due_, {}, [this](auto each) { return Due(flows_[each].next_send, each); });
    for (const std::uint32_t number : due_) {
      flows_[number].paced = never;
      release(number);
    }
    due_.clear();
  }

 private:
  using Due = std::pair<Time, std::uint32_t>;

  static constexpr Time among_few = -1;  // before all times

  std::span<Flow> flows_;
  std::array<std::uint32_t, 6> few_;
  std::size_t count_ = 0;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> others_;
  std::vector<std::uint32_t> due_;
};

}  // namespace remy_plus::fabric
