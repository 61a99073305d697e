// Who is wired to whom, and which ways packets take.
#pragma once

#include <cstdint>
#include <vector>

namespace remy_plus::fabric {

// Of a fabric: packets say in 16 bits where they came in. Of a node: windows sort what arrives by port in 12.
inline constexpr int most_ports = 65'535, most_ports_of_node = 4'095;

struct Link {
  int a, b;                // nodes
  double gbps, gbps_back;  // from a to b, and from b to a
  double delay_ns;         // of propagation
};

// One end of a link.
struct End {
  int node, peer;  // nodes
  int peer_port;   // number of the other end
  double gbps, delay_ns;
};

// Nodes are hosts first, then switches. The ports of a node lie side by side, those with lower peers first.
class Wiring {
 public:
  // Throws std::invalid_argument where links cannot be.
  Wiring(int hosts, int switches, const std::vector<Link>& links);

  int hosts() const { return hosts_; }
  int nodes() const { return static_cast<int>(first_.size()) - 1; }
  int ports() const { return static_cast<int>(ends_.size()); }
  int first(int node) const { return first_[static_cast<std::size_t>(node)]; }
  const End& end(int port) const { return ends_[static_cast<std::size_t>(port)]; }

  // The port of `node` towards `peer`; throws where there is none.
  int towards(int node, int peer) const;

 private:
  int hosts_;
  std::vector<int> first_;
  std::vector<End> ends_;
};

// Shortest ways, equal ones shared among flows by a hash.
class Routes {
 public:
  // `down`: (ports,) not 0 where a link does not carry; empty: none.
  explicit Routes(const Wiring& wiring, const std::vector<std::uint8_t>& down = {});

  bool reaches(int src, int dst) const;
  // The ports of `node` that lead nearer to `dst`; none if it has no way.
  void nearer(int node, int dst, std::vector<int>& found) const;
  // The first host with the same single switch as `dst`, itself where there is none: other switches send to both alike.
  int root(int dst) const { return roots_[static_cast<std::size_t>(tree_[static_cast<std::size_t>(dst)])]; }
  // The ports from `src` to `dst`, the host's first. `key` says which of equal ways is taken.
  std::vector<int> way(int src, int dst, std::uint64_t key) const;

 private:
  int only_switch(int host) const;
  int distance(int node, int dst) const;
  bool carries(int port) const { return down_.empty() || !down_[static_cast<std::size_t>(port)]; }

  const Wiring& wiring_;
  std::vector<std::uint8_t> down_;
  std::vector<int> tree_;                 // (hosts,) its row of distances
  std::vector<int> roots_;                // (trees,) the host that they lead to
  std::vector<std::uint16_t> distances_;  // (trees, nodes) in links
};

// The ports from `src` to `dst` by the switches that a trace names.
std::vector<int> way_by(const Wiring& wiring, int src, int dst, const std::vector<int>& switches);

}  // namespace remy_plus::fabric
