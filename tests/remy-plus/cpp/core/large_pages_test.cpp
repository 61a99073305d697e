#include "remy_plus/core/large_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace remy_plus;

struct alignas(128) Wide {
  std::uint64_t number = 7;
};

// From blocks that are cut from a page to some that take several.
TEST(LargePages, VectorsOfAllSizesHoldWhatIsPutIntoThem) {
  for (const std::size_t count : {1u, 3u, 100u, 8191u, 8192u, 8193u, 50'000u}) {
    std::vector<Wide, LargePages<Wide>> wide(count), other(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.data()) % alignof(Wide), 0u);
    for (std::size_t i = 0; i < count; ++i) wide[i].number = i;
    EXPECT_TRUE(std::ranges::all_of(other, [](const Wide& each) { return each.number == 7; }));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(wide[i].number, i);
  }
}

// So that memory does not grow from trial to trial, whose threads begin and end.
TEST(LargePages, WhatAThreadGaveBackServesTheNext) {
  using Block = std::vector<std::uint64_t, LargePages<std::uint64_t>>;
  std::set<const void*> places[2];
  for (auto& own : places) {
    std::thread([&] {
      std::vector<Block> blocks;
      for (int i = 0; i < 1000; ++i) own.insert(blocks.emplace_back(32).data());
    }).join();
  }
  EXPECT_EQ(places[0].size(), 1000u);
  EXPECT_EQ(places[0], places[1]);
}

}  // namespace
