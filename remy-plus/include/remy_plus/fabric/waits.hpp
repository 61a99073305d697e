// Flows that wait for others: a flow begins some time after the last one of a set is over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

// What others wait for: that a flow begins, that its last byte is received, or that its sender knows of that.
enum class Moment : std::uint8_t { begun, received, acknowledged };
inline constexpr std::size_t moments = 3;

struct Awaited {
  std::uint32_t flow;
  Moment moment;
};

// All of them.
using FlowSet = std::vector<Awaited>;

struct Reached {
  std::uint32_t flow;
  Moment moment;
  Time at;
};

// A host knows at once what is over at itself; of others it hears after `notice`. So sets whose flows are all over at
// one host are counted there for the flows that begin there, by the thread that has it, and all others between windows.
class Waits {
 public:
  // Throws std::invalid_argument where a flow waits for a set that is not there, or that has it.
  Waits(const std::vector<FlowStart>& flows, const std::vector<FlowSet>& sets, Time notice) : notice_(notice) {
    for (std::uint32_t i = 0; i < flows.size(); ++i) {
      require(flows[i], i, sets);
      starts_.push_back({flows[i].start, flows[i].off});
    }
    std::vector<std::vector<std::uint32_t>> waiting(sets.size());
    for (std::uint32_t i = 0; i < flows.size(); ++i)
      if (flows[i].after >= 0) waiting[static_cast<std::size_t>(flows[i].after)].push_back(i);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const int host = host_of(sets[i], flows);
      const auto split = std::stable_partition(waiting[i].begin(), waiting[i].end(),
                                               [&](std::uint32_t flow) { return flows[flow].src == host; });
      add(sets[i], host, {waiting[i].begin(), split});
      add(sets[i], -1, {split, waiting[i].end()});
    }
    list_members(flows.size());
  }

  // Whether flows wait for this.
  bool any(const Reached& end) const {
    return first_[place(end.flow, end.moment)] < first_[place(end.flow, end.moment) + 1];
  }

  // At the host where a flow is over. Calls begin(flow, start) for those that begin there; what others wait for is
  // added to `heard`.
  template <class Begin>
  void reach(const Reached& end, std::vector<Reached>& heard, const Begin& begin) {
    bool elsewhere = false;
    each_set(end, [&](Set& set) {
      if (set.host < 0)
        elsewhere = true;
      else if (count(set, end.at))
        for (const std::uint32_t flow : set.waiting) begin(flow, start(flow, set.over, 0));
    });
    if (elsewhere) heard.push_back(end);
  }

  // Between windows, of what was added to `heard`.
  template <class Begin>
  void hear(const Reached& end, const Begin& begin) {
    each_set(end, [&](Set& set) {
      if (set.host < 0 && count(set, end.at))
        for (const std::uint32_t flow : set.waiting) begin(flow, start(flow, set.over, notice_));
    });
  }

 private:
  struct Set {
    std::uint32_t left;  // flows that are not over
    Time over = 0;       // when the last one was
    int host;            // where all are over, and those that wait begin; below 0: at several
    std::vector<std::uint32_t> waiting;
  };
  struct Start {
    Time earliest, off;
  };

  static void require(const FlowStart& flow, std::uint32_t number, const std::vector<FlowSet>& sets) {
    const bool possible =
        flow.after < static_cast<int>(sets.size()) && flow.off >= 0 && flow.off <= latest_start &&
        (flow.after < 0 || std::ranges::count(sets[static_cast<std::size_t>(flow.after)], number, &Awaited::flow) == 0);
    if (!possible)
      throw std::invalid_argument("flow " + std::to_string(number) + ": must wait for flows that there are");
  }

  static int host_of(const FlowSet& set, const std::vector<FlowStart>& flows) {
    int host = -1;
    for (const Awaited& awaited : set) {
      const FlowStart& flow = flows.at(awaited.flow);
      const int at = awaited.moment == Moment::received ? flow.dst : flow.src;
      if (host >= 0 && at != host) return -1;
      host = at;
    }
    if (host < 0) throw std::invalid_argument("sets: every one needs a flow");
    return host;
  }

  void add(const FlowSet& set, int host, std::vector<std::uint32_t> waiting) {
    members_.push_back(waiting.empty() ? nullptr : &set);
    sets_.push_back({static_cast<std::uint32_t>(set.size()), 0, host, std::move(waiting)});
  }

  // By flow and moment, the sets that wait for it.
  void list_members(std::size_t flows) {
    first_.assign(moments * flows + 1, 0);
    const auto each = [&](const auto& see) {
      for (std::uint32_t i = 0; i < sets_.size(); ++i)
        if (const FlowSet* set = members_[i])
          for (const Awaited& each : *set) see(place(each.flow, each.moment), i);
    };
    each([&](std::size_t at, std::uint32_t) { ++first_[at + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    waited_by_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    each([&](std::size_t at, std::uint32_t set) { waited_by_[next[at]++] = set; });
    members_ = {};
  }

  static std::size_t place(std::uint32_t flow, Moment moment) {
    return moments * std::size_t{flow} + static_cast<std::size_t>(moment);
  }

  template <class See>
  void each_set(const Reached& end, const See& see) {
    const std::size_t at = place(end.flow, end.moment);
    for (std::uint32_t i = first_[at]; i < first_[at + 1]; ++i) see(sets_[waited_by_[i]]);
  }

  // Whether all flows of the set are over now.
  static bool count(Set& set, Time at) {
    set.over = std::max(set.over, at);
    return --set.left == 0;
  }

  Time start(std::uint32_t flow, Time over, Time notice) const {
    const Time off = std::max(starts_[flow].off, notice);
    return std::max(starts_[flow].earliest, over > never - off ? never : over + off);
  }

  Time notice_;
  std::vector<Start> starts_;  // (flows,)
  std::vector<Set> sets_;
  std::vector<const FlowSet*> members_;  // of each, while they are listed; null: nobody waits for it
  std::vector<std::uint32_t> first_;     // (flows × moments + 1,) in waited_by_
  std::vector<std::uint32_t> waited_by_;
};

}  // namespace remy_plus::fabric
