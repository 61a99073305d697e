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

}  // namespace
}  // namespace remy_plus::fabric
