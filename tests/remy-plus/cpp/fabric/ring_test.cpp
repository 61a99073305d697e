#include "remy_plus/fabric/ring.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "remy_plus/core/random.hpp"

namespace remy_plus::fabric {
namespace {

TEST(Ring, HoldsWhatAQueueHolds) {
  Ring<std::uint64_t> ring;
  std::deque<std::uint64_t> queue;
  std::uint64_t draw = 1;
  for (int step = 0; step < 100'000; ++step) {
    draw = mix64(draw + 1);
    if (draw % 1000 == 0) {
      Ring<std::uint64_t> moved = std::move(ring);
      ring = std::move(moved);
    }
    if (draw % 16 < 8 || queue.empty()) {
      ring.push(draw);
      queue.push_back(draw);
    } else if (draw % 16 < 15) {
      ASSERT_EQ(ring.front(), queue.front());
      ring.pop();
      queue.pop_front();
    } else {
      ASSERT_EQ(ring.take_back(), queue.back());
      queue.pop_back();
    }
    ASSERT_EQ(ring.size(), queue.size());
  }
  for (std::size_t i = 0; i < queue.size(); ++i) ASSERT_EQ(ring[i], queue[i]);
}

// What rings had as they grew serves others, too: so there are more places than rings, but no more with every round.
TEST(Ring, GivesItsMemoryBackWhateverItsSize) {
  constexpr std::size_t count = 500, rounds = 20;
  std::set<const void*> places;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<Ring<std::uint64_t>> rings(count);
    for (std::size_t i = 1; i < count; ++i) {
      for (std::size_t k = 0; k < i; ++k) rings[i].push(k);
      places.insert(&rings[i].front());
    }
  }
  EXPECT_LT(places.size(), 3 * count);
}

}  // namespace
}  // namespace remy_plus::fabric
