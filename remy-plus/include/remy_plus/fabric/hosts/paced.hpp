// Flows that wait for their pace. The first few are looked at one by one: their times move with every ACK.
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

  // A flow waits until its next_send. It is looked at when that was, if it is later by then.
  void add(std::uint32_t number) {
    Flow& flow = flows_[number];
    const Due due{flow.next_send, number};
    if (flow.paced <= due.first) return;
    const bool waits = flow.paced != never;
    flow.paced = due.first;
    if (Due* const at = waits ? find(number) : nullptr) {
      *at = due;
    } else if (!waits && count_ < few_.size()) {
      few_[count_++] = due;
    } else {
      others_.push(due);
    }
  }

  // It waits no more.
  void remove(std::uint32_t number) {
    if (flows_[number].paced == never) return;
    flows_[number].paced = never;
    if (Due* const at = find(number)) *at = few_[--count_];
  }

  // When the next one is due.
  Time next() const {
    Time found = others_.empty() ? never : others_.top().first;
    for (std::size_t i = 0; i < count_; ++i) found = std::min(found, few_[i].first);
    return found;
  }

  // Calls release(flow) for those that are due, by time and number; it may add them again.
  template <class Release>
  void release(Time now, const Release& release) {
    for (std::size_t i = 0; i < count_;) {
      if (few_[i].first > now) {
        ++i;
        continue;
      }
      due_.push_back(few_[i]);
      few_[i] = few_[--count_];
    }
    while (!others_.empty() && others_.top().first <= now) {
      if (flows_[others_.top().second].paced == others_.top().first) due_.push_back(others_.top());
      others_.pop();
    }
    if (due_.size() > 1) std::ranges::sort(due_);
    for (const auto& [at, number] : due_) {
      flows_[number].paced = never;
      release(number);
    }
    due_.clear();
  }

 private:
  using Due = std::pair<Time, std::uint32_t>;

  Due* find(std::uint32_t number) {
    for (std::size_t i = 0; i < count_; ++i)
      if (few_[i].second == number) return &few_[i];
    return nullptr;
  }

  std::span<Flow> flows_;
  std::array<Due, 6> few_;
  std::size_t count_ = 0;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> others_;
  std::vector<Due> due_;
};

}  // namespace remy_plus::fabric
