#include "remy_plus/fabric/simulation.hpp"

#include <algorithm>
#include <string>

namespace remy_plus::fabric {

void Simulation::sample(const Watch& watch, Time now) {
  samples_.times.push_back(now);
  for (const std::uint32_t number : watch.flows) {
    const Flow& flow = flows_[number];
    const bool active = flow.start <= now && flow.acked < flow.packets;
    samples_.gbps.push_back(active ? flow.gbps : 0);
    samples_.under_way.push_back(static_cast<double>(flow.under_way()));
    samples_.delivered.push_back(static_cast<double>(flow.bytes_before(flow.expected)));
  }
  for (const std::uint32_t port : watch.ports) samples_.queued.push_back(static_cast<double>(ports_[port].queued));
}

void Simulation::require_watch(const Watch& watch) const {
  if (watch.every < nanosecond || (watch.every != never && watch.every > latest_start))
    throw std::invalid_argument("watch: must look every 1 to 10^15 ns");
  for (const std::uint32_t flow : watch.flows)
    if (flow >= flows_.size()) throw std::invalid_argument("watch: there is no flow " + std::to_string(flow));
  for (const std::uint32_t port : watch.ports)
    if (port >= ports_.size()) throw std::invalid_argument("watch: there is no port " + std::to_string(port));
}

void Simulation::run(const std::function<bool()>& go_on, const Watch& watch, const Controller& controller) {
  require_watch(watch);
  Looks looks{watch, controller, recovery_.get(), failures_.get(), watch.every == never ? never : 0, controller.first};
  if (controller.first != never) time_round_trips();
  std::uint64_t windows = 1023;  // `go_on` is asked at the first one, and then every 1,024
  while (unfinished_ > 0) {
    const Time first = failures_ ? std::min(last_.next, failures_->next()) : last_.next;
    if (first == never || stuck(first)) break;
    // Windows lie on a grid, whatever happens in them.
    const Time idle = std::max<Time>(first - now_, 0) / lookahead_ * lookahead_;
    const Time begin = std::min(now_ + idle, settings_.horizon);
    while (looks.next() < begin) look(looks);
    if (begin == settings_.horizon) break;
    const std::uint64_t together = windows_together(begin, looks);
    now_ = std::min(begin + static_cast<Time>(together) * lookahead_, settings_.horizon);
    if (together > 1)
      run_apart(begin, now_, together);
    else
      run_window(begin, now_, looks);
    if (windows / 1024 != (windows + together) / 1024 && !go_on()) break;
    windows += together;
  }
  if (recovery_) recovery_->end(flows_);
  account();
}

bool Simulation::more_begin(Time now) const {
  return std::any_of(flows_.begin(), flows_.end(),
                     [now](const Flow& flow) { return flow.start > now && flow.start != never; });
}

// Where links fail, packets may be sent and lost again and again.
bool Simulation::stuck(Time now) {
  if (settings_.give_up_after == 0 || now - progress_ <= settings_.give_up_after) return false;
  if (failures_) return failures_->next() == never && !more_begin(now);
  settle();
  return std::all_of(wires_.begin(), wires_.end(), [](const auto& wire) { return wire.empty(); }) &&
         std::all_of(agendas_.begin() + wiring_.hosts(), agendas_.end(),
                     [](const Agenda& agenda) { return agenda.next == never; }) &&
         std::visit(
             [](const auto& hosts) {
               return std::all_of(hosts.begin(), hosts.end(), [](const auto& host) { return host.waits(); });
             },
             hosts_);
}

// Looks cut a window in parts; it ends where it would without them, so that a watch changes nothing.
void Simulation::run_window(Time begin, Time end, Looks& looks) {
  while (looks.next() < end) {
    const Time now = looks.next();
    run_nodes(begin, now);
    look(looks);
    begin = now;
  }
  run_nodes(begin, end);
}

// Of those due at the next moment, samples come first, and what happens to links last.
void Simulation::look(Looks& looks) {
  const Time now = looks.next();
  if (recovery_ && recovery_->next() == now) recovery_->look(flows_, now);
  if (looks.sample == now) {
    sample(looks.watch, now);
    looks.sample += looks.watch.every;
  }
  if (looks.act == now) {
    looks.act = looks.controller.act(*this, now);
    if (looks.act <= now) throw std::invalid_argument("controller: must look later than now");
  }
  if (failures_ && failures_->next() == now) change_links(now);
}

void Simulation::time_round_trips() {
  trips_.hosts.resize(static_cast<std::size_t>(wiring_.hosts()));
  if (transport_->telemetry() == Telemetry::fair_rate) return;
  for (const Ways& ways : ways_) {
    Time sum = 0;
    for (int hop = 0; hop < ways.data_hops; ++hop) sum += ports_[ways.data[hop]].delay;
    for (int hop = 0; hop < ways.ack_hops; ++hop) sum += ports_[ways.acks[hop]].delay;
    trips_.propagation.push_back(sum);
  }
  for (Part* part : parts_) part->hosting->trips = &trips_;
}

void Simulation::count_flows(std::vector<FlowCounter> by_switch) {
  flow_counters_ = std::move(by_switch);
  std::visit(
      [this](auto& switches) {
        for (std::size_t i = 0; i < flow_counters_.size(); ++i) switches[i].count_into(flow_counters_[i]);
      },
      switches_);
}

void Simulation::set_marker(std::size_t port, const MarkerParameters& given) {
  Port& at = ports_.at(port);
  require_place(given, settings_.mark_at_dequeue);
  fabric::set_marker(at.marker, in_bytes(given), at.rated->gbps());
}

void Simulation::account() {
  for (Port& port : ports_)
    if (port.changed < now_) port.account(now_);
}

QueueTimes Simulation::fullest() const {
  const auto found =
      std::max_element(ports_.begin() + wiring_.first(wiring_.hosts()), ports_.end(),
                       [](const Port& a, const Port& b) { return a.counts.queue_area < b.counts.queue_area; });
  return found == ports_.end() ? QueueTimes() : found->counts.queue_times;
}

// Hosts first and then switches, of all parts: the code of both has not enough room in a core at once.
void Simulation::run_parts(const std::vector<Part*>& parts, NodeLists Part::* which, Time begin, Time end) {
  const auto run = [&](Part& part, int node, const auto& run_node) {
    Time& next = agendas_[static_cast<std::size_t>(node)].next;
    const std::uint64_t before = part.tally.packets;
    if (next < end) next = run_node();
    if (!node_packets_.empty())
      node_packets_[static_cast<std::size_t>(node)] = static_cast<std::uint32_t>(part.tally.packets - before);
  };
  std::visit(
      [&](auto& hosts) {
        for (Part* part : parts)
          for (const int node : (part->*which).hosts)
            run(*part, node, [&] { return run_host(*part, hosts[static_cast<std::size_t>(node)], node, end); });
      },
      hosts_);
  std::visit(
      [&](auto& switches) {
        for (Part* part : parts)
          for (const int node : (part->*which).switches)
            run(*part, node, [&] {
              return run_switch(*part, switches[static_cast<std::size_t>(node - wiring_.hosts())], node, begin, end);
            });
      },
      switches_);
}

void Simulation::begin(std::uint32_t number, Time start) {
  if (start >= settings_.last_round) return;
  Flow& flow = flows_[number];
  flow.start = start;
  ++unfinished_;
  std::visit([&](auto& hosts) { hosts[flow.src].starts().add_late(number); }, hosts_);
  wake(static_cast<int>(flow.src), start);
}

Time Simulation::gather(std::vector<std::uint64_t>& keys, int node, Time begin, Time end) const {
  keys.clear();
  Time later = never;
  const int first = wiring_.first(node), last = wiring_.first(node + 1);
  int busy = 0;
  for (int i = first; i < last; ++i) {
    const Wire& wire = wires_[static_cast<std::size_t>(i)];
    const std::size_t before = keys.size(), size = wire.size();
    for (std::size_t k = 0; k < size; ++k) {
      const Time time = wire[k].time;
      if (time >= end) {
        later = std::min(later, time);
        break;
      }
      keys.push_back(static_cast<std::uint64_t>(time - begin) << port_bits | static_cast<std::uint64_t>(i - first));
    }
    busy += keys.size() > before;
  }
  if (busy > 1) std::sort(keys.begin(), keys.end());
  return later;
}

// Among equals the one that the hash would pick, or the first. A switch leaves out its links that are down.
template <class AnySwitch>
int Simulation::emptiest(AnySwitch& at, const Packet& packet, int node) const {
  int found = next_port(packet, node);
  if (ways_[packet.flow].fixed || way(packet, node) < 0) return found;
  std::int64_t least = found < 0 ? std::numeric_limits<std::int64_t>::max() : at.backlog(found, packet.time);
  for (const std::uint16_t port : forwarding_->choices(packet, node)) {
    if (failures_ && failures_->down(port)) continue;
    if (const std::int64_t waiting = at.backlog(port, packet.time); waiting < least) {
      least = waiting;
      found = port;
    }
  }
  return found;
}

template <class AnySwitch>
Time Simulation::run_switch(Part& part, AnySwitch& at, int node, Time begin, Time end) {
  const Time later = gather(part.keys, node, begin, end);
  part.tally.packets += part.keys.size();
  const int first = wiring_.first(node);
  for (const std::uint64_t key : part.keys) {
    const int in = first + static_cast<int>(key & ((1u << port_bits) - 1));
    Wire& wire = wires_[static_cast<std::size_t>(in)];
    const Packet packet = wire.front();
    wire.pop();
    if (is_pfc(packet)) {
      at.hear(packet, in);
      continue;
    }
    const int out = settings_.adaptive ? emptiest(at, packet, node) : next_port(packet, node);
    if (out >= 0) [[likely]]
      at.receive(packet, in, out);
    else
      lose(part, packet, in, node);
  }
  return std::min(later, at.finish(end));
}

// Hosts have few ports: which is next is looked up again for every packet.
template <class AnyHost>
Time Simulation::run_host(Part& part, AnyHost& at, int node, Time end) {
  const int first = wiring_.first(node), last = wiring_.first(node + 1);
  for (;;) {
    Time arrival = never;
    int in = first;
    for (int i = first; i < last; ++i) {
      const Wire& wire = wires_[static_cast<std::size_t>(i)];
      if (!wire.empty() && wire.front().time < arrival) {
        arrival = wire.front().time;
        in = i;
      }
    }
    const Time own = at.next();
    if (std::min(arrival, own) >= end) return std::min(arrival, own);
    ++part.tally.packets;
    if (arrival <= own) {
      Wire& wire = wires_[static_cast<std::size_t>(in)];
      const Packet packet = wire.front();
      wire.pop();
      at.receive(packet, in);
    } else {
      at.act(own);
    }
  }
}

}  // namespace remy_plus::fabric
