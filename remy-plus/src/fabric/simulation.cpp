#include "remy_plus/fabric/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "remy_plus/core/random.hpp"

namespace remy_plus::fabric {

namespace {

constexpr int port_bits = 12;                   // of a key
constexpr Time longest_window = Time{1} << 51;  // 2.3 s: with a port it fits into a key
constexpr Time latest_start = Time{1} << 60;    // 13 days
constexpr std::uint64_t data_way = 11, ack_way = 12, marking = 13;

std::uint64_t key_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t number) {
  return mix64(mix64(seed ^ mix64(purpose)) ^ mix64(number + 1));
}

// A host that is no host, or a time that is none.
void require_flow(const FlowStart& flow, std::size_t number, int hosts) {
  const auto refuse = [&](const char* text) {
    throw std::invalid_argument("flow " + std::to_string(number) + ": " + text);
  };
  if (flow.src < 0 || flow.src >= hosts || flow.dst < 0 || flow.dst >= hosts) refuse("needs hosts that there are");
  if (flow.src == flow.dst) refuse("is sent to its sender");
  if (flow.start < 0 || flow.start > latest_start) refuse("must start within 10^15 ns");
}

}  // namespace

Simulation::Simulation(const Wiring& wiring, const std::vector<FlowStart>& flows, const Settings& settings,
                       const MakeTransport& transport)
    : wiring_(wiring), settings_(settings), next_(static_cast<std::size_t>(wiring.nodes()), never) {
  require_possible(settings);
  make_ports();
  make_ways(flows);
  transport_ = transport(frame());
  transport_->reserve(flows.size());
  if (settings.payload + settings.overhead + telemetry_bytes(transport_->telemetry()) > largest_frame)
    throw std::invalid_argument("frames may have " + std::to_string(largest_frame) + " bytes at most");
  make_flows(flows);
  make_nodes();
}

Frame Simulation::frame() const {
  Frame made;
  made.base_rtt = base_rtt_;
  made.queue_quantum = settings_.queue_quantum;
  made.bytes_quantum = settings_.bytes_quantum;
  made.whole_ns = settings_.whole_ns;
  return made;
}

// --- what there is

void Simulation::make_ports() {
  if (wiring_.ports() > 65535) throw std::invalid_argument("a fabric may have 65,535 ports at most");
  ports_.resize(static_cast<std::size_t>(wiring_.ports()));
  lookahead_ = longest_window;
  double slowest = 1e300;  // of the hosts' links
  for (int i = 0; i < wiring_.first(wiring_.hosts()); ++i) slowest = std::min(slowest, wiring_.end(i).gbps);
  for (int i = 0; i < wiring_.ports(); ++i) {
    const End& end = wiring_.end(i);
    Port& port = ports_[static_cast<std::size_t>(i)];
    const auto found =
        std::find_if(speeds_.begin(), speeds_.end(), [&](const auto& s) { return s->gbps() == end.gbps; });
    port.speed = found != speeds_.end()
                     ? found->get()
                     : speeds_.emplace_back(std::make_unique<Speed>(end.gbps, settings_.whole_ns)).get();
    port.delay = std::max<Time>(std::llround(end.delay_ns * nanosecond), 1);
    port.peer = static_cast<std::uint32_t>(end.peer);
    port.peer_port = static_cast<std::uint32_t>(end.peer_port);
    const double doublings = std::floor(std::log2(std::max(end.gbps / slowest, 1.0)));
    port.alpha = settings_.alpha * (settings_.alpha_by_rate && settings_.lossless ? std::exp2(doublings) : 1);
    port.most_headroom = std::llround(settings_.headroom_delays * end.gbps * end.delay_ns / 8) + headroom_frames();
    port.mark_min = settings_.mark_min * end.gbps / 100;
    port.mark_max = settings_.mark_max * end.gbps / 100;
    port.random_key = key_of(settings_.seed, marking, static_cast<std::uint64_t>(i));
    lookahead_ = std::min(lookahead_, port.delay);
  }
}

// Bytes that arrive after the one that exceeds a threshold, however short the link is: that frame itself, those that
// both ends are sending as the pause is decided and as it is heard, and one to spare.
std::int64_t Simulation::headroom_frames() const {
  return settings_.headroom_delays > 0 ? 4 * (settings_.payload + settings_.overhead + most_telemetry) : 0;
}

void Simulation::make_ways(const std::vector<FlowStart>& flows) {
  const Routes routes(wiring_);
  base_rtt_ = longest_rtt(routes);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const FlowStart& flow = flows[i];
    require_flow(flow, i, wiring_.hosts());
    const auto way = [&](int src, int dst, const std::vector<int>& switches, std::uint64_t purpose) {
      return switches.empty() ? routes.way(src, dst, key_of(settings_.seed, purpose, i))
                              : way_by(wiring_, src, dst, switches);
    };
    const std::vector<int> data = way(flow.src, flow.dst, flow.switches, data_way);
    const std::vector<int> acks = way(flow.dst, flow.src, flow.ack_switches, ack_way);
    if (data.size() > most_hops || acks.size() > most_hops)
      throw std::invalid_argument("flow " + std::to_string(i) + ": its way has more than " + std::to_string(most_hops) +
                                  " links");
    Ways& ways = ways_.emplace_back();
    ways.data_hops = static_cast<std::uint8_t>(data.size());
    ways.ack_hops = static_cast<std::uint8_t>(acks.size());
    std::copy(data.begin(), data.end(), ways.data);
    std::copy(acks.begin(), acks.end(), ways.acks);
    first_ports_.push_back(ways.data[0]);
    first_ports_.push_back(ways.acks[0]);
  }
}

void Simulation::make_flows(const std::vector<FlowStart>& flows) {
  for (const FlowStart& each : flows) {
    Flow& flow = flows_.emplace_back();
    flow.size = each.size;
    flow.start = each.start;
    flow.src = static_cast<std::uint32_t>(each.src);
    flow.dst = static_cast<std::uint32_t>(each.dst);
    flow.payload = settings_.payload;
    flow.switches = ways_[flows_.size() - 1].data_hops - 1;
    const auto payload = static_cast<std::uint64_t>(settings_.payload);
    if (each.size == 0 || each.size / payload >= 0xffffffffu)
      throw std::invalid_argument("a flow must have between 1 byte and 4 thousand million packets");
    flow.packets = static_cast<std::uint32_t>((each.size + payload - 1) / payload);
  }
  unfinished_ = flows.size();
}

void Simulation::make_nodes() {
  const Telemetry telemetry = transport_->telemetry();
  around_ = std::make_unique<Surroundings>(Surroundings{settings_, stacks_, telemetry == Telemetry::stack, next_});
  if (telemetry == Telemetry::fair_rate) make_fair_rates();
  hosting_ = std::make_unique<Hosting>(
      Hosting{flows_, first_ports_, *transport_, telemetry, settings_.overhead + telemetry_bytes(telemetry),
              settings_.ack_bytes + returned_bytes(telemetry), retransmitted_, unfinished_});
  for (int node = 0; node < wiring_.nodes(); ++node) {
    if (wiring_.first(node + 1) - wiring_.first(node) >= 1 << port_bits)
      throw std::invalid_argument("a node may have " + std::to_string((1 << port_bits) - 1) + " ports at most");
    if (node < wiring_.hosts())
      hosts_.emplace_back(ports_, wiring_.first(node), wiring_.first(node + 1), *around_, *hosting_);
    else
      switches_.emplace_back(ports_, wiring_.first(node), wiring_.first(node + 1), *around_);
  }
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    if (i > 0 && flows_[i].start < flows_[i - 1].start) throw std::invalid_argument("flows must rise by their starts");
    hosts_[flows_[i].src].add(i);
  }
  for (int host = 0; host < wiring_.hosts(); ++host)
    next_[static_cast<std::size_t>(host)] = hosts_[static_cast<std::size_t>(host)].next();
}

// Until packets tell their RTTs, the largest base RTT counts.
void Simulation::make_fair_rates() {
  for (int i = wiring_.first(wiring_.hosts()); i < wiring_.ports(); ++i) {
    Port& port = ports_[static_cast<std::size_t>(i)];
    port.fair_rate.emplace(rcp_gains, port.speed->gbps() * 125, static_cast<double>(base_rtt_) / microsecond);
  }
}

// --- what a flow takes alone

Time Simulation::one_way(const std::vector<int>& way, int bytes) const {
  Time found = 0;
  for (const int port : way)
    found += ports_[static_cast<std::size_t>(port)].speed->of(bytes) + ports_[static_cast<std::size_t>(port)].delay;
  return found;
}

// Of all pairs of hosts: there with a full payload, back without serialisation, as HPCC's simulator has it.
Time Simulation::longest_rtt(const Routes& routes) const {
  Time found = 0;
  for (int src = 0; src < wiring_.hosts(); ++src)
    for (int dst = 0; dst < wiring_.hosts(); ++dst) {
      if (src == dst || !routes.reaches(src, dst)) continue;
      const std::vector<int> way = routes.way(src, dst, 0);
      found = std::max(found, one_way(way, settings_.payload) + one_way(way, 0));
    }
  return found;
}

// HPCC's simulator: propagation there and back, a full payload at every hop, all bytes at the slowest link.
Time Simulation::plain_ideal(const Flow& flow, const Ways& ways) const {
  Time found = 0;
  double slowest = ports_[ways.data[0]].speed->gbps();
  for (int hop = 0; hop < ways.data_hops; ++hop) {
    const Port& port = ports_[ways.data[hop]];
    found += port.speed->of(flow.payload) + 2 * port.delay;
    slowest = std::min(slowest, port.speed->gbps());
  }
  const double bytes = static_cast<double>(flow.size) + static_cast<double>(settings_.overhead) * flow.packets;
  return found + static_cast<Time>(std::floor(bytes * 8 / slowest)) * static_cast<Time>(nanosecond);
}

Time Simulation::ideal(std::uint32_t number) const {
  const Flow& flow = flows_[number];
  const Ways& ways = ways_[number];
  if (settings_.plain_ideal) return plain_ideal(flow, ways);
  const int full = flow.payload + settings_.overhead;
  const int last = static_cast<int>(flow.size - flow.bytes_before(flow.packets - 1)) + settings_.overhead;
  Time before = 0;   // when the last full packet has left the hop
  Time slowest = 0;  // of the hops so far
  Time at = 0;       // when the last packet has arrived
  for (int hop = 0; hop < ways.data_hops; ++hop) {
    const Port& port = ports_[ways.data[hop]];
    const Time took = port.speed->of(full), previous = slowest;
    slowest = std::max(slowest, took);
    if (flow.packets > 1) before += took + static_cast<Time>(flow.packets - 2) * (slowest - previous);
    at = std::max(at, flow.packets > 1 ? before : 0) + port.speed->of(last) + port.delay;
    before += port.delay;
  }
  if (!settings_.fct_at_ack) return at;
  Time ahead = flow.packets > 1 ? before : 0;  // the ACK of the last full packet, which a short last one may catch up
  for (int hop = 0; hop < ways.ack_hops; ++hop) {
    const Port& port = ports_[ways.acks[hop]];
    const Time took = port.speed->of(settings_.ack_bytes);
    ahead += took;
    at = std::max(at, flow.packets > 1 ? ahead : 0) + took + port.delay;
    ahead += port.delay;
  }
  return at;
}

// --- a run

Time Simulation::earliest() const { return *std::min_element(next_.begin(), next_.end()); }

void Simulation::sample(const Watch& watch) {
  samples_.times.push_back(now_);
  for (const std::uint32_t number : watch.flows) {
    const Flow& flow = flows_[number];
    const bool active = flow.start <= now_ && flow.acked < flow.packets;
    samples_.gbps.push_back(active ? flow.gbps : 0);
    samples_.under_way.push_back(static_cast<double>(flow.under_way()));
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

void Simulation::run(const std::function<bool()>& go_on, const Watch& watch) {
  require_watch(watch);
  Time look = watch.every == never ? never : 0;
  for (std::uint64_t windows = 0; unfinished_ > 0; ++windows) {
    const Time first = earliest();
    const Time begin = std::min(std::max(first, now_), look);
    if (first == never || begin >= settings_.horizon) break;
    now_ = begin;
    if (begin == look) {
      sample(watch);
      look += watch.every;
    }
    now_ = std::min({begin + lookahead_, settings_.horizon, look});
    run_window(begin, now_);
    if (windows % 1024 == 0 && !go_on()) break;
  }
}

void Simulation::run_window(Time begin, Time end) {
  for (int node = 0; node < wiring_.nodes(); ++node) {
    if (next_[static_cast<std::size_t>(node)] >= end) continue;
    if (node < wiring_.hosts())
      run_host(node, begin, end);
    else
      run_switch(node, begin, end);
  }
}

void Simulation::gather(int node, Time begin, Time end) {
  keys_.clear();
  const int first = wiring_.first(node), last = wiring_.first(node + 1);
  for (int i = first; i < last; ++i) {
    const Ring<Packet>& wire = ports_[ports_[static_cast<std::size_t>(i)].peer_port].wire;
    for (std::size_t k = 0; k < wire.size() && wire[k].time < end; ++k)
      keys_.push_back(static_cast<std::uint64_t>(wire[k].time - begin) << port_bits |
                      static_cast<std::uint64_t>(i - first));
  }
  std::sort(keys_.begin(), keys_.end());
}

Packet Simulation::take(std::uint64_t key, int& port) {
  port += static_cast<int>(key & ((1u << port_bits) - 1));
  Ring<Packet>& wire = ports_[ports_[static_cast<std::size_t>(port)].peer_port].wire;
  const Packet packet = wire.front();
  wire.pop();
  return packet;
}

void Simulation::rest(int node, Time own) {
  for (int i = wiring_.first(node); i < wiring_.first(node + 1); ++i) {
    const Ring<Packet>& wire = ports_[ports_[static_cast<std::size_t>(i)].peer_port].wire;
    if (!wire.empty()) own = std::min(own, wire.front().time);
  }
  next_[static_cast<std::size_t>(node)] = own;
}

void Simulation::run_switch(int node, Time begin, Time end) {
  Switch& at = switches_[static_cast<std::size_t>(node - wiring_.hosts())];
  gather(node, begin, end);
  for (const std::uint64_t key : keys_) {
    int in = wiring_.first(node);
    const Packet packet = take(key, in);
    if (is_pfc(packet))
      at.hear(packet, in);
    else
      at.receive(packet, in, next_port(packet));
  }
  rest(node, at.finish(end));
}

void Simulation::run_host(int node, Time begin, Time end) {
  Host& at = hosts_[static_cast<std::size_t>(node)];
  gather(node, begin, end);
  std::size_t i = 0;
  for (;;) {
    const Time arrival = i < keys_.size() ? begin + static_cast<Time>(keys_[i] >> port_bits) : never;
    const Time own = at.next();
    if (std::min(arrival, own) >= end) break;
    if (arrival <= own) {
      int in = wiring_.first(node);
      const Packet packet = take(keys_[i++], in);
      at.receive(packet, in);
    } else {
      at.act(own);
    }
  }
  rest(node, at.next());
}

}  // namespace remy_plus::fabric
