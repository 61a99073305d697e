// Hosts, switches and flows of a run.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "remy_plus/fabric/keys.hpp"
#include "remy_plus/fabric/simulation.hpp"

namespace remy_plus::fabric {

namespace {

constexpr Time longest_window = Time{1} << 51;  // 2.3 s: with a port it fits into a key

// A host that is no host, or a time that is none.
void require_flow(const FlowStart& flow, std::size_t number, int hosts, int priorities) {
  const auto refuse = [&](const char* text) {
    throw std::invalid_argument("flow " + std::to_string(number) + ": " + text);
  };
  if (flow.src < 0 || flow.src >= hosts || flow.dst < 0 || flow.dst >= hosts) refuse("needs hosts that there are");
  if (flow.src == flow.dst) refuse("is sent to its sender");
  if (flow.start < 0 || flow.start > latest_start) refuse("must start within 10^15 ns");
  if (flow.priority < 0 || flow.priority >= priorities) refuse("needs a priority that there is");
  if (flow.pair > static_cast<int>(number)) refuse("needs a queue pair whose first flow is not behind it");
}

// The first flow of its queue pair.
std::size_t pair_of(const std::vector<FlowStart>& flows, std::size_t flow) {
  return flows[flow].pair < 0 ? flow : static_cast<std::size_t>(flows[flow].pair);
}

}  // namespace

Simulation::Simulation(const Wiring& wiring, const std::vector<FlowStart>& flows, const Settings& settings,
                       const MakeTransport& transport, const Events& events, const Threads& threads,
                       const std::vector<FlowSet>& sets)
    : wiring_(wiring), settings_(settings), agendas_(static_cast<std::size_t>(wiring.nodes())), threads_(threads) {
  require_possible(settings);
  make_ports();
  if (!events.changes.empty()) {
    failures_ = std::make_unique<Failures>(events, wiring);
    recovery_ = std::make_unique<Recovery>(failures_->begins());
  }
  make_ways(flows);
  const auto in_rtts = [&](double rtts, Time& time) {
    if (rtts > 0) time = std::llround(rtts * static_cast<double>(base_rtt_));
  };
  in_rtts(settings_.retransmit_rtts, settings_.retransmit_after);
  in_rtts(settings_.nack_gap_rtts, settings_.nack_gap);
  if (settings_.retransmit_after > 0)  // sooner, all would be sent again
    settings_.retransmit_after = std::max(settings_.retransmit_after, 2 * base_rtt_);
  transport_ = transport(frame());
  transport_->reserve(flows.size());
  if (hosts() == Hosts::windowed && (settings.spraying != Spraying::flow || settings.sleek))
    throw std::invalid_argument(std::string(settings.sleek ? "sleek" : "spraying") + ": needs selective hosts");
  if (settings.ways != WayNumbers::hashed && settings.spraying == Spraying::flow)
    throw std::invalid_argument("ways: only senders that spray number them: let them spray, or take hashed");
  if (transport_->choice() && settings.adaptive)
    throw std::invalid_argument("adaptive: switches choose the ways, and so a law of ways does nothing");
  if (transport_->choice() && settings.spraying == Spraying::flow)
    throw std::invalid_argument("spraying: flow: a law that chooses ways has none to choose from");
  if (hosts() == Hosts::windowed && transport_->hears_answers())
    throw std::invalid_argument("trims, marked_ways: only selective hosts know them");
  require_grants();
  if (settings.payload + settings.overhead + sent_telemetry(*transport_) > largest_frame ||
      settings.ack_bytes + returned_telemetry(*transport_) > largest_frame)
    throw std::invalid_argument("frames may have " + std::to_string(largest_frame) + " bytes at most");
  make_headroom();
  make_markers();
  make_queues();
  make_flows(flows, sets);
  make_nodes(flows);
}

// RCP's packets have no room for what they ask for.
void Simulation::require_grants() const {
  if (!settings_.granted) return;
  if (hosts() == Hosts::windowed) throw std::invalid_argument("granted: needs selective hosts");
  for (const Transport* part : transport_->parts())
    if (part->telemetry() == Telemetry::fair_rate) throw std::invalid_argument("granted: not with rcp");
}

Frame Simulation::frame() const {
  Frame made;
  made.base_rtt = base_rtt_;
  made.queue_quantum = settings_.queue_quantum;
  made.bytes_quantum = settings_.bytes_quantum;
  made.whole_ns = settings_.whole_ns;
  made.lossless = settings_.lossless && settings_.queue_bdps == 0;
  made.payload = settings_.payload;
  made.frame_bytes = settings_.payload + settings_.overhead;
  made.queue_bdps = settings_.queue_bdps;
  made.trims = settings_.queue_bdps > 0 && settings_.trim_bytes > 0;
  return made;
}

// --- what there is

void Simulation::make_ports() {
  static_assert(most_ports_of_node < 1 << port_bits);
  for (int node = 0; node < wiring_.nodes(); ++node)
    if (wiring_.first(node + 1) - wiring_.first(node) > most_ports_of_node)
      throw std::invalid_argument("a node may have " + std::to_string(most_ports_of_node) + " ports at most");
  if (wiring_.ports() > most_ports)
    throw std::invalid_argument("a fabric may have " + std::to_string(most_ports) + " ports at most");
  ports_.resize(static_cast<std::size_t>(wiring_.ports()));
  lookahead_ = longest_window;
  const double slowest = slowest_host();
  for (int i = 0; i < wiring_.ports(); ++i) {
    const End& end = wiring_.end(i);
    Port& port = ports_[static_cast<std::size_t>(i)];
    port.speed = port.rated = speed_of(end.gbps);
    port.delay = std::max<Time>(std::llround(end.delay_ns * nanosecond), 1);
    port.peer = static_cast<std::uint32_t>(end.peer);
    port.peer_port = static_cast<std::uint16_t>(end.peer_port);
    const double doublings = std::floor(std::log2(std::max(end.gbps / slowest, 1.0)));
    port.alpha = settings_.alpha * (settings_.alpha_by_rate && settings_.lossless ? std::exp2(doublings) : 1);
    if (settings_.priorities > 1) port.lanes.resize(static_cast<std::size_t>(settings_.priorities));
    port.level = settings_.level;
    port.draws = Draws(key_of(settings_.seed, marking, static_cast<std::uint64_t>(i)));
    lookahead_ = std::min(lookahead_, port.delay);
  }
  wires_.resize(ports_.size());
  for (Port& port : ports_) {
    port.onto = &wires_[port.peer_port];
    port.onto->next = &agendas_[port.peer].next;
  }
  for (const int node : settings_.silent) {
    if (node < wiring_.hosts() || node >= wiring_.nodes()) throw std::invalid_argument("silent: must be switches");
    for (int i = wiring_.first(node); i < wiring_.first(node + 1); ++i)
      ports_[static_cast<std::size_t>(i)].stamps = false;
  }
  for (Port& port : ports_) port.stamps &= settings_.write_to_hosts || static_cast<int>(port.peer) >= wiring_.hosts();
}

const Speed* Simulation::speed_of(double gbps) {
  const auto found = std::find_if(speeds_.begin(), speeds_.end(), [&](const auto& s) { return s->gbps() == gbps; });
  if (found != speeds_.end()) return found->get();
  return speeds_.emplace_back(std::make_unique<Speed>(gbps, settings_.whole_ns)).get();
}

double Simulation::slowest_host() const {
  double slowest = 1e300;
  for (int i = 0; i < wiring_.first(wiring_.hosts()); ++i) slowest = std::min(slowest, wiring_.end(i).gbps);
  return slowest;
}

// Telemetry included.
double Simulation::full_frame() const { return settings_.payload + settings_.overhead + sent_telemetry(*transport_); }

// That a bandwidth-delay product takes at the rate of the slowest host.
double Simulation::frames_of_bdp() const {
  return std::ceil(static_cast<double>(base_rtt_) * slowest_host() / 8000 / full_frame());
}

// At 100 Gb/s, of the base RTT; in whole frames where queues are.
double Simulation::bytes_of(double bdps) const {
  if (settings_.queue_bdps == 0) return bdps * 100 * static_cast<double>(base_rtt_) / 8000;
  return std::ceil(bdps * frames_of_bdp()) * full_frame() * 100 / slowest_host();
}

void Simulation::make_markers() {
  const MarkerParameters marker = in_bytes(settings_.marker);
  for (Port& port : ports_) {
    port.marker = marker_of(marker, port.speed->gbps());
    port.marks = settings_.mark_to_hosts || static_cast<int>(port.peer) >= wiring_.hosts();
  }
}

// In full frames of a bandwidth-delay product at the rate of the slowest host, in proportion to the port's rate, and of
// one frame at least.
std::int64_t Simulation::own_queue(double gbps) const {
  const double bytes = settings_.queue_bdps * frames_of_bdp() * full_frame() / slowest_host();
  return std::llround(std::max(bytes * gbps, full_frame()));
}

void Simulation::make_queues() {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    Port& port = ports_[i];
    port.most_queued = own_queue(port.speed->gbps());
    port.coin = Draws(key_of(settings_.seed, trimming, i));
  }
}

// Bytes that arrive after the one that exceeds a threshold, however short the link is: that frame itself, those that
// both ends are sending as the pause is decided and as it is heard, and one to spare. A pause may wait for the frames
// of the other classes.
void Simulation::make_headroom() {
  const int telemetry = std::max(most_telemetry, sent_telemetry(*transport_));
  const int frames = settings_.headroom_delays > 0 ? 4 * (settings_.payload + settings_.overhead + telemetry) : 0;
  const int others = settings_.headroom_delays > 0 ? 2 * (settings_.priorities - 1) * settings_.pfc_bytes : 0;
  for (int i = 0; i < wiring_.ports(); ++i) {
    const End& end = wiring_.end(i);
    const double delays = settings_.headroom_delays * end.gbps * end.delay_ns / 8;
    ports_[static_cast<std::size_t>(i)].most_headroom = std::llround(delays) + frames + others;
  }
}

void Simulation::make_ways(const std::vector<FlowStart>& flows) {
  const Routes routes(wiring_);
  base_rtt_ = settings_.base_rtt > 0 ? settings_.base_rtt : longest_rtt(routes);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const FlowStart& flow = flows[i];
    require_flow(flow, i, wiring_.hosts(), settings_.priorities);
    const auto way = [&](int src, int dst, const std::vector<int>& switches, Purpose purpose) {
      return switches.empty() ? routes.way(src, dst, key_of(settings_.seed, purpose, pair_of(flows, i)))
                              : way_by(wiring_, src, dst, switches);
    };
    const std::vector<int> data = way(flow.src, flow.dst, flow.switches, data_way);
    const std::vector<int> acks = way(flow.dst, flow.src, flow.ack_switches, ack_way);
    if (data.size() > most_hops || acks.size() > most_hops)
      throw std::invalid_argument("flow " + std::to_string(i) + ": its way has more than " + std::to_string(most_hops) +
                                  " links");
    Ways& ways = ways_.emplace_back();
    ways.data_hops = static_cast<std::uint8_t>(data.size());
    ways.fixed = !flow.switches.empty() || !flow.ack_switches.empty();
    ways.ack_hops = static_cast<std::uint8_t>(acks.size());
    std::copy(data.begin(), data.end(), ways.data);
    std::copy(acks.begin(), acks.end(), ways.acks);
    ways.base_rtt = one_way(data, settings_.payload + settings_.overhead) + one_way(acks, settings_.ack_bytes);
    first_ports_.push_back(ways.data[0]);
    first_ports_.push_back(ways.acks[0]);
  }
  if (settings_.per_packet() || failures_) make_forwarding(flows, routes);
}

void Simulation::make_forwarding(const std::vector<FlowStart>& flows, const Routes& routes) {
  std::vector<Forwarding::Ends> ends;
  for (std::size_t i = 0; i < flows.size(); ++i)
    ends.push_back({static_cast<std::uint32_t>(flows[i].src), static_cast<std::uint32_t>(flows[i].dst),
                    key_of(settings_.seed, data_way, pair_of(flows, i)),
                    key_of(settings_.seed, ack_way, pair_of(flows, i))});
  forwarding_ = std::make_unique<Forwarding>(wiring_, routes, std::move(ends), settings_.ways != WayNumbers::hashed);
}

void Simulation::make_flows(const std::vector<FlowStart>& flows, const std::vector<FlowSet>& sets) {
  for (const FlowStart& each : flows) {
    Flow& flow = flows_.emplace_back();
    flow.size = each.size;
    flow.start = each.after < 0 ? each.start : never;
    if (flow.start < settings_.horizon) last_start_ = std::max(last_start_, flow.start);
    flow.src = static_cast<std::uint32_t>(each.src);
    flow.dst = static_cast<std::uint32_t>(each.dst);
    flow.payload = settings_.payload;
    flow.pair = static_cast<std::uint32_t>(pair_of(flows, flows_.size() - 1));
    flow.priority = static_cast<std::uint8_t>(each.priority);
    flow.switches = ways_[flows_.size() - 1].data_hops - 1;
    flow.base_rtt = ways_[flows_.size() - 1].base_rtt;
    flow.line_gbps = ports_[ways_[flows_.size() - 1].data[0]].speed->gbps();
    const auto payload = static_cast<std::uint64_t>(settings_.payload);
    if (each.size == 0 || each.size / payload >= 0xffffffffu)
      throw std::invalid_argument("a flow must have between 1 byte and 4 thousand million packets");
    flow.packets = static_cast<std::uint32_t>((each.size + payload - 1) / payload);
  }
  unfinished_ = static_cast<std::uint64_t>(
      std::count_if(flows.begin(), flows.end(), [](const FlowStart& each) { return each.after < 0; }));
  transport_->plan(flows_, settings_);
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    const Telemetry telemetry = transport_->of(i).telemetry();
    flows_[i].telemetry = telemetry;
    flows_[i].data_overhead = settings_.overhead + transport_->of(i).sent_overhead();
    flows_[i].ack_bytes = settings_.ack_bytes + transport_->of(i).returned_overhead();
    flows_[i].says_left = transport_->of(i).from_receivers().returned_bytes() > 0;
    if (telemetry != Telemetry::stack) continue;
    const Ways& ways = ways_[i];
    const auto writes = [&](int port) { return ports_[static_cast<std::size_t>(port)].stamps; };
    const auto writers = forwarding_ && !ways.fixed  // at most, on any of its shortest ways
                             ? ways.data_hops - 1
                             : std::count_if(ways.data + 1, ways.data + ways.data_hops, writes);
    if (writers > most_stamps)
      throw std::invalid_argument("flow " + std::to_string(i) + ": " + std::to_string(writers) +
                                  " switches on its way write stamps, and packets have room for " +
                                  std::to_string(most_stamps) +
                                  ": let fewer write (stamping), or take a transport that reads none");
  }
  if (!sets.empty()) waits_ = std::make_unique<Waits>(flows, sets, lookahead_);
}

void Simulation::make_nodes(const std::vector<FlowStart>& flows) {
  divide();
  const std::vector<const Transport*> kinds = transport_->parts();
  const auto any = [&](Telemetry what) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const auto* each) { return each->telemetry() == what; });
  };
  if (any(Telemetry::fair_rate)) make_fair_rates();
  if (any(Telemetry::header)) make_headers();
  const bool selective = hosts() == Hosts::selective;
  if (selective) make_choosers();
  if (settings_.lossless && settings_.queue_bdps == 0) losses_ = std::make_unique<Losses>(flows.size(), lookahead_);
  auto* const uet = dynamic_cast<Uet*>(transport_.get());
  static const GrantParameters as_rccc;
  const GrantParameters* const grants = uet ? uet->grants() : selective && settings_.granted ? &as_rccc : nullptr;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i]->around.emplace(Surroundings{settings_, stacks_, flows_, any(Telemetry::stack), kinds.size() > 1,
                                           headers_.get(), selective ? &reports_ : nullptr, losses_.get(),
                                           wiring_.hosts(), parts_[i]->share});
    parts_[i]->hosting.emplace(Hosting{flows_, first_ports_, *transport_, parts_[i]->tally, waits_.get(), nullptr,
                                       base_rtt_, sprayed_, uet, transport_->hears_answers(), transport_->choice(),
                                       grants, losses_.get()});
  }
  fill_hosts(flows);
  fill_switches();
}

// Ways have the same numbers for all flows from a host to those of one switch.
void Simulation::make_choosers() {
  sprayed_.resize(flows_.size());
  std::map<std::tuple<std::uint32_t, int, std::uint16_t>, std::uint32_t> first;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    const Flow& flow = flows_[i];
    const int leaf = wiring_.end(wiring_.first(static_cast<int>(flow.dst))).peer;
    sprayed_[i].chooser = settings_.ways == WayNumbers::shared
                              ? first.try_emplace({flow.src, leaf, first_ports_[2 * i]}, i).first->second
                              : flow.pair;
  }
}

void Simulation::fill_hosts(const std::vector<FlowStart>& flows) {
  hosts_ = hosts_for(hosts(), settings_.priorities > 1);
  std::visit(
      [&](auto& hosts) {
        for (int node = 0; node < wiring_.hosts(); ++node)
          hosts.emplace_back(ports_, wiring_.first(node), wiring_.first(node + 1), *part_of(node).around,
                             *part_of(node).hosting);
        for (std::uint32_t i = 0; i < flows_.size(); ++i) {
          if (i > 0 && flows[i].start < flows[i - 1].start)
            throw std::invalid_argument("flows must rise by their starts");
          if (flows[i].after < 0) hosts[flows_[i].src].starts().add(i);
        }
        for (int host = 0; host < wiring_.hosts(); ++host) wake(host, hosts[static_cast<std::size_t>(host)].next());
      },
      hosts_);
}

void Simulation::fill_switches() {
  switches_ = switches_for(settings_.queue_bdps > 0, headers_ != nullptr, settings_.priorities > 1);
  std::visit(
      [&](auto& switches) {
        for (int node = wiring_.hosts(); node < wiring_.nodes(); ++node)
          switches.emplace_back(ports_, wiring_.first(node), wiring_.first(node + 1), *part_of(node).around);
      },
      switches_);
}

// Until packets tell their RTTs, the largest base RTT counts.
void Simulation::make_fair_rate(Port& port) const {
  port.fair_rate.emplace(rcp_gains, port.speed->gbps() * 125, static_cast<double>(base_rtt_) / microsecond);
}

void Simulation::make_fair_rates() {
  for (int i = wiring_.first(wiring_.hosts()); i < wiring_.ports(); ++i)
    if (Port& port = ports_[static_cast<std::size_t>(i)]; port.stamps) make_fair_rate(port);
}

void Simulation::make_headers() {
  Stampings stampings;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) stampings.add(transport_->of(i).header());
  if (stampings.all.empty()) return;  // nobody has the transport
  headers_ = std::make_unique<Headers>(std::move(stampings), settings_.seed, shares_.size());
  for (const Port& port : ports_) headers_->add(port.speed->gbps(), static_cast<double>(base_rtt_) / microsecond);
}

}  // namespace remy_plus::fabric
