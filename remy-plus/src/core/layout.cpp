#include "remy_plus/core/layout.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace remy_plus {
namespace {

void require(bool holds, const char* what, std::size_t which, const char* rule) {
  if (holds) return;
  std::ostringstream text;
  text << "layout: " << what << " " << which << ": " << rule;
  throw std::invalid_argument(text.str());
}

void check_link(const Link& link, std::size_t i) {
  require(std::isfinite(link.rate) && link.rate > 0, "link", i, "rate must be > 0");
  require(std::isfinite(link.delay) && link.delay >= 0, "link", i, "delay must be >= 0");
  require(link.buffer >= 0, "link", i, "buffer must be >= 0");
}

void check_route(const Layout& layout, const Route& route, std::size_t i) {
  require(route.begin < route.turn && route.turn <= route.end && route.end <= layout.hops.size(), "sender", i,
          "at least one link must lead to its receiver");
  const auto hop = layout.hops.begin();
  require(std::all_of(hop + route.begin, hop + route.end, [&](std::uint32_t l) { return l < layout.links.size(); }),
          "sender", i, "its way has a link that is not there");
}

}  // namespace

void validate(const Layout& layout) {
  for (std::size_t i = 0; i < layout.links.size(); ++i) check_link(layout.links[i], i);
  for (std::size_t i = 0; i < layout.routes.size(); ++i) check_route(layout, layout.routes[i], i);
  if (layout.routes.size() > 65535) throw std::invalid_argument("layout: at most 65535 senders can be told apart");
  if (layout.measured < 1 || layout.measured > layout.routes.size())
    throw std::invalid_argument("layout: at least one sender must be measured");
}

}  // namespace remy_plus
