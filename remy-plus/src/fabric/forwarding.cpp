#include "remy_plus/fabric/forwarding.hpp"

#include <map>
#include <utility>

namespace remy_plus::fabric {

Forwarding::Forwarding(const Wiring& wiring, const Routes& routes, std::vector<Ends> flows, bool numbered)
    : wiring_(wiring), numbered_(numbered), hosts_(static_cast<std::size_t>(wiring.hosts())), flows_(std::move(flows)) {
  adopt(routes);
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
