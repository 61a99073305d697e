#include "remy_plus/fabric/wiring.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "remy_plus/fabric/keys.hpp"

namespace remy_plus::fabric {

namespace {

constexpr int most_nodes = 1'000'000;
constexpr std::uint16_t unreached = std::numeric_limits<std::uint16_t>::max();

void check(const Link& link, int nodes) {
  if (link.a < 0 || link.b < 0 || link.a >= nodes || link.b >= nodes || link.a == link.b)
    throw std::invalid_argument("a link must join two nodes that there are");
  for (const double gbps : {link.gbps, link.gbps_back})
    if (!(gbps >= 1e-6 && gbps <= 1e9)) throw std::invalid_argument("a link needs 10^-6 to 10^9 Gb/s");
  if (!(link.delay_ns > 0 && link.delay_ns <= 1e12))
    throw std::invalid_argument("a link needs a delay of 1000 s at most");
}

std::string named(int src, int dst) { return "host " + std::to_string(src) + " to host " + std::to_string(dst); }

}  // namespace

Wiring::Wiring(int hosts, int switches, const std::vector<Link>& links) : hosts_(hosts) {
  if (hosts < 0 || switches < 0 || hosts > most_nodes - switches)
    throw std::invalid_argument("a fabric may have " + std::to_string(most_nodes) + " nodes at most");
  const int nodes = hosts + switches;
  for (const Link& link : links) {
    check(link, nodes);
    ends_.push_back({link.a, link.b, 0, link.gbps, link.delay_ns});
    ends_.push_back({link.b, link.a, 0, link.gbps_back, link.delay_ns});
  }
  std::stable_sort(ends_.begin(), ends_.end(),
                   [](const End& x, const End& y) { return x.node != y.node ? x.node < y.node : x.peer < y.peer; });
  first_.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for (const End& end : ends_) ++first_[static_cast<std::size_t>(end.node) + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  for (std::size_t i = 1; i < ends_.size(); ++i)
    if (ends_[i].node == ends_[i - 1].node && ends_[i].peer == ends_[i - 1].peer)
      throw std::invalid_argument("two links join node " + std::to_string(ends_[i].node) + " and node " +
                                  std::to_string(ends_[i].peer) + ": one with the sum of their rates can be given");
  for (End& end : ends_) end.peer_port = towards(end.peer, end.node);
}

int Wiring::towards(int node, int peer) const {
  const auto begin = ends_.begin() + first(node), end = ends_.begin() + first(node + 1);
  const auto found = std::lower_bound(begin, end, peer, [](const End& x, int wanted) { return x.peer < wanted; });
  if (found == end || found->peer != peer)
    throw std::invalid_argument("node " + std::to_string(node) + " has no link to node " + std::to_string(peer));
  return static_cast<int>(found - ends_.begin());
}

Routes::Routes(const Wiring& wiring, const std::vector<std::uint8_t>& down) : wiring_(wiring), down_(down) {
  const auto nodes = static_cast<std::size_t>(wiring.nodes());
  std::vector<int> reached, at(nodes, -1);  // of each switch the tree to the hosts that have it alone
  for (int host = 0; host < wiring.hosts(); ++host) {
    const int only = only_switch(host);
    if (only >= 0 && at[static_cast<std::size_t>(only)] >= 0) {
      tree_.push_back(at[static_cast<std::size_t>(only)]);
      continue;
    }
    tree_.push_back(static_cast<int>(roots_.size()));
    if (only >= 0) at[static_cast<std::size_t>(only)] = tree_.back();
    roots_.push_back(host);
    distances_.resize(roots_.size() * nodes, unreached);
    std::uint16_t* row = distances_.data() + (roots_.size() - 1) * nodes;
    row[host] = 0;
    reached.assign(1, host);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const int node = reached[i];
      if (node < wiring.hosts() && node != host) continue;  // hosts do not forward
      for (int port = wiring.first(node); port < wiring.first(node + 1); ++port) {
        const int peer = wiring.end(port).peer;
        if (row[peer] != unreached || !carries(port) || !carries(wiring.end(port).peer_port)) continue;
        row[peer] = static_cast<std::uint16_t>(row[node] + 1);
        reached.push_back(peer);
      }
    }
  }
}

// The switch of a host that has no other, over a link that carries both ways; below 0: none.
int Routes::only_switch(int host) const {
  const int port = wiring_.first(host);
  if (wiring_.first(host + 1) - port != 1 || !carries(port) || !carries(wiring_.end(port).peer_port)) return -1;
  return wiring_.end(port).peer;
}

int Routes::distance(int node, int dst) const {
  if (node == dst) return 0;
  if (node == root(dst)) return 2;
  return distances_[static_cast<std::size_t>(tree_[static_cast<std::size_t>(dst)]) *
                        static_cast<std::size_t>(wiring_.nodes()) +
                    static_cast<std::size_t>(node)];
}

bool Routes::reaches(int src, int dst) const { return distance(src, dst) != unreached; }

void Routes::nearer(int node, int dst, std::vector<int>& found) const {
  found.clear();
  for (int port = wiring_.first(node); port < wiring_.first(node + 1); ++port) {
    const int peer = wiring_.end(port).peer;
    const bool forwards = peer >= wiring_.hosts() || peer == dst;
    if (forwards && carries(port) && distance(peer, dst) < distance(node, dst)) found.push_back(port);
  }
}

std::vector<int> Routes::way(int src, int dst, std::uint64_t key) const {
  if (!reaches(src, dst)) throw std::invalid_argument("no way from " + named(src, dst));
  std::vector<int> found, ahead;
  for (int node = src; node != dst;) {
    nearer(node, dst, ahead);
    found.push_back(ahead[hash_at(key, node) % ahead.size()]);
    node = wiring_.end(found.back()).peer;
  }
  return found;
}

std::vector<int> way_by(const Wiring& wiring, int src, int dst, const std::vector<int>& switches) {
  std::vector<int> found;
  int node = src;
  for (const int next : switches) {
    if (next < wiring.hosts()) throw std::invalid_argument("node " + std::to_string(next) + " of a way is no switch");
    found.push_back(wiring.towards(node, next));
    node = next;
  }
  found.push_back(wiring.towards(node, dst));
  return found;
}

}  // namespace remy_plus::fabric
