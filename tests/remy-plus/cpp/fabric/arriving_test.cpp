// What a receiver knows of its flows, against a count over all of them.
#include "remy_plus/fabric/hosts/arriving.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace remy_plus::fabric {
namespace {

TEST(Arriving, CountsFlowsWithLessLeftAndEarlierOnesWithAsMuch) {
  std::mt19937 random(7);
  std::vector<Flow> flows(40);
  Arriving arriving;
  const auto ahead = [&](std::size_t i) {
    std::uint32_t count = 0;
    for (std::size_t j = 0; j < flows.size(); ++j)
      count += flows[j].arriving && (flows[j].left < flows[i].left || (flows[j].left == flows[i].left && j < i));
    return count;
  };
  for (int step = 0; step < 20'000; ++step) {
    const auto number = static_cast<std::uint32_t>(random() % flows.size());
    if (random() % 5 == 0)
      arriving.forget(number, flows[number]);
    else
      arriving.see(number, flows[number], static_cast<std::uint16_t>(random() % 8));  // many ties
    std::uint32_t there = 0;
    for (std::uint32_t i = 0; i < flows.size(); ++i) {
      there += flows[i].arriving;
      if (flows[i].arriving) ASSERT_EQ(arriving.standing(i, flows[i]).rank, ahead(i)) << step;
    }
    ASSERT_EQ(arriving.standing(number, flows[number]).flows, there);
  }
}

}  // namespace
}  // namespace remy_plus::fabric
