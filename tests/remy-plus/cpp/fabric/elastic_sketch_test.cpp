// A sketch of one bucket, by hand.
#include "remy_plus/fabric/counters/elastic_sketch.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace remy_plus::fabric {
namespace {

using Found = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

TEST(ElasticSketch, BytesOfAFlowThatLeavesItsBucketAreKept) {
  ElasticSketch sketch(1, 1024, 8);
  sketch.insert(1, 100);
  sketch.insert(2, 700);
  EXPECT_EQ(sketch.flows(), (Found{{1, 100}}));
  sketch.insert(2, 100);  // eight times as much
  EXPECT_EQ(sketch.flows(), (Found{{2, 800}}));
  sketch.insert(1, 6400);
  EXPECT_EQ(sketch.flows(), (Found{{1, 6500}}));
  EXPECT_NEAR(sketch.small_flows(), 2, 0.01);
  sketch.reset();
  EXPECT_TRUE(sketch.flows().empty() && sketch.small_flows() == 0);
}

TEST(ElasticSketch, WhatCannotBeIsRefused) {
  EXPECT_THROW(ElasticSketch(0, 1, 8), std::invalid_argument);
  EXPECT_THROW(ElasticSketch(1, 0, 8), std::invalid_argument);
}

}  // namespace
}  // namespace remy_plus::fabric
