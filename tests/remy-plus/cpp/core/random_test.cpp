#include "remy_plus/core/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace remy_plus {
namespace {

TEST(Stream, IsAFunctionOfItsKey) {
  Stream one(1, 2, Component::loss, 3, 4), same(1, 2, Component::loss, 3, 4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.next(), same.next());
}

TEST(Stream, EveryPartOfTheKeyCounts) {
  std::set<std::uint64_t> first;
  std::size_t keys = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (std::uint64_t network = 0; network < 4; ++network)
      for (Component component : {Component::first_on, Component::on_time, Component::off_time, Component::loss})
        for (std::uint64_t sender = 0; sender < 4; ++sender)
          for (std::uint64_t flow = 0; flow < 4; ++flow, ++keys)
            first.insert(Stream(seed, network, component, sender, flow).next());
  EXPECT_EQ(first.size(), keys);
}

TEST(Stream, UniformsHaveTheMomentsOfUniforms) {
  constexpr int count = 100000;
  Stream stream(7, 0, Component::on_time, 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double u = stream.uniform();
    ASSERT_GT(u, 0);
    ASSERT_LE(u, 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / count, 1.0 / 2, 0.004);  // 4 standard errors
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.004);
}

TEST(Stream, ExponentialsHaveTheirMean) {
  constexpr int count = 100000;
  Stream stream(8, 0, Component::on_time, 0);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += stream.exponential(5);
  EXPECT_NEAR(sum / count, 5, 5 * 4 / std::sqrt(count));
}

TEST(PortableLog, IsTheLogarithm) {
  EXPECT_EQ(portable_log(1), 0);
  Stream stream(9, 0, Component::on_time, 0);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(stream.uniform(), -(i % 50));
    const double expected = std::log(x);
    ASSERT_LE(std::abs(portable_log(x) - expected), 1e-15 * std::abs(expected)) << x;
  }
}

}  // namespace
}  // namespace remy_plus
