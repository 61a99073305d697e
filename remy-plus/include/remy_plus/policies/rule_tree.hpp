// Boxes of a rule table compiled into a binary decision tree: one comparison per level, no box tests.
#pragma once

#include <cstdint>
#include <vector>

#include "remy_plus/core/workload.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus {

// The domain of one rule: lower[i] <= signal of axis i < upper[i]. A box without volume never matches.
struct Box {
  std::vector<double> lower;
  std::vector<double> upper;
};

class RuleTree {
 public:
  // Throws std::invalid_argument when the boxes overlap or leave a part of the domain to no rule.
  RuleTree(const std::vector<Signal>& axes, const std::vector<Box>& boxes);

  // Index of the box that holds the signals.
  std::uint32_t find(const Signals& signals) const {
    std::int32_t at = root_;
    while (at >= 0) {
      const Node& node = nodes_[static_cast<std::size_t>(at)];
      if (signals[node.axis] >= node.cut)
        at = node.child[1];
      else
        at = node.child[0];
    }
    return static_cast<std::uint32_t>(~at);
  }

  // The same, with the rule that the sender had at its previous look, or any other: mostly it still holds. Processors
  // predict these comparisons well, and not the way down the tree, since senders take turns.
  [[gnu::always_inline]] std::uint32_t find(const Signals& signals, std::uint32_t before) const {
    const Side* side = sides_.data() + before * width_;
    for (std::size_t i = 0; i < width_; ++i, ++side)
      if (!(signals[side->axis] >= side->lower) || !(signals[side->axis] < side->upper)) return find(signals);
    return before;
  }

  struct Node {
    double cut;
    std::uint32_t axis;     // a Signal
    std::int32_t child[2];  // a node, or ~rule
  };

  // The compiled form, to be sent to another process; `root` is a node or ~rule.
  RuleTree(std::vector<Node> nodes, std::int32_t root, std::size_t rules);
  const std::vector<Node>& nodes() const { return nodes_; }
  std::int32_t root() const { return root_; }

 private:
  std::int32_t build(const std::vector<Signal>& axes, const std::vector<Box>& boxes, Box cell,
                     std::vector<std::uint32_t> inside);

  // What a rule's signal is held to; infinite where no node says so.
  struct Side {
    double lower, upper;
    std::size_t axis;
  };
  void add_sides(std::size_t rules);
  void widen(std::int32_t at, const std::vector<Side>& cell);

  std::vector<Node> nodes_;
  std::int32_t root_ = -1;
  std::size_t width_ = 0;    // axes of nodes
  std::vector<Side> sides_;  // of each rule, one per such axis
};

}  // namespace remy_plus
