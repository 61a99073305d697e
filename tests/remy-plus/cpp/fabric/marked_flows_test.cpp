// Flows with marks, counted by hand.
#include "remy_plus/fabric/windowed/marked_flows.hpp"

#include <gtest/gtest.h>

namespace remy_plus::fabric {
namespace {

TEST(MarkedFlows, AFlowCountsForSoLongAfterItsLatestMark) {
  MarkedFlows flows;
  EXPECT_EQ(flows.add(1, 0, 100), 1u);
  EXPECT_EQ(flows.add(2, 40, 100), 2u);
  EXPECT_EQ(flows.add(1, 60, 100), 2u);
  EXPECT_EQ(flows.add(3, 139, 100), 3u);
  EXPECT_EQ(flows.add(3, 140, 100), 2u);  // 1 and 3
  EXPECT_EQ(flows.add(2, 159, 100), 3u);
  EXPECT_EQ(flows.add(2, 160, 100), 2u);  // 2 and 3
  EXPECT_EQ(flows.add(4, 10'000, 100), 1u);
}

TEST(MarkedFlows, AFlowThatHasEndedDoesNotCount) {
  MarkedFlows flows;
  flows.add(1, 0, 100);
  EXPECT_EQ(flows.add(2, 10, 100), 2u);
  flows.forget(1);
  flows.forget(7);
  EXPECT_EQ(flows.add(2, 20, 100), 1u);
  EXPECT_EQ(flows.add(1, 30, 100), 2u);
}

TEST(RoundedCount, IsExactWhereSmallAndNeverTooLarge) {
  for (std::size_t count = 1; count <= 600'000; ++count) {
    const std::uint8_t code = RoundedCount::code(count);
    const std::size_t read = RoundedCount::count(code);
    ASSERT_NE(code, 0);
    ASSERT_LE(read, count);
    if (count <= 32) {
      ASSERT_EQ(read, count);
    }
    if (count < std::size_t{32} << 14) {
      ASSERT_GT(read * 17, count * 16);
    }
  }
  EXPECT_EQ(RoundedCount::count(RoundedCount::code(100)), 100u);
  EXPECT_EQ(RoundedCount::count(RoundedCount::code(1000)), 992u);
  EXPECT_EQ(RoundedCount::count(255), 31u << 14);
}

}  // namespace
}  // namespace remy_plus::fabric
