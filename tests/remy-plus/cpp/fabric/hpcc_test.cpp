#include "remy_plus/fabric/transport/hpcc.hpp"

#include <gtest/gtest.h>

namespace {

using namespace remy_plus::fabric;

// The hash of a way says nothing of its length: stamps beyond the count are those of whichever packet had the storage.
TEST(Hpcc, ComparesNoStampsOfWaysOfDifferentLengths) {
  Frame frame;
  frame.base_rtt = 13 * microsecond;
  Hpcc hpcc(frame, {});
  hpcc.reserve(1);
  Flow flow;
  flow.size = 1'000'000;
  flow.payload = 1000;
  flow.line_gbps = flow.gbps = 100;
  hpcc.start(0, flow);
  const auto acknowledge = [&](std::uint64_t packet, std::uint32_t hops) {
    Stack stack;
    stack.way = 7;
    stack.count = hops;
    const auto ns = static_cast<std::uint32_t>(1000 * packet);
    for (Stamp& stamp : stack.stamps) stamp = {ns, 2 * ns * 100 / 8 / 512, 500, 100};  // twice what the link carries
    hpcc.on_ack(0, flow, {ns * nanosecond, 1000 * packet, 1000 * packet + 50'000, 0, 0, 0, &stack, nullptr});
  };
  acknowledge(1, 1);
  acknowledge(2, 2);
  EXPECT_EQ(flow.gbps, 100);
  acknowledge(3, 2);
  EXPECT_LT(flow.gbps, 99);
}

}  // namespace
