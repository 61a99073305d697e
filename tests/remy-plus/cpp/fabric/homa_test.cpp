// Homa's rules for a run, against what they are for: classes in proportion to bytes, as many bytes in each.
#include "remy_plus/fabric/homa/homa.hpp"

#include <gtest/gtest.h>

#include <array>

namespace remy_plus::fabric {
namespace {

constexpr Time rtt = 8 * microsecond;
constexpr double gbps = 10;  // times rtt: 10,000 bytes

Settings settings_of(int priorities) {
  Settings settings;
  settings.payload = 1000;
  settings.overhead = 0;
  settings.priorities = priorities;
  return settings;
}

std::vector<Flow> messages(const std::vector<std::uint64_t>& sizes) {
  std::vector<Flow> flows;
  for (const std::uint64_t size : sizes) {
    Flow& flow = flows.emplace_back();
    flow.size = size;
    flow.payload = 1000;
    flow.packets = static_cast<std::uint32_t>((size + 999) / 1000);
    flow.line_gbps = gbps;
    flow.base_rtt = rtt;
  }
  return flows;
}

template <class T>
HomaParameters with(T HomaParameters::* member, T value) {
  HomaParameters parameters;
  parameters.*member = value;
  return parameters;
}

struct Planned {
  Homa homa;
  Planned(const std::vector<Flow>& flows, int priorities, const HomaParameters& parameters = {})
      : homa(Frame{}, parameters) {
    homa.plan(flows, settings_of(priorities));
  }
};

TEST(Homa, AWindowIsTheBandwidthDelayProduct) {
  const auto flows = messages({500, 9'500, 1'000'000});
  EXPECT_EQ(Planned(flows, 8).homa.window(flows[2]), 10u);
  EXPECT_EQ(Planned(flows, 8, with(&HomaParameters::rtt_bdps, 2.5)).homa.window(flows[2]), 25u);
  EXPECT_EQ(Planned(flows, 8, with(&HomaParameters::rtt_bytes, 9'700.0)).homa.window(flows[2]), 10u);
  EXPECT_EQ(Planned(flows, 8, with(&HomaParameters::unscheduled_share, 0.5)).homa.unscheduled(flows[2]), 5u);
  EXPECT_EQ(Planned(flows, 8, with(&HomaParameters::unscheduled_share, 0.0)).homa.unscheduled(flows[2]), 1u);
  EXPECT_EQ(Planned(flows, 8).homa.unscheduled(flows[0]), 1u);
}

TEST(Homa, ClassesAreSharedAsBytesAre) {
  // 10,000 bytes of each go unasked.
  const std::array<std::pair<std::uint64_t, int>, 5> granted{
      {{1'000'000, 7}, {80'000, 7}, {40'000, 6}, {20'000, 4}, {10'000, 1}}};
  for (const auto& [size, classes] : granted)
    EXPECT_EQ(Planned(messages({size, size, size}), 8).homa.overcommitment(), classes) << size;
  EXPECT_EQ(Planned(messages({20'000}), 4).homa.overcommitment(), 2);
  EXPECT_EQ(Planned(messages({20'000}), 1).homa.overcommitment(), 1);
  EXPECT_EQ(Planned(messages({20'000}), 8, with(&HomaParameters::overcommitment, 3)).homa.overcommitment(), 3);
}

TEST(Homa, ClassesOfSizesHaveAsManyBytesEach) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 10; size <= 9'000; size += 10) sizes.push_back(size);
  const auto flows = messages(sizes);
  const Planned planned(flows, 8);
  std::array<double, 8> bytes{};
  std::uint8_t before = 0;
  for (const Flow& flow : flows) {
    const std::uint8_t level = planned.homa.unscheduled_level(flow);
    EXPECT_GE(level, before);
    before = level;
    bytes[level] += static_cast<double>(flow.size);
  }
  const double all = 10 * 900 * 901 / 2.0;
  for (int level = 0; level < 7; ++level) EXPECT_NEAR(bytes[static_cast<std::size_t>(level)], all / 7, 9'000);
  EXPECT_EQ(bytes[7], 0);  // of granted data
}

TEST(Homa, GrantedMessagesHaveTheLowestClasses) {
  const Planned planned(messages({20'000}), 8);  // 4 to 7
  EXPECT_EQ(planned.homa.scheduled_level(0, 1), 7);
  EXPECT_EQ(planned.homa.scheduled_level(0, 2), 6);
  EXPECT_EQ(planned.homa.scheduled_level(1, 2), 7);
  EXPECT_EQ(planned.homa.scheduled_level(0, 4), 4);
  const Planned over(messages({20'000}), 8, with(&HomaParameters::overcommitment, 6));
  EXPECT_EQ(over.homa.scheduled_level(0, 6), 4);
  EXPECT_EQ(over.homa.scheduled_level(2, 6), 4);
  EXPECT_EQ(over.homa.scheduled_level(3, 6), 5);
  const Planned one(messages({20'000}), 1);
  EXPECT_EQ(one.homa.scheduled_level(0, 1), 0);
  EXPECT_EQ(one.homa.unscheduled_level(messages({20'000})[0]), 0);
}

}  // namespace
}  // namespace remy_plus::fabric
