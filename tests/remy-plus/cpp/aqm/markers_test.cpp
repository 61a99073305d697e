#include "remy_plus/aqm/markers.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace remy_plus {
namespace {

// What every marker has to keep, asked of some of each kind.
template <class M>
std::vector<M> some();
template <>
std::vector<StepMarker> some() {
  return {{1}, {17.5}, StepMarker::of({}, 2, 50), StepMarker::of({}, 1e-3, 1)};
}
template <>
std::vector<SlopeMarker> some() {
  return {{5, 200, 0.01}, {20, 20, 1}, {1, 1e9, 1}, {3, 4, 0}};
}

template <class M>
class Markers : public testing::Test {};
using Kinds = testing::Types<StepMarker, SlopeMarker>;
TYPED_TEST_SUITE(Markers, Kinds);

TYPED_TEST(Markers, SayProbabilitiesThatDoNotFallAsTheQueueGrows) {
  static_assert(Marker<TypeParam>);
  for (const TypeParam& marker : some<TypeParam>()) {
    double enqueue = 0, dequeue = 0;
    for (const double waiting : {0.0, 1.0, 2.0, 3.5, 17.0, 17.5, 18.0, 20.0, 199.0, 1e3, 1e8, 1e10}) {
      const double now[2] = {marker.on_enqueue(waiting), marker.on_dequeue(waiting)};
      for (const double p : now) EXPECT_TRUE(0 <= p && p <= 1) << waiting;
      EXPECT_GE(now[0], enqueue) << waiting;
      EXPECT_GE(now[1], dequeue) << waiting;
      enqueue = now[0], dequeue = now[1];
    }
  }
}

TYPED_TEST(Markers, LeaveAnEmptyQueueAloneAndMarkAnEndlessOne) {
  for (const TypeParam& marker : some<TypeParam>()) {
    EXPECT_EQ(marker.on_enqueue(0), 0);
    EXPECT_EQ(marker.on_dequeue(0), 0);
    EXPECT_EQ(std::max(marker.on_enqueue(1e12), marker.on_dequeue(1e12)), 1);
  }
}

TEST(StepMarker, TakesTheModelsThresholdOrDctcps) {
  EXPECT_EQ(StepMarker::of({}, 2, 100).above, 0.17 * 2 * 100);
  EXPECT_EQ(StepMarker::of({}, 0.1, 10).above, 1);  // at least one packet
  Model model;
  model.mark_above = 0.5;
  EXPECT_EQ(StepMarker::of(model, 2, 100).above, 0.5);
  EXPECT_EQ(StepMarker{3}.on_enqueue(3), 0);  // beyond, not at
  EXPECT_EQ(StepMarker{3}.on_dequeue(4), 1);
}

TEST(SlopeMarker, RisesInALineAndRefusesNonsense) {
  const SlopeMarker marker{10, 30, 0.5};
  EXPECT_EQ(marker.on_enqueue(10), 0);
  EXPECT_EQ(marker.on_enqueue(20), 0.25);
  EXPECT_EQ(marker.on_enqueue(30), 1);
  EXPECT_THROW((SlopeMarker{30, 10, 1}.check()), std::invalid_argument);
  EXPECT_THROW((SlopeMarker{1, 2, 1.5}.check()), std::invalid_argument);
}

}  // namespace
}  // namespace remy_plus
