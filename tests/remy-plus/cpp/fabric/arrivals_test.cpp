// Receivers that reorder, against a set of what has arrived.
#include "remy_plus/fabric/spraying/arrivals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

using remy_plus::fabric::Arrivals;

namespace {

// The same with a set.
struct Plain {
  std::set<std::uint32_t> arrived;
  std::uint32_t expected = 0;

  bool add(std::uint32_t packet) {
    const bool fresh = arrived.insert(packet).second;
    while (arrived.count(expected)) ++expected;
    return fresh;
  }
  std::uint32_t out_of_order() const { return static_cast<std::uint32_t>(arrived.size()) - expected; }
  std::uint64_t map(std::uint32_t base) const {
    std::uint64_t found = 0;
    for (std::uint32_t i = 0; i < 64; ++i) found |= std::uint64_t{arrived.count(base + i)} << i;
    return found;
  }
};

TEST(Arrivals, AreThoseOfASetInAnyOrder) {
  for (const std::uint32_t reach : {1u, 3u, 60u, 64u, 65u, 700u, 20000u}) {
    std::mt19937 random(reach);
    Arrivals arrivals;
    Plain plain;
    for (int i = 0; i < 40000; ++i) {
      // What is expected, a duplicate of what came, or one ahead by so many at most.
      const std::uint32_t kind = random() % 8;
      const std::uint32_t packet = kind < 3                          ? plain.expected
                                   : kind == 3 && plain.expected > 0 ? random() % plain.expected
                                                                     : plain.expected + random() % reach;
      ASSERT_EQ(arrivals.has(packet), plain.arrived.count(packet) == 1);
      ASSERT_EQ(arrivals.add(packet), plain.add(packet));
      ASSERT_EQ(arrivals.expected(), plain.expected);
      ASSERT_EQ(arrivals.out_of_order(), plain.out_of_order());
      if (i % 16 == 0) {
        const std::uint32_t base = plain.expected - std::min(plain.expected, 70u) + random() % (reach + 100);
        ASSERT_EQ(arrivals.map(base), plain.map(base));
      }
    }
    EXPECT_GT(plain.expected, 10000u);
  }
}

}  // namespace
