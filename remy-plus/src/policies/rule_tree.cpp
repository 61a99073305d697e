#include "remy_plus/policies/rule_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace remy_plus {
namespace {

struct Cut {
  std::size_t axis = 0;
  double value = 0;
  std::size_t crossed = SIZE_MAX;  // boxes that lie on both sides
  std::size_t larger = SIZE_MAX;   // boxes on the fuller side
  bool better(const Cut& other) const {
    return crossed != other.crossed ? crossed < other.crossed : larger < other.larger;
  }
};

bool has_volume(const Box& box) {
  for (std::size_t i = 0; i < box.lower.size(); ++i)
    if (!(box.lower[i] < box.upper[i])) return false;
  return true;
}

bool covers(const Box& box, const Box& cell) {
  for (std::size_t i = 0; i < cell.lower.size(); ++i)
    if (box.lower[i] > cell.lower[i] || box.upper[i] < cell.upper[i]) return false;
  return true;
}

Cut measure(const std::vector<Box>& boxes, const std::vector<std::uint32_t>& inside, std::size_t axis, double value) {
  std::size_t below = 0, above = 0;
  for (std::uint32_t i : inside) {
    below += boxes[i].lower[axis] < value;
    above += boxes[i].upper[axis] > value;
  }
  return {axis, value, below + above - inside.size(), std::max(below, above)};
}

// The cut along a box edge that crosses the fewest boxes and then splits them most evenly.
Cut best_cut(const std::vector<Box>& boxes, const Box& cell, const std::vector<std::uint32_t>& inside) {
  Cut best;
  std::vector<double> edges;
  for (std::size_t axis = 0; axis < cell.lower.size(); ++axis) {
    edges.clear();
    for (std::uint32_t i : inside)
      for (double edge : {boxes[i].lower[axis], boxes[i].upper[axis]})
        if (cell.lower[axis] < edge && edge < cell.upper[axis]) edges.push_back(edge);
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (double edge : edges)
      if (const Cut cut = measure(boxes, inside, axis, edge); cut.better(best)) best = cut;
  }
  return best;
}

std::string describe(const std::vector<Signal>& axes, const Box& cell) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += (i ? ", " : "") + (axes[i] < signal_count ? std::string(signal_table[axes[i]].name) : "an own signal") +
            " in [" + std::to_string(cell.lower[i]) + ", " + std::to_string(cell.upper[i]) + ")";
  return text;
}

}  // namespace

RuleTree::RuleTree(const std::vector<Signal>& axes, const std::vector<Box>& boxes) {
  Box domain{std::vector<double>(axes.size(), 0.0), std::vector<double>(axes.size(), signal_ceiling)};
  std::vector<std::uint32_t> live;
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].lower.size() != axes.size() || boxes[i].upper.size() != axes.size())
      throw std::invalid_argument("rule " + std::to_string(i) + " has another number of axes than the table");
    if (has_volume(boxes[i])) live.push_back(i);
  }
  root_ = build(axes, boxes, domain, live);
  add_sides(boxes.size());
}

RuleTree::RuleTree(std::vector<Node> nodes, std::int32_t root, std::size_t rules)
    : nodes_(std::move(nodes)), root_(root) {
  const auto count = static_cast<std::int64_t>(nodes_.size());
  const auto fits = [&](std::int64_t parent, std::int32_t at) {  // children come after their parent: no cycles
    return at < 0 ? ~at < static_cast<std::int64_t>(rules) : at > parent && at < count;
  };
  bool sound = fits(-1, root_);
  std::vector<int> parents(nodes_.size());
  if (root_ >= 0 && sound) ++parents[static_cast<std::size_t>(root_)];
  for (std::int64_t i = 0; i < count; ++i) {
    const Node& node = nodes_[static_cast<std::size_t>(i)];
    sound = sound && node.axis < signal_places && fits(i, node.child[0]) && fits(i, node.child[1]);
    for (const std::int32_t child : node.child)
      if (sound && child >= 0) ++parents[static_cast<std::size_t>(child)];
  }
  sound = sound && std::ranges::all_of(parents, [](int own) { return own == 1; });
  if (!sound) throw std::invalid_argument("damaged compiled rule table");
  add_sides(rules);
}

void RuleTree::add_sides(std::size_t rules) {
  std::vector<Side> cell, nothing;
  for (const Node& node : nodes_)
    if (std::ranges::find(cell, node.axis, &Side::axis) == cell.end()) cell.push_back({-never, never, node.axis});
  if (cell.empty()) cell.push_back({-never, never, 0});  // of one rule with volume: those without are never it
  width_ = cell.size();
  for (const Side& side : cell) nothing.push_back({never, -never, side.axis});
  for (std::size_t i = 0; i < rules; ++i) sides_.insert(sides_.end(), nothing.begin(), nothing.end());
  widen(root_, cell);
}

// The rules below a node hold its cell; the cells of one rule are a box together.
void RuleTree::widen(std::int32_t at, const std::vector<Side>& cell) {
  if (at < 0) {
    Side* own = sides_.data() + static_cast<std::size_t>(~at) * width_;
    for (const Side& side : cell) {
      own->lower = std::min(own->lower, side.lower);
      own->upper = std::max(own->upper, side.upper);
      ++own;
    }
    return;
  }
  const Node& node = nodes_[static_cast<std::size_t>(at)];
  const auto k = static_cast<std::size_t>(std::ranges::find(cell, node.axis, &Side::axis) - cell.begin());
  std::vector<Side> below = cell, above = cell;
  below[k].upper = std::min(below[k].upper, node.cut);
  above[k].lower = std::max(above[k].lower, node.cut);
  widen(node.child[0], below);
  widen(node.child[1], above);
}

std::int32_t RuleTree::build(const std::vector<Signal>& axes, const std::vector<Box>& boxes, Box cell,
                             std::vector<std::uint32_t> inside) {
  if (inside.empty()) throw std::invalid_argument("no rule covers " + describe(axes, cell));
  if (inside.size() == 1 && covers(boxes[inside[0]], cell)) return ~static_cast<std::int32_t>(inside[0]);
  const Cut cut = best_cut(boxes, cell, inside);
  if (cut.crossed == SIZE_MAX)
    throw std::invalid_argument("rules " + std::to_string(inside[0]) + " and " + std::to_string(inside[1]) +
                                " overlap in " + describe(axes, cell));
  if (nodes_.size() > 64 * boxes.size() + 1024) throw std::invalid_argument("the rules overlap, or form no tree");
  const auto at = nodes_.size();
  nodes_.push_back({cut.value, static_cast<std::uint32_t>(axes[cut.axis]), {0, 0}});
  std::vector<std::uint32_t> below, above;
  for (std::uint32_t i : inside) {
    if (boxes[i].lower[cut.axis] < cut.value) below.push_back(i);
    if (boxes[i].upper[cut.axis] > cut.value) above.push_back(i);
  }
  Box lower = cell, upper = cell;
  lower.upper[cut.axis] = upper.lower[cut.axis] = cut.value;
  const std::int32_t left = build(axes, boxes, lower, std::move(below));
  const std::int32_t right = build(axes, boxes, upper, std::move(above));
  nodes_[at].child[0] = left;
  nodes_[at].child[1] = right;
  return static_cast<std::int32_t>(at);
}

}  // namespace remy_plus
