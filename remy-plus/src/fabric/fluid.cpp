#include "remy_plus/fabric/fluid.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace remy_plus::fabric {

namespace {

constexpr double unending = std::numeric_limits<double>::infinity();

// Bertsekas and Gallager, Data Networks, section 6.5.2: the link that gives each of its flows least is filled, its
// flows are fixed, and so on with what they leave.
class Filling {
 public:
  Filling(const std::vector<Fluid>& fluids, const std::vector<double>& gbps)
      : fluids_(fluids), gbps_(gbps), left_(gbps.size()), open_(gbps.size()), on_(gbps.size()), rate_(fluids.size()) {}

  void fill(const std::vector<std::uint32_t>& active, const std::vector<double>&) {
    begin(active);
    while (!least_.empty()) {
      const auto [share, link] = least_.top();
      least_.pop();
      if (open_[link] == 0 || share != this->share(link)) continue;  // told anew since
      for (const std::uint32_t number : on_[link])
        if (rate_[number] < 0) fix(number, share, link);
      open_[link] = 0;
    }
  }

  double rate(std::uint32_t number) const { return rate_[number]; }

 private:
  using Told = std::pair<double, std::uint32_t>;

  double share(std::uint32_t link) const { return std::max(left_[link], 0.0) / open_[link]; }

  void begin(const std::vector<std::uint32_t>& active) {
    for (const std::uint32_t link : used_) {
      on_[link].clear();
      open_[link] = 0;
    }
    used_.clear();
    for (const std::uint32_t number : active) {
      rate_[number] = -1;
      for (const std::uint32_t link : fluids_[number].links) {
        if (on_[link].empty()) used_.push_back(link);
        on_[link].push_back(number);
        ++open_[link];
      }
    }
    for (const std::uint32_t link : used_) {
      left_[link] = gbps_[link];
      least_.push({share(link), link});
    }
  }

  void fix(std::uint32_t number, double rate, std::uint32_t full) {
    rate_[number] = rate;
    for (const std::uint32_t link : fluids_[number].links) {
      if (link == full) continue;
      left_[link] -= rate;
      if (--open_[link] > 0) least_.push({share(link), link});
    }
  }

  const std::vector<Fluid>& fluids_;
  const std::vector<double>& gbps_;
  std::vector<double> left_;                    // Gb/s of each link that are not taken
  std::vector<std::uint32_t> open_;             // flows on each link whose rates are not fixed
  std::vector<std::vector<std::uint32_t>> on_;  // flows on each link
  std::vector<std::uint32_t> used_;             // links with flows
  std::vector<double> rate_;                    // below 0: not fixed
  std::priority_queue<Told, std::vector<Told>, std::greater<>> least_;
};

// Shortest remaining processing time first (Schrage 1968), greedy over links: equally short ones in their order.
class ShortestFirst {
 public:
  ShortestFirst(const std::vector<Fluid>& fluids, const std::vector<double>& gbps)
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
std::vector<double> ends_of(const std::vector<Fluid>& fluids, const std::vector<double>& gbps, double horizon) {
  std::vector<double> ends(fluids.size(), unending), left;
  for (const Fluid& each : fluids) left.push_back(each.bits);
  Rates rates(fluids, gbps);
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
  return sharing == Sharing::srpt ? ends_of<ShortestFirst>(fluids, gbps, horizon)
                                  : ends_of<Filling>(fluids, gbps, horizon);
}

}  // namespace remy_plus::fabric
