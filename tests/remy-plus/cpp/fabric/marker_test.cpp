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

}  // namespace
}  // namespace remy_plus::fabric
