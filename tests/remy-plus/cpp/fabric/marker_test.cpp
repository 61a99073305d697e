// Markers of ports: parameters are those of the port's rate, and may change while it runs.
#include "remy_plus/fabric/marker.hpp"

#include <gtest/gtest.h>

namespace remy_plus::fabric {
namespace {

bool marks(AnyMarker& marker, std::int64_t queued, Draws& draws) {
  const Sight sight{0, 0, queued, 1048, 0, 100};
  return std::visit([&](auto& each) { return each.marks(sight, draws); }, marker);
}

TEST(FabricMarker, ThresholdsGoWithTheRateOfThePort) {
  Draws draws(1);
  AnyMarker slow = marker_of(Step::Parameters{1000}, 50);
  EXPECT_FALSE(marks(slow, 500, draws));
  EXPECT_TRUE(marks(slow, 501, draws));
}

TEST(FabricMarker, ParametersOfOnePortMayChangeBetweenPackets) {
  Draws draws(1);
  AnyMarker one = marker_of(Red::Parameters{1000, 1000, 1}, 100), other = one;
  std::get<Red>(one).parameters = {5000, 5000, 1};
  EXPECT_FALSE(marks(one, 2000, draws));
  EXPECT_TRUE(marks(other, 2000, draws));
}

TEST(FabricMarker, WhatCannotBeIsRefused) {
  EXPECT_THROW((Red::Parameters{2, 1, 1}.require()), std::invalid_argument);
  EXPECT_THROW((Red::Parameters{1, 2, 2}.require()), std::invalid_argument);
  EXPECT_THROW((Step::Parameters{-1}.require()), std::invalid_argument);
}

// Trials at a port whose queue goes with what is tried; returns what is tried after them.
QueueAdjuster::Line after_trials(const QueueAdjuster::Parameters& given, double queue_of_a_mark, int trials) {
  QueueAdjuster adjuster;
  QueueAdjuster::Line line{given.slope, given.kmin};
  for (Time now = 0; now <= trials * 4 * 401 * microsecond; now += microsecond) {
    const double marks = line.slope * 1e6 - line.kmin / 1e6;
    const auto queued = static_cast<std::int64_t>(200'000 + queue_of_a_mark * marks);
    line = adjuster.see({now, 0, queued, 1000, 0, 100}, given, true);
  }
  return line;
}

TEST(QueueAdjuster, GoesToMoreMarksWhereTheyShortenTheQueue) {
  const QueueAdjuster::Parameters given;
  const auto line = after_trials(given, -100'000, 2);
  EXPECT_NEAR(line.slope, given.slope + 3 * given.slope_step, 1e-12);  // two steps, and the next trial's first
  EXPECT_EQ(line.kmin, given.kmin);
}

TEST(QueueAdjuster, RaisesKminWhereTheSlopeIsTheLeast) {
  const QueueAdjuster::Parameters given;
  const auto line = after_trials(given, 100'000, 5);
  EXPECT_EQ(line.slope, given.least_slope);
  EXPECT_EQ(line.kmin, given.kmin + 2 * given.kmin_step);  // two steps of the slope, three of kmin, and one tried back
}

TEST(QueueAdjuster, GoesToFewerMarksWhereTheyCostThroughput) {
  const QueueAdjuster::Parameters given;
  QueueAdjuster adjuster;
  QueueAdjuster::Line line{given.slope, given.kmin};
  for (Time now = 0; now <= 4 * 401 * microsecond; now += microsecond)
    line = adjuster.see({now, 0, 0, line.slope > given.slope ? 1000 : 5000, 0, 100}, given, true);
  EXPECT_NEAR(line.slope, given.slope, 1e-12);  // a step down, and the next trial's up
}

TEST(Pie, GoesByTheDelayOfTheLastUpdate) {
  Pie::Parameters given;
  given.burst = 0;
  given.alpha = 0.15 * 2048 / given.target;  // twice the target gives a probability of 0.15 at once
  given.beta = 0;
  Pie pie(given);
  Draws draws(1);
  const auto queued = static_cast<std::int64_t>(2 * given.target * 100 / 8000);
  int marks = 0;
  for (int i = 0; i <= 1000; ++i) {  // one update, after which the delay before it is still 0
    const auto now = static_cast<Time>(i == 0 ? 0 : given.update + i);
    marks += pie.marks({now, 0, i == 0 ? 2 * queued - queued / 2 : queued, 1000, 0, 100}, draws);
  }
  EXPECT_NEAR(marks, 150, 60);
}

TEST(FabricMarker, WhatItHasSeenStaysWithItsKind) {
  AnyMarker marker = marker_of(Codel::Parameters{}, 100);
  Draws draws(1);
  const auto waits = [&](double us) {
    return std::visit(
        [&](auto& each) {
          return each.marks({static_cast<Time>(us * microsecond), 50 * microsecond, 10'000, 1000, 0, 100}, draws);
        },
        marker);
  };
  EXPECT_FALSE(waits(1));
  set_marker(marker, Codel::Parameters{20e6, 150e6}, 100);
  const AnyMarker copy = marker;
  EXPECT_TRUE(waits(152));
  marker = copy;
  EXPECT_TRUE(waits(153));  // a copy has a state of its own
  set_marker(marker, Step::Parameters{1e6}, 100);
  EXPECT_FALSE(waits(154));
}

}  // namespace
}  // namespace remy_plus::fabric
