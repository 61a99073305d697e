#include "remy_plus/batch/observers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

}  // namespace remy_plus
