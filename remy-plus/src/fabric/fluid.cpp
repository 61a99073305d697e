#include "remy_plus/fabric/fluid.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <utility>

namespace remy_plus::fabric {

namespace {

// Whose links serve one flow at a time.
struct Scheduled {
  bool senders = false, receivers = false;

  bool any() const { return senders || receivers; }
};

constexpr double unending = std::numeric_limits<double>::infinity();

// Bertsekas and Gallager, Data Networks, section 6.5.2: the link that gives each of its flows least is filled, its
// flows are fixed, and so on with what they leave. Where hosts schedule, a link of theirs serves the flow with the
// fewest bits left alone; the next one takes part from when that one's rate is fixed, with what it leaves.
class Filling {
 public:
  Filling(const std::vector<Fluid>& fluids, const std::vector<double>& gbps, Scheduled scheduled)
      : fluids_(fluids),
        gbps_(gbps),
        scheduled_(scheduled),
        left_(gbps.size()),
        open_(gbps.size()),
        on_(gbps.size()),
        waiting_(gbps.size()),
        rate_(fluids.size()) {}

  void fill(const std::vector<std::uint32_t>& active, const std::vector<double>& bits) {
    begin(active, bits);
    while (!least_.empty()) {
      const auto [share, link] = least_.top();
      least_.pop();
      if (open_[link] == 0 || share != this->share(link)) continue;  // told anew since
      const std::vector<std::uint32_t> those = on_[link];
      for (const std::uint32_t number : those)
        if (rate_[number] < 0) fix(number, share, link);
      open_[link] = 0;
      for (const std::uint32_t number : those) take_part_after(number);
    }
  }

  double rate(std::uint32_t number) const { return rate_[number]; }

 private:
  using Told = std::pair<double, std::uint32_t>;

  double share(std::uint32_t link) const { return std::max(left_[link], 0.0) / open_[link]; }

  void begin(const std::vector<std::uint32_t>& active, const std::vector<double>& bits) {
    for (const std::uint32_t link : used_) {
      on_[link].clear();
      waiting_[link].clear();
      open_[link] = 0;
    }
    used_.clear();
    order_ = active;
    if (scheduled_.any())
      std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return bits[a] < bits[b]; });
    for (const std::uint32_t number : order_) {
      rate_[number] = waits;
      for (const std::uint32_t link : fluids_[number].links) left_[link] = gbps_[link];
      for_scheduled(number, [&](std::uint32_t link) { waiting_[link].push_back(number); });
    }
    for (const std::uint32_t number : order_) take_part(number);
    for (const std::uint32_t link : used_) least_.push({share(link), link});
  }

  // The links of a flow whose hosts serve one flow at a time.
  template <class Do>
  void for_scheduled(std::uint32_t number, const Do& act) const {
    const auto& links = fluids_[number].links;
    if (scheduled_.senders) act(links.front());
    if (scheduled_.receivers && (!scheduled_.senders || links.size() > 1)) act(links.back());
  }

  // A flow that is the first at its scheduled links is filled from now on; returns whether it is.
  bool take_part(std::uint32_t number) {
    bool first = rate_[number] == waits;
    for_scheduled(number, [&](std::uint32_t link) { first = first && waiting_[link].front() == number; });
    if (!first) return false;
    rate_[number] = open;
    for (const std::uint32_t link : fluids_[number].links) {
      on_[link].push_back(number);
      if (open_[link]++ == 0) used_.push_back(link);
    }
    return true;
  }

  // A flow is fixed: those behind it may be the first now.
  void take_part_after(std::uint32_t number) {
    for_scheduled(number, [&](std::uint32_t link) {
      auto& queue = waiting_[link];
      while (!queue.empty() && rate_[queue.front()] >= 0) queue.pop_front();
      if (queue.empty() || !take_part(queue.front())) return;
      for (const std::uint32_t each : fluids_[queue.front()].links) least_.push({share(each), each});
    });
  }

  void fix(std::uint32_t number, double rate, std::uint32_t full) {
    rate_[number] = rate;
    for (const std::uint32_t link : fluids_[number].links) {
      left_[link] -= rate;
      if (link != full && --open_[link] > 0) least_.push({share(link), link});
    }
  }

  static constexpr double waits = -2, open = -1;  // of rates that are not fixed

  const std::vector<Fluid>& fluids_;
  const std::vector<double>& gbps_;
  Scheduled scheduled_;
  std::vector<double> left_;                        // Gb/s of each link that are not taken
  std::vector<std::uint32_t> open_;                 // flows on each link that are filled
  std::vector<std::vector<std::uint32_t>> on_;      // flows on each link, but for those that wait
  std::vector<std::deque<std::uint32_t>> waiting_;  // flows at scheduled links that are not fixed, in their order
  std::vector<std::uint32_t> used_;                 // links with flows
  std::vector<double> rate_;                        // below 0: not fixed
  std::vector<std::uint32_t> order_;
  std::priority_queue<Told, std::vector<Told>, std::greater<>> least_;
};

// Shortest remaining processing time first (Schrage 1968), greedy over links: equally short ones in their order.
class ShortestFirst {
 public:
  ShortestFirst(const std::vector<Fluid>& fluids, const std::vector<double>& gbps, Scheduled)
      : fluids_(fluids), gbps_(gbps), left_(gbps.size()), rate_(fluids.size()) {}

  void fill(const std::vector<std::uint32_t>& active, const std::vector<double>& bits) {
    order_ = active;
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return bits[a] < bits[b]; });
    for (const std::uint32_t number : order_)
      for (const std::uint32_t link : fluids_[number].links) left_[link] = gbps_[link];
    for (const std::uint32_t number : order_) {
      double rate = unending;
      for (const std::uint32_t link : fluids_[number].links) rate = std::min(rate, left_[link]);
      for (const std::uint32_t link : fluids_[number].links) left_[link] -= rate;
      rate_[number] = rate;
    }
  }

  double rate(std::uint32_t number) const { return rate_[number]; }

 private:
  const std::vector<Fluid>& fluids_;
  const std::vector<double>& gbps_;
  std::vector<double> left_;          // Gb/s of each link that are not taken
  std::vector<double> rate_;          // 0 for those that wait
  std::vector<std::uint32_t> order_;  // of the flows
};

template <class Rates>
std::vector<double> ends_of(const std::vector<Fluid>& fluids, const std::vector<double>& gbps, double horizon,
                            Scheduled scheduled = {}) {
  std::vector<double> ends(fluids.size(), unending), left;
  for (const Fluid& each : fluids) left.push_back(each.bits);
  Rates rates(fluids, gbps, scheduled);
  std::vector<std::uint32_t> active;
  double now = 0;
  const auto end_of = [&](std::uint32_t number) {
    const double rate = rates.rate(number);
    return rate > 0 ? now + left[number] / rate : unending;
  };
  for (std::uint32_t next = 0; next < fluids.size() || !active.empty();) {
    double event = next < fluids.size() ? fluids[next].start : unending;
    for (const std::uint32_t number : active) event = std::min(event, end_of(number));
    if (event > horizon || event == unending) break;
    for (const std::uint32_t number : active) {
      const double end = end_of(number);
      if (end <= event) ends[number] = end;
      left[number] -= rates.rate(number) * (event - now);
    }
    active.erase(std::remove_if(active.begin(), active.end(), [&](std::uint32_t i) { return ends[i] <= event; }),
                 active.end());
    now = event;
    while (next < fluids.size() && fluids[next].start <= now) active.push_back(next++);
    rates.fill(active, left);
  }
  return ends;
}

}  // namespace

std::vector<double> fluid_ends(const std::vector<Fluid>& fluids, const std::vector<double>& gbps, double horizon,
                               Sharing sharing) {
  if (sharing == Sharing::srpt) return ends_of<ShortestFirst>(fluids, gbps, horizon);
  const bool both = sharing == Sharing::srpt_hosts;
  return ends_of<Filling>(fluids, gbps, horizon,
                          {both || sharing == Sharing::srpt_senders, both || sharing == Sharing::srpt_receivers});
}

}  // namespace remy_plus::fabric
