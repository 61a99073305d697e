#include "remy_plus/batch/observers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "remy_plus/workload/plan.hpp"

namespace remy_plus {
namespace {

// The smallest value with at least a share `p` of the values at or below it.
double quantile(std::vector<float>::iterator begin, std::vector<float>::iterator end, double p) {
  const auto n = static_cast<double>(end - begin);
  if (n == 0) return std::nan("");
  const auto rank = static_cast<std::ptrdiff_t>(std::max(std::ceil(p * n) - 1, 0.0));
  std::nth_element(begin, begin + rank, end);
  return begin[rank];
}

}  // namespace

void DelayObserver::clear() {
  delays_.clear();
  queues_.assign(queues_.size(), 0);
}

void DelayObserver::fill(TrialTotals& totals, std::vector<Flow>& flows) {
  sorted_.resize(delays_.size());
  std::vector<std::size_t> next(flows.size() + 1, 0);
  for (std::size_t i = 0; i < flows.size(); ++i) next[i + 1] = next[i] + flows[i].delivered - flows[i].acks_dropped;
  std::vector<std::size_t> begin = next;
  for (const Delay& d : delays_) sorted_[next[d.flow]++] = d.value;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto from = sorted_.begin() + static_cast<std::ptrdiff_t>(begin[i]);
    const auto to = sorted_.begin() + static_cast<std::ptrdiff_t>(begin[i + 1]);
    flows[i].delay_p50 = quantile(from, to, 0.5);
    flows[i].delay_p99 = quantile(from, to, 0.99);
  }
  constexpr double wanted[5] = {0.5, 0.9, 0.95, 0.99, 0.999};
  for (int i = 0; i < 5; ++i) totals.delay_quantiles[i] = quantile(sorted_.begin(), sorted_.end(), wanted[i]);
  const double all = static_cast<double>(std::accumulate(queues_.begin(), queues_.end(), std::uint64_t{0}));
  double seen = 0;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    seen += static_cast<double>(queues_[q]);
    if (seen >= 0.99 * all) {
      totals.queue_p99 = static_cast<double>(q);
      break;
    }
  }
}

void PhaseObserver::begin(const Network& network, std::uint64_t seed, double duration, double round_trip) {
  struct Change {
    double time;
    bool comes;
    std::uint32_t sender;
  };
  std::vector<Change> changes;
  for (const PlannedFlow& flow : planned_flows(network, seed, duration)) {
    if (flow.length > 0) throw std::invalid_argument("phases need flows that end by time");
    if (flow.start < duration) changes.push_back({flow.start, true, flow.sender});
    if (flow.end < duration) changes.push_back({flow.end, false, flow.sender});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  senders_.assign(static_cast<std::size_t>(network.senders), {});
  pieces_.assign(1, {-never, Phase::steady});
  lead_ = round_trip - 0.5 / network.link_rate;
  at_ = 0;
  std::vector<std::uint32_t> on;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& [time, comes, sender] = changes[i];
    const double until = i + 1 < changes.size() ? changes[i + 1].time : duration;
    if (comes)
      on.push_back(sender);
    else
      on.erase(std::find(on.begin(), on.end(), sender));
    const std::size_t first = pieces_.size();
    pieces_.push_back({time, comes ? Phase::started : Phase::ended});
    pieces_.push_back({time + first_round_trips * round_trip, comes ? Phase::starting : Phase::ending});
    pieces_.push_back({time + next_round_trips * round_trip, Phase::settling});
    pieces_.push_back({time + settling_round_trips * round_trip, Phase::steady});
    while (pieces_.size() > first + 1 && pieces_.back().begin >= until) pieces_.pop_back();
    for (std::size_t p = first; p < pieces_.size(); ++p) {
      const double end = p + 1 < pieces_.size() ? pieces_[p + 1].begin : until;
      const double each = (end - pieces_[p].begin) / static_cast<double>(on.size());
      for (const std::uint32_t s : on) senders_[s].share[static_cast<std::size_t>(pieces_[p].phase)] += each;
    }
  }
  pieces_.push_back({never, Phase::steady});
}

}  // namespace remy_plus
