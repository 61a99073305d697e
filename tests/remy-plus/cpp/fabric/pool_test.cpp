// Pools of what is under way, against a set.
#include "remy_plus/fabric/parts/pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "remy_plus/core/random.hpp"

namespace remy_plus::fabric {
namespace {

TEST(Pool, GivesNoNumberTwice) {
  Pool<std::uint64_t> pool;
  pool.divide(3);
  std::set<std::uint64_t> held;
  std::uint64_t draw = 1, most = 0;
  for (int round = 0; round < 20000; ++round) {
    draw = mix64(draw + 1);
    if (draw % 5 < 3 || held.empty()) {
      const std::uint64_t number = pool.take(draw >> 8 & 1);  // the third thread only gives back
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
  EXPECT_LT(most, held.size() + 1000);  // what one thread gives back is taken by others
}

}  // namespace
}  // namespace remy_plus::fabric
