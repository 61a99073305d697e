// What happens to links during a run.
#include "remy_plus/fabric/simulation.hpp"

namespace remy_plus::fabric {

void Simulation::change_links(Time now) {
  settle();
  while (failures_->next_change() == now) {
    const Change change = failures_->change();
    failures_->make();
    for (const int port : {change.port, wiring_.end(change.port).peer_port}) change_end(port, change.gbps, now);
  }
  if (failures_->notice(now)) forwarding_->adopt(Routes(wiring_, failures_->known_down()));
  progress_ = now;  // patience begins anew
}

void Simulation::change_end(int port, double gbps, Time now) {
  if (gbps == 0) return fail(port, now);
  const Port& at = ports_[static_cast<std::size_t>(port)];
  if (gbps == as_built) gbps = at.rated->gbps();
  if (gbps != at.speed->gbps()) set_speed(port, gbps);
  if (at.free_at == never) repair(port, now);
}

// Hosts keep what waits for their link.
void Simulation::fail(int port, Time now) {
  const int node = wiring_.end(port).node;
  clear_wire(port);
  if (node < wiring_.hosts()) {
    std::visit([&](auto& hosts) { hosts[static_cast<std::size_t>(node)].nic(port).fail(now); }, hosts_);
    return;
  }
  const auto number = static_cast<std::size_t>(node - wiring_.hosts());
  count_lost(port, port, std::visit([&](auto& switches) { return switches[number].fail(port, now); }, switches_));
  wake(node, now);
}

void Simulation::repair(int port, Time now) {
  const int node = wiring_.end(port).node;
  if (node < wiring_.hosts())
    std::visit([&](auto& hosts) { hosts[static_cast<std::size_t>(node)].nic(port).repair(now); }, hosts_);
  else
    ports_[static_cast<std::size_t>(port)].free_at = now;
  wake(node, now);
}

// A frame that is being sent goes on at the rate that it began with.
void Simulation::set_speed(int number, double gbps) {
  Port& port = ports_[static_cast<std::size_t>(number)];
  port.speed = speed_of(gbps);
  if (port.fair_rate) make_fair_rate(port);
  if (settings_.thresholds_by_rate) {
    fabric::set_marker(port.marker, in_bytes(settings_.marker), gbps);
    port.most_queued = own_queue(gbps);
  }
  if (headers_) headers_->change(static_cast<std::size_t>(number), gbps);
}

void Simulation::clear_wire(int number) {
  Wire& wire = wires_[ports_[static_cast<std::size_t>(number)].peer_port];
  std::uint64_t lost = 0;
  for (; !wire.empty(); wire.pop()) {
    const Packet& packet = wire.front();
    if (is_pfc(packet)) continue;
    parts_.front()->around->lose(packet);
    lost += is_data(packet);
  }
  count_lost(number, number, lost);
}

void Simulation::lose(const Part& part, const Packet& packet, int in, int node) {
  part.around->lose(packet);
  if (!is_data(packet)) return;
  const int out = way(packet, node);
  count_lost(out < 0 ? in : out, out, 1);
}

void Simulation::count_lost(int port, int by, std::uint64_t packets) {
  ports_[static_cast<std::size_t>(port)].counts.lost += packets;
  failures_->count_lost(by, packets);
}

}  // namespace remy_plus::fabric
