// Receivers that grant credit.
#include "remy_plus/fabric/spraying/credit.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace remy_plus::fabric;

namespace {

constexpr double gbps = 100;
constexpr std::int64_t spare_bytes = 200 * 256;

// Grants in turn, in quanta, of receivers whose flow was satisfied `times` times and then wants no more.
std::vector<std::int64_t> idle_grants(bool asks, int times) {
  UetParameters parameters;
  parameters.asks = asks;
  Granter granter;
  granter.start(parameters, gbps, 4150, spare_bytes);
  Granting granting;
  std::vector<std::int64_t> found;
  const auto of = [&](std::uint32_t) -> Granting& { return granting; };
  const auto act = [&](Time now) {
    const std::int64_t before = granting.granted;
    granter.act(now, of, [&](std::uint32_t, const Granting& g) { found.push_back(g.granted - before); });
  };
  Time now = 0;
  for (int i = 0; i < times; ++i) {
    granter.want(0, granting, granting.granted + 1, false, now);
    now = granter.next();
    act(now);
  }
  found.clear();
  for (int i = 0; i < 10 * times && granter.next() != never; ++i) act(granter.next());
  return found;
}

TEST(Granter, GivesAFlowThatIsSatisfiedItsSpareOnceHoweverOftenItWas) {
  const std::vector<std::int64_t> spare(4, 64);  // until it has 200 quanta beyond what it wants
  EXPECT_EQ(idle_grants(true, 1), spare);
  EXPECT_EQ(idle_grants(true, 10), spare);
  EXPECT_GT(idle_grants(false, 10).size(), spare.size());  // as uet-htsim
}

TEST(Granter, TakesTheTimeOfWhatItGrants) {
  for (const auto& [wants, quanta] : {std::pair{1, 1}, std::pair{3, 3}, std::pair{0, 4}, std::pair{100, 64}}) {
    UetParameters parameters;
    Granter granter;
    granter.start(parameters, gbps, 4150, 0);
    Granting granting;
    granter.want(0, granting, wants, true, 0);
    granter.act(0, [&](std::uint32_t) -> Granting& { return granting; }, [](std::uint32_t, const Granting&) {});
    EXPECT_EQ(granter.next(), quanta * 20'686) << wants;  // 256 bytes at 99 Gb/s, ps
  }
}

TEST(Asking, HoldsTimeAndTargetThatWrap) {
  for (const Time sent : {Time{0}, Time{1} << 40, (Time{1} << 55) + 12'345})
    for (const std::int64_t granted : {std::int64_t{0}, (std::int64_t{1} << 24) - 1, std::int64_t{1} << 36})
      for (const std::int64_t more : {-(1 << 23), -1, 0, 1, (1 << 23) - 1})
        for (const Time after : {Time{0}, Time{1}, (Time{1} << 40) - 1}) {
          const std::uint64_t asking = Asking::of(sent, granted + more);
          EXPECT_EQ(Asking::sent_at(asking, sent + after), sent);
          EXPECT_EQ(Asking::wanted(asking, granted), granted + more);
        }
}

TEST(Credit, IsToldAsAShareOfTheMost) {
  EXPECT_EQ((Credit{2'500, 10'000}.share()), 0.25);
  EXPECT_EQ((Credit{-1, 10'000}.share()), 0);
  EXPECT_EQ(Credit{}.share(), 0);
}

TEST(Credit, OfASenderThatOverdrewItIsNotForgiven) {
  for (const std::int64_t bytes : {-4000, 0, 4000}) {
    Credit credit{bytes, 10'000};
    credit.hear(true);
    EXPECT_EQ(credit.bytes, std::min<std::int64_t>(bytes, 0));
    EXPECT_FALSE(credit.speculating);
  }
}

}  // namespace
