#include "remy_plus/core/link_meter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "remy_plus/core/random.hpp"

namespace remy_plus {
namespace {

// Packets of the running tenth of the interval and the nine before it.
int in_window(const std::vector<double>& times, double bucket) {
  const double newest = std::floor(times.back() / bucket);
  int count = 0;
  for (double time : times) count += std::floor(time / bucket) >= newest - 9;
  return count;
}

TEST(LinkMeter, CountsTheWindowInBothWays) {
  constexpr double interval = 20, bucket = interval / 10, rate = 3;
  LinkMeter covered({interval, false}, rate), rplus({interval, true}, rate);
  Stream random(1, 0, Component::loss, 0);
  std::vector<double> times;
  double now = 0;
  for (int i = 0; i < 3000; ++i) {
    now += random.exponential(i % 50 ? 0.4 : 30);  // now and then a pause longer than the interval
    times.push_back(now);
    const int count = in_window(times, bucket);
    const double begin = std::max(std::floor(now / bucket) - 9, 0.0) * bucket;
    ASSERT_NEAR(rplus.count(now), count / interval / rate, 1e-12);
    ASSERT_NEAR(covered.count(now), std::min(1.0, count / std::max((now - begin) * rate, 1.0)), 1e-12);
  }
}

TEST(LinkMeter, ABusyLinkIsBusy) {
  constexpr double rate = 2.5;
  LinkMeter meter({10, false}, rate);
  for (int i = 0; i < 1000; ++i) EXPECT_NEAR(meter.count(i / rate), 1, 1e-9) << i;
}

TEST(LinkMeter, RPlusReportsTooLittleBeforeItsWindowIsFull) {
  constexpr double rate = 2;
  LinkMeter meter({10, true}, rate);
  EXPECT_DOUBLE_EQ(meter.count(0), 1 / 10.0 / rate);
  EXPECT_DOUBLE_EQ(meter.count(0.5), 2 / 10.0 / rate);
}

}  // namespace
}  // namespace remy_plus
