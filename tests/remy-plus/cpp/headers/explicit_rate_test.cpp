#include "remy_plus/headers/explicit_rate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace remy_plus {
namespace {

constexpr double capacity = 2, rtt = 10;  // packets/µs, µs: a link holds 20 packets

TEST(Intervals, FollowEachOtherAtTheMeanRtt) {
  Intervals intervals(capacity, rtt, 0);
  EXPECT_FALSE(intervals.ended(9.999));
  EXPECT_TRUE(intervals.ended(10));
  intervals.set_rtt(30);
  EXPECT_TRUE(intervals.ended(10));  // the one that runs keeps its length
  intervals.next();
  EXPECT_FALSE(intervals.ended(39.999));
  EXPECT_EQ(intervals.empty_before(160), 3);  // from 40 on, before the last one that ends by 160
  intervals.next(3);
  EXPECT_FALSE(intervals.ended(159.999));
  EXPECT_TRUE(intervals.ended(160));
}

// --- RCP

TEST(FairRate, ChangesByTheEquationAtTheEndOfAnInterval) {
  FairRate rate(rcp_gains, capacity, rtt);
  for (int i = 0; i < 14; ++i) rate.arrive(0.5 * i, 1, 0, nullptr);
  rate.arrive(9.5, 1, 3, nullptr);  // 4 packets are there at 9.5, of which one is served until 10
  EXPECT_EQ(rate.read(9.999), capacity);
  const double aim = 0.95 * capacity, traffic = 1.5, queue = 3;
  const double factor = 1 + (0.4 * (aim - traffic) - 1 * queue / rtt) / aim;
  EXPECT_NEAR(rate.read(10), capacity * factor, 1e-12);
}

TEST(FairRate, AShorterIntervalChangesItByItsShare) {
  RateGains gains = rcp_gains;
  gains.interval = 2;
  FairRate rate(gains, capacity, rtt);
  for (int i = 0; i < 6; ++i) rate.arrive(0.3 * i, 1, 0, nullptr);
  const double aim = 0.95 * capacity;  // 1 packet of the last one's is served until 2, and nothing waits
  EXPECT_NEAR(rate.read(2), capacity * (1 + 0.2 * (0.4 * (aim - 3) - (1 - 1.0) / rtt) / aim), 1e-12);
}

TEST(FairRate, FollowsTheRttsThatPacketsTell) {
  FairRate rate(rcp_gains, capacity, rtt);
  const Told told{4, 60};
  for (int i = 0; i < 25; ++i) rate.arrive(0.2 * i, 1, 0, &told);
  const double mean = 60 - 50 * std::pow(0.98, 25), aim = 0.95 * capacity;
  const double first = capacity * (1 + rtt / mean * 0.4 * (aim - 2.5) / aim);
  EXPECT_NEAR(rate.read(rtt + mean - 1e-6), first, 1e-12);
  EXPECT_NEAR(rate.read(rtt + mean + 1e-6), std::min(capacity, first * 1.4), 1e-9);
}

TEST(FairRate, HalvesAtMostAndStaysInItsRange) {
  FairRate rate(rcp_gains, capacity, rtt);
  double before = capacity;
  for (int i = 0; i < 40; ++i) {
    rate.arrive(rtt * i + 1, 1, 1e6, nullptr);
    const double now = rate.read(rtt * (i + 1));
    EXPECT_GE(now, before / 2 - 1e-15) << i;
    EXPECT_GE(now, 1e-4 * capacity) << i;
    before = now;
  }
  EXPECT_EQ(before, 1e-4 * capacity);
  EXPECT_EQ(rate.read(1e9), capacity);  // nothing came since
}

TEST(FairRate, DoesNotDependOnWhenItIsRead) {
  FairRate often(rcp_gains, capacity, rtt), seldom(rcp_gains, capacity, rtt);
  double now = 0;
  for (const double pause : {1.0, 3.0, 7.0, 250.0, 0.5, 40.0, 9.0, 1000.0, 2.0}) {
    for (double end = now + pause; now < end; now += 0.125) often.read(now);
    const Told told{4, 12};
    for (FairRate* each : {&often, &seldom}) each->arrive(now, 1, pause < 5 ? 6 : 0, &told);
    EXPECT_EQ(often.read(now), seldom.read(now)) << now;
  }
}

// --- XCP

struct Flow {
  double window;
  int packets;  // in an interval
};

// What each flow's window changes by in the interval after one with these packets, all with the same queue before them.
std::map<double, double> changes(const std::vector<Flow>& flows, double queue, int times = 1) {
  XcpFeedback xcp(xcp_gains, capacity, rtt);
  int count = 0, sent = 0;
  for (const Flow& flow : flows) count += flow.packets;
  for (const Flow& flow : flows) {
    const Told told{flow.window, rtt};
    for (int i = 0; i < flow.packets; ++i) xcp.arrive(rtt * sent++ / count, 1, queue, &told);
  }
  std::map<double, double> found;
  for (const Flow& flow : flows) {
    const Told told{flow.window, rtt};
    for (int i = 0; i < times * flow.packets; ++i) found[flow.window] += xcp.read(1.5 * rtt, 1, &told) - 1;
  }
  return found;
}

double sum(const std::map<double, double>& found) {
  double total = 0;
  for (const auto& [window, change] : found) total += change;
  return total;
}

const std::vector<Flow> few{{2, 2}, {3, 3}, {4, 4}, {5, 5}}, many{{4, 4}, {11, 11}, {15, 15}};

TEST(XcpFeedback, RaisesAllFlowsAlikeByWhatIsSpare) {
  const auto found = changes(few, 0);
  for (const auto& [window, change] : found) EXPECT_NEAR(change, 0.4 * (20 - 14) / 4, 1e-12) << window;
}

TEST(XcpFeedback, LowersFlowsInProportionToTheirPackets) {
  const double aggregate = 0.4 * (20 - 30) - 0.226 * 5;
  for (const auto& [window, change] : changes(many, 5)) EXPECT_NEAR(change, aggregate * window / 30, 1e-12) << window;
}

TEST(XcpFeedback, ShufflesATenthOfTheTrafficOfAFullLink) {
  const auto found = changes({{2, 2}, {6, 6}, {12, 12}}, 0);
  EXPECT_NEAR(sum(found), 0, 1e-12);
  for (const auto& [window, change] : found) EXPECT_NEAR(change, 2.0 / 3 - 2 * window / 20, 1e-12) << window;
}

TEST(XcpFeedback, GivesNoMoreThanAnIntervalHas) {
  EXPECT_NEAR(sum(changes(few, 0, 3)), 0.4 * (20 - 14), 1e-12);
  EXPECT_NEAR(sum(changes(many, 5, 3)), 0.4 * (20 - 30) - 0.226 * 5, 1e-12);
}

TEST(XcpFeedback, KeepsWindowsOfWhichNothingIsKnown) {
  XcpFeedback xcp(xcp_gains, capacity, rtt);
  const Told new_flow{4, 0}, no_window{0, rtt};
  for (int i = 0; i < 100; ++i)
    for (const Told* told : {static_cast<const Told*>(nullptr), &new_flow, &no_window}) {
      xcp.arrive(i, 1, 50, told);
      EXPECT_EQ(xcp.read(i, 1, told), 1) << i;
    }
}

TEST(XcpFeedback, NeverSaysThatItIsNotKnown) {
  XcpFeedback xcp(xcp_gains, capacity, rtt);
  const Told told{1, 1000 * rtt};
  xcp.arrive(0, 1, 1e6, &told);
  EXPECT_EQ(xcp.read(1000 * rtt, 1, &told), XcpFeedback::least);
}

// --- what a sender tells

TEST(Told, AWindowIsNoLargerThanWhatPacingAllows) {
  EXPECT_EQ(told_by(12, 0, rtt).window, 12);
  EXPECT_EQ(told_by(1e18, 2, rtt).window, rtt / 2);
  EXPECT_EQ(told_by(1e18, 2 * rtt, rtt).window, 1);
  EXPECT_EQ(told_by(3, 2, rtt).window, 3);
  EXPECT_EQ(told_by(12, 5, 0).window, 12);  // the RTT is not known yet
}

}  // namespace
}  // namespace remy_plus
