#include "remy_plus/fabric/forwarding.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace remy_plus::fabric {

Forwarding::Forwarding(const Wiring& wiring, const Routes& routes, std::vector<Ends> flows, bool numbered)
    : wiring_(wiring), hosts_(static_cast<std::size_t>(wiring.hosts())), flows_(std::move(flows)) {
  adopt(routes);
  if (numbered) number();
}

// Switches lie in tiers by how far the nearest host is. A packet comes up to one by as many ways as switches of each
// tier before it have equal ports, at the most.
void Forwarding::number() {
  built_ = table_;
  built_ports_ = ports_;
  const auto switches = static_cast<std::size_t>(wiring_.nodes()) - hosts_;
  std::vector<std::size_t> tier(switches, switches), most(switches + 1, 1);
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t i = 0; i < switches; ++i) {
      const int node = static_cast<int>(i + hosts_);
      for (int port = wiring_.first(node); port < wiring_.first(node + 1); ++port) {
        const auto peer = static_cast<std::size_t>(wiring_.end(port).peer);
        const std::size_t above = peer < hosts_ ? 0 : tier[peer - hosts_] + 1;
        if (above >= tier[i]) continue;
        tier[i] = above;
        moved = true;
      }
    }
  }
  for (std::size_t i = 0; i < switches; ++i)
    for (std::size_t host = 0; host < hosts_; ++host)
      most[tier[i]] = std::max<std::size_t>(most[tier[i]], built_[i * hosts_ + host].count);
  below_.assign(switches, 1);
  for (std::size_t i = 0; i < switches; ++i)
    for (std::size_t k = 0; k < tier[i]; ++k) below_[i] *= most[k];
}

// Most hosts behind a switch have the same choice of ports, which is kept once.
void Forwarding::adopt(const Routes& routes) {
  table_.clear();
  ports_.clear();
  std::vector<int> ahead;
  for (int node = wiring_.hosts(); node < wiring_.nodes(); ++node) {
    std::map<std::vector<int>, Choice> known;
    const std::size_t row = table_.size();
    for (int host = 0; host < wiring_.hosts(); ++host) {
      const int root = routes.root(host);
      if (root != host && wiring_.end(wiring_.first(host)).peer != node) {
        table_.push_back(table_[row + static_cast<std::size_t>(root)]);
        continue;
      }
      routes.nearer(node, host, ahead);
      const auto [found, fresh] = known.try_emplace(ahead);
      if (fresh) {
        found->second = {static_cast<std::uint32_t>(ports_.size()), static_cast<std::uint32_t>(ahead.size())};
        ports_.insert(ports_.end(), ahead.begin(), ahead.end());
      }
      table_.push_back(found->second);
    }
  }
}

}  // namespace remy_plus::fabric
