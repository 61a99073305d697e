// What a flow takes alone.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "remy_plus/fabric/simulation.hpp"

namespace remy_plus::fabric {

Time Simulation::one_way(const std::vector<int>& way, int bytes) const {
  Time found = 0;
  for (const int port : way)
    found += ports_[static_cast<std::size_t>(port)].rated->of(bytes) + ports_[static_cast<std::size_t>(port)].delay;
  return found;
}

// Of all pairs of hosts: there with a full payload, back without serialisation, as HPCC's simulator has it.
// Hosts of one switch with equal links of their own have equal ways: one stands for all, and two for those between
// them.
Time Simulation::longest_rtt(const Routes& routes) const {
  Time longest = 0;
  const auto measure = [&](int src, int dst) {
    if (src == dst || !routes.reaches(src, dst)) return;
    const std::vector<int> way = routes.way(src, dst, 0);
    longest = std::max(longest, one_way(way, settings_.payload) + one_way(way, 0));
  };
  std::map<std::array<double, 4>, int> alike;
  std::vector<int> some;
  for (int host = 0; host < wiring_.hosts(); ++host) {
    if (const int port = wiring_.first(host); wiring_.first(host + 1) - port == 1) {
      const End& out = wiring_.end(port);
      const double back = wiring_.end(out.peer_port).gbps;
      const auto [first, fresh] =
          alike.try_emplace({static_cast<double>(out.peer), out.gbps, back, out.delay_ns}, host);
      if (!fresh) {
        measure(first->second, host);
        continue;
      }
    }
    some.push_back(host);
  }
  for (const int src : some)
    for (const int dst : some) measure(src, dst);
  return longest;
}

// HPCC's simulator: propagation there and back, a full payload at every hop, all bytes at the slowest link.
Time Simulation::plain_ideal(const Flow& flow, const Ways& ways) const {
  Time found = 0;
  double slowest = ports_[ways.data[0]].rated->gbps();
  for (int hop = 0; hop < ways.data_hops; ++hop) {
    const Port& port = ports_[ways.data[hop]];
    found += port.rated->of(flow.payload) + 2 * port.delay;
    slowest = std::min(slowest, port.rated->gbps());
  }
  const double bytes = static_cast<double>(flow.size) + static_cast<double>(settings_.overhead) * flow.packets;
  return found + static_cast<Time>(std::floor(bytes * 8 / slowest)) * static_cast<Time>(nanosecond);
}

Time Simulation::ideal(std::uint32_t number) const {
  const Flow& flow = flows_[number];
  const Ways& ways = ways_[number];
  if (settings_.plain_ideal) return plain_ideal(flow, ways);
  return exact_ideal(flow, ways, settings_.overhead, settings_.ack_bytes);
}

Time Simulation::alone(std::uint32_t number) const {
  const Transport& own = transport_->of(number);
  return exact_ideal(flows_[number], ways_[number], settings_.overhead + sent_telemetry(own),
                     settings_.ack_bytes + returned_telemetry(own));
}

Time Simulation::exact_ideal(const Flow& flow, const Ways& ways, int overhead, int ack_bytes) const {
  const int full = flow.payload + overhead;
  const int last = static_cast<int>(flow.size - flow.bytes_before(flow.packets - 1)) + overhead;
  Time before = 0;   // when the last full packet has left the hop
  Time slowest = 0;  // of the hops so far
  Time at = 0;       // when the last packet has arrived
  for (int hop = 0; hop < ways.data_hops; ++hop) {
    const Port& port = ports_[ways.data[hop]];
    const Time took = port.rated->of(full), previous = slowest;
    slowest = std::max(slowest, took);
    if (flow.packets > 1) before += took + static_cast<Time>(flow.packets - 2) * (slowest - previous);
    at = std::max(at, flow.packets > 1 ? before : 0) + port.rated->of(last) + port.delay;
    before += port.delay;
  }
  if (!settings_.fct_at_ack) return at;
  Time ahead = flow.packets > 1 ? before : 0;  // the ACK of the last full packet, which a short last one may catch up
  for (int hop = 0; hop < ways.ack_hops; ++hop) {
    const Port& port = ports_[ways.acks[hop]];
    const Time took = port.rated->of(ack_bytes);
    ahead += took;
    at = std::max(at, flow.packets > 1 ? ahead : 0) + took + port.delay;
    ahead += port.delay;
  }
  return at;
}

}  // namespace remy_plus::fabric
