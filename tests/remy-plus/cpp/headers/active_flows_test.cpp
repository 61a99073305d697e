// Flows that packets make active, against a list of all packets.
#include "remy_plus/headers/active_flows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace remy_plus {
namespace {

struct Seen {
  double interval;
  std::uint64_t flow;
  double left;
};

// Of the packets so far, the latest of every flow in this interval or in the one before.
std::map<std::uint64_t, double> active(const std::vector<Seen>& seen) {
  std::map<std::uint64_t, double> found;
  for (const Seen& each : seen)
    if (each.interval >= seen.back().interval - 1) found[each.flow] = each.left;
  return found;
}

// Packets of so many flows, at random times with gaps of whole intervals.
template <class Check>
void pass(std::uint64_t flows, int packets, ActiveFlows& counted, Check check) {
  Stream draws(1, 2, Component::sampling, 3);
  std::vector<Seen> seen;
  double now = 0;
  for (int i = 0; i < packets; ++i) {
    now += draws.uniform() < 0.01 ? 25 * draws.uniform() : 0.1 * draws.uniform();
    const std::uint64_t flow = draws.next() % flows;
    const double left = draws.uniform() < 0.1 ? 0 : 1e6 * draws.uniform() * draws.uniform();
    seen.push_back({std::floor(now / 10), flow, left});
    counted.advance(now);
    counted.see(flow, left);
    check(active(seen), left);
  }
}

TEST(ActiveFlows, ExactCountsAreOfTwoIntervals) {
  ActiveFlows counted(0, false, 10);
  pass(50, 1000, counted, [&](const auto& known, double) { EXPECT_EQ(counted.flows(), known.size()); });
}

TEST(ActiveFlows, ExactRanksAreOfFlowsWithFewerBytes) {
  ActiveFlows counted(0, true, 10);
  pass(50, 1000, counted, [&](const auto& known, double left) {
    double fewer = 0;
    for (const auto& [flow, its] : known) fewer += its > 0 && its < left;
    EXPECT_EQ(counted.rank(left), fewer);
  });
}

TEST(ActiveFlows, AMapIsWithinFourStandardErrors) {
  ActiveFlows counted(256, false, 10);
  pass(300, 2000, counted, [&](const auto& known, double) {
    const double n = static_cast<double>(known.size()), t = n / 256;
    EXPECT_NEAR(counted.flows(), n, 4 * std::sqrt(256 * (std::exp(t) - t - 1)) + 0.5);
  });
}

TEST(ActiveFlows, AFullMapSaysMOfItsLogarithm) {
  ActiveFlows counted(64, false, 10);
  for (std::uint64_t flow = 0; flow < 10000; ++flow) counted.see(flow);
  EXPECT_NEAR(counted.flows(), 64 * std::log(64), 1e-9);
}

TEST(ActiveFlows, ManyCellsRankByPowersOfTwo) {
  ActiveFlows counted(1 << 20, true, 10);
  pass(50, 1000, counted, [&](const auto& known, double left) {
    double smaller = 0;
    for (const auto& [flow, its] : known) smaller += its > 0 && AgingBuckets::of(its) < AgingBuckets::of(left);
    EXPECT_EQ(counted.rank(left), smaller);
  });
}

TEST(ActiveFlows, FewCellsNeverCountMoreFlowsThanThereAre) {
  ActiveFlows counted(64, true, 10);
  pass(100, 2000, counted, [&](const auto& known, double left) {
    EXPECT_GE(counted.rank(left), 0);
    EXPECT_LE(counted.rank(left), std::min<double>(known.size(), 2 * 16));
  });
}

TEST(AgingBuckets, BucketsArePowersOfTwoFrom4KiB) {
  EXPECT_EQ(AgingBuckets::of(0), 0u);
  EXPECT_EQ(AgingBuckets::of(1), 1u);
  EXPECT_EQ(AgingBuckets::of(4095), 1u);
  EXPECT_EQ(AgingBuckets::of(4096), 2u);
  EXPECT_EQ(AgingBuckets::of(8192), 3u);
  EXPECT_EQ(AgingBuckets::of(1e30), AgingBuckets::count);
}

}  // namespace
}  // namespace remy_plus
