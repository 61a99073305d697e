// Rings and pools of what is under way, against a deque and a set.
#include "remy_plus/fabric/ring.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <set>

#include "remy_plus/core/random.hpp"
#include "remy_plus/fabric/parts/pool.hpp"

namespace remy_plus::fabric {
namespace {

TEST(Ring, AppendsInOrderWhicheverIsLonger) {
  Ring<int> ring, other;
  std::deque<int> expected;
  std::uint64_t draw = 1;
  for (int round = 0, next = 0; round < 2000; ++round) {
    draw = mix64(draw + 1);
    for (std::uint64_t i = 0; i < draw % 13; ++i) {
      other.push(next);
      expected.push_back(next++);
    }
    ring.append(other);
    EXPECT_TRUE(other.empty());
    for (std::uint64_t i = 0; i < (draw >> 8) % 14 && !ring.empty(); ++i) {
      EXPECT_EQ(ring.front(), expected.front());
      ring.pop();
      expected.pop_front();
    }
    ASSERT_EQ(ring.size(), expected.size());
    for (std::size_t i = 0; i < ring.size(); ++i) ASSERT_EQ(ring[i], expected[i]);
  }
}

TEST(Pool, GivesNoNumberTwice) {
  Pool<std::uint64_t> pool;
  pool.divide(3);
  std::set<std::uint64_t> held;
  std::uint64_t draw = 1, most = 0;
  for (int round = 0; round < 20000; ++round) {
    draw = mix64(draw + 1);
    if (draw % 5 < 3 || held.empty()) {
      const std::uint64_t number = pool.take(draw >> 8 & 1);  // the third part only gives back
      ASSERT_TRUE(held.insert(number).second);
      pool[number] = number;
      most = std::max(most, number);
    } else {
      const auto at = held.lower_bound((draw >> 16) % (most + 1));
      const std::uint64_t number = at == held.end() ? *held.begin() : *at;
      ASSERT_EQ(pool[number], number);
      held.erase(number);
      pool.give_back(2, number);
    }
  }
  for (const std::uint64_t number : held) ASSERT_EQ(pool[number], number);
  EXPECT_LT(most, held.size() + 1000);  // what one part gives back is taken by others
}

}  // namespace
}  // namespace remy_plus::fabric
