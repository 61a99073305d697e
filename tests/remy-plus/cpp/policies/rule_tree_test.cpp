#include "remy_plus/policies/rule_tree.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "remy_plus/core/random.hpp"

namespace remy_plus {
namespace {

const std::vector<Signal> axes = {rtt_ratio, send_ewma, queue};

Box whole() { return {{0, 0, 0}, {signal_ceiling, signal_ceiling, signal_ceiling}}; }

// Cuts random boxes in two at random places near the origin; every tenth cut leaves an empty box behind, as Remy's do.
std::vector<Box> random_boxes(Stream& random, int cuts) {
  std::vector<Box> boxes = {whole()};
  for (int i = 0; i < cuts; ++i) {
    const auto chosen = static_cast<std::size_t>(random.next() % boxes.size());
    const auto axis = static_cast<std::size_t>(random.next() % axes.size());
    Box& box = boxes[chosen];
    const double low = box.lower[axis], high = std::min(box.upper[axis], low + 4);
    const double cut = i % 10 == 9 ? low : low + (high - low) * random.uniform() / 2;
    Box above = box;
    box.upper[axis] = above.lower[axis] = cut;
    boxes.push_back(above);
  }
  return boxes;
}

std::uint32_t first_match(const std::vector<Box>& boxes, const Signals& signals) {
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    bool inside = true;
    for (std::size_t a = 0; a < axes.size(); ++a)
      inside &= boxes[i].lower[a] <= signals[axes[a]] && signals[axes[a]] < boxes[i].upper[a];
    if (inside) return i;
  }
  return UINT32_MAX;
}

TEST(RuleTree, FindsWhatASearchOfAllBoxesFinds) {
  Stream random(1, 0, Component::loss, 0);
  for (int table = 0; table < 30; ++table) {
    const std::vector<Box> boxes = random_boxes(random, 1 + 6 * table);
    const RuleTree tree(axes, boxes);
    for (int i = 0; i < 1000; ++i) {
      Signals signals{};
      for (Signal axis : axes) signals[axis] = random.uniform() * (i % 3 ? 8 : 2000);
      if (i % 4 == 0) {  // on an edge: lower bounds are inclusive, upper ones are not
        const Box& box = boxes[random.next() % boxes.size()];
        signals[axes[0]] = box.lower[0];
        signals[axes[1]] = std::min(box.upper[1], signal_ceiling - 1);
      }
      const std::uint32_t found = first_match(boxes, signals);
      ASSERT_EQ(tree.find(signals), found);
      for (std::uint32_t before = 0; before < boxes.size(); ++before) ASSERT_EQ(tree.find(signals, before), found);
    }
  }
}

TEST(RuleTree, TakesTheOneRuleWithVolumeWhateverWasBefore) {
  Box none = whole();
  none.upper[0] = 0;
  const RuleTree tree(axes, {none, whole(), none});
  const RuleTree again(tree.nodes(), tree.root(), 3);
  for (std::uint32_t before = 0; before < 3; ++before) {
    EXPECT_EQ(tree.find(Signals{}, before), 1u);
    EXPECT_EQ(again.find(Signals{}, before), 1u);
  }
}

TEST(RuleTree, RefusesDamagedTrees) {
  const std::vector<RuleTree::Node> twice = {{1, rtt_ratio, {1, 1}}, {2, rtt_ratio, {~0, ~1}}};
  EXPECT_THROW(RuleTree(twice, 0, 2), std::invalid_argument);
  EXPECT_THROW(RuleTree({{1, rtt_ratio, {~0, ~2}}}, 0, 2), std::invalid_argument);
  EXPECT_NO_THROW(RuleTree({{1, rtt_ratio, {~0, ~1}}}, 0, 2));
}

TEST(RuleTree, RefusesOverlapsAndGaps) {
  Box low = whole(), high = whole();
  low.upper[0] = 2;
  high.lower[0] = 1;
  EXPECT_THROW(RuleTree(axes, {low, high}), std::invalid_argument);
  high.lower[0] = 3;
  EXPECT_THROW(RuleTree(axes, {low, high}), std::invalid_argument);
  high.lower[0] = 2;
  EXPECT_NO_THROW(RuleTree(axes, {low, high}));
  EXPECT_THROW(RuleTree(axes, {whole(), whole()}), std::invalid_argument);
  EXPECT_THROW(RuleTree(axes, {}), std::invalid_argument);
}

}  // namespace
}  // namespace remy_plus
