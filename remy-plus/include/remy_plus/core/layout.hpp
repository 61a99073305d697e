// Links, and the routes of senders over them: what a network is beyond one bottleneck.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace remy_plus {

// One direction of a wire with the output queue before it.
struct Link {
  double rate;         // packets/µs
  double delay;        // µs, propagation
  double buffer;       // packets waiting, the one in service excluded
  bool stamps = true;  // its port writes into what packets carry
};

// The way of one sender's packets and their acknowledgements: entries begin to turn − 1 of Layout::hops lead to the
// receiver, those from turn to end − 1 back.
struct Route {
  std::uint32_t begin, turn, end;
};

struct Layout {
  std::vector<Link> links;
  std::vector<std::uint32_t> hops;  // indices of links
  std::vector<Route> routes;        // one per sender
  std::size_t measured = 0;         // the first so many senders count; the others only load the links
  bool one_way = false;             // in-network signals are locked at the receiver

  std::span<const std::uint32_t> forward(std::size_t sender) const {
    const Route& route = routes[sender];
    return {hops.data() + route.begin, hops.data() + route.turn};
  }
};

// Throws std::invalid_argument naming the link or sender and what is wrong with it.
void validate(const Layout& layout);

}  // namespace remy_plus
