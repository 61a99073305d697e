// Parts of a run, and the threads that share them.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <queue>
#include <utility>

#include "remy_plus/fabric/simulation.hpp"

namespace remy_plus::fabric {

namespace {

constexpr std::size_t parts_of_thread = 8;
constexpr std::uint64_t rounds_of_share = 64;       // with the same parts
constexpr double least_windows = 200;               // of the least packets that a run needs
constexpr std::chrono::microseconds patience(200);  // of threads, for the next window

}  // namespace

Simulation::Loads Simulation::loads() const {
  Loads found{std::vector<double>(next_.size()), std::vector<double>(ports_.size())};
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const Ways& ways = ways_[i];
    const Flow& flow = flows_[i];
    const auto time = static_cast<double>(settings_.horizon - std::min(flow.start, settings_.horizon));
    const double most = time * flow.line_gbps / 8000 / (settings_.payload + settings_.overhead);
    const double packets = flow.start == never ? flow.packets : std::min<double>(flow.packets, most);
    const auto cross = [&](int port) {
      found.ports[static_cast<std::size_t>(port)] += packets;
      found.nodes[static_cast<std::size_t>(wiring_.end(port).node)] += packets;
      found.nodes[static_cast<std::size_t>(wiring_.end(port).peer)] += packets;
    };
    std::for_each(ways.data, ways.data + ways.data_hops, cross);
    std::for_each(ways.acks, ways.acks + ways.ack_hops, cross);
  }
  return found;
}

// Greedy graph growing (Karypis and Kumar, SIAM J. Sci. Comput. 1998, section 3.2): a part begins at a node and goes on
// with the one that has the largest share of its packets with it.
void Simulation::cut(const Loads& loads, std::size_t parts) {
  constexpr std::uint32_t none = UINT32_MAX;
  part_of_.assign(next_.size(), none);
  double left = std::accumulate(loads.nodes.begin(), loads.nodes.end(), 0.0);
  std::size_t first = 0;
  for (std::uint32_t number = 0; number < parts; ++number) {
    const double wanted = left / static_cast<double>(parts - number);
    std::vector<double> shared(next_.size());
    std::priority_queue<std::pair<double, std::size_t>> near;  // share of its packets, node
    for (double own = 0; own < wanted || number + 1 == parts;) {
      while (first < part_of_.size() && part_of_[first] != none) ++first;
      if (first == part_of_.size()) break;
      std::size_t node = first;
      for (; !near.empty() && part_of_[node = near.top().second] != none; node = first) near.pop();
      const double load = loads.nodes[node];
      if (number + 1 < parts && own > 0 && own + load / 2 > wanted) break;
      part_of_[node] = number;
      own += load;
      left -= load;
      for (int i = wiring_.first(static_cast<int>(node)); i < wiring_.first(static_cast<int>(node) + 1); ++i) {
        const End& end = wiring_.end(i);
        const auto peer = static_cast<std::size_t>(end.peer), back = static_cast<std::size_t>(end.peer_port);
        if (part_of_[peer] != none || loads.nodes[peer] == 0) continue;
        shared[peer] += loads.ports[static_cast<std::size_t>(i)] + loads.ports[back];
        near.push({shared[peer] / loads.nodes[peer], peer});
      }
    }
  }
}

void Simulation::fill_parts(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) parts_.push_back(std::make_unique<Part>());
  for (int node = 0; node < wiring_.nodes(); ++node)
    (node < wiring_.hosts() ? part_of(node).hosts : part_of(node).switches).push_back(node);
}

void Simulation::divide() {
  const std::size_t threads = std::clamp<std::size_t>(threads_.count, 1, next_.size());
  const std::size_t parts = std::min(threads * parts_of_thread, next_.size());
  if (threads > 1) {
    const Loads loads = this->loads();
    const double packets = std::accumulate(loads.nodes.begin(), loads.nodes.end(), 0.0);
    cut(loads, parts);
    std::vector<std::uint32_t> part;
    for (const Flow& flow : flows_) part.push_back(part_of_[flow.src]);
    if (packets >= least_windows * static_cast<double>(threads_.least_packets) && transport_->divide(part))
      pool_ = std::make_unique<ThreadPool>(threads, patience);
  }
  if (!pool_) part_of_.assign(next_.size(), 0);
  fill_parts(pool_ ? parts : 1);
  shares_.resize(threads);
  for (Share& share : shares_) share.to.resize(threads);
  stacks_.divide(parts_.size());
  reports_.divide(parts_.size());
}

Time Simulation::earliest() const {
  Time found = never;
  for (const auto& part : parts_) found = std::min(found, part->tally.next);
  return found;
}

void Simulation::wake(int node, Time at) {
  Time& next = next_[static_cast<std::size_t>(node)];
  next = std::min(next, at);
  Time& of_part = part_of(node).tally.next;
  of_part = std::min(of_part, at);
}

std::uint64_t Simulation::retransmitted() const {
  std::uint64_t sum = 0;
  for (const auto& part : parts_) sum += part->tally.retransmitted;
  return sum;
}

Counts Simulation::counts() const {
  Counts sum;
  for (const auto& part : parts_) {
    sum.timeouts += part->tally.counts.timeouts;
    sum.nacks += part->tally.counts.nacks;
  }
  return sum;
}

void Simulation::run_nodes(Time begin, Time end) {
  std::uint64_t packets = 0;
  for (const auto& part : parts_) packets += part->tally.packets;  // of the round before
  if (pool_ && packets >= threads_.least_packets) {
    if (round_ % rounds_of_share == 0) share_out();
    go_apart();
    ++round_;
    pool_->run(shares_.size(), [&](std::size_t thread) { run_share(thread, begin, end); });
  } else {
    settle();
    for (const auto& part : parts_) run_part(*part, begin, end);
    for (const auto& part : parts_) look_ahead(*part);
  }
  gather_tallies();
  if (!node_packets_.empty()) round_packets_.insert(round_packets_.end(), node_packets_.begin(), node_packets_.end());
}

void Simulation::settle() {
  if (alone_) return;
  for (std::size_t thread = 0; thread < shares_.size(); ++thread) take_in(thread, round_ & 1);
  for (Port& port : ports_) port.out = nullptr;
  alone_ = true;
}

void Simulation::go_apart() {
  if (!alone_) return;
  const auto share = [this](int node) { return share_[part_of_[static_cast<std::size_t>(node)]]; };
  for (int i = 0; i < wiring_.ports(); ++i) {
    const std::uint32_t from = share(wiring_.end(i).node), to = share(wiring_.end(i).peer);
    if (from != to) ports_[static_cast<std::size_t>(i)].out = &shares_[from].to[to];
  }
  alone_ = false;
}

// Stacks are fetched while packets are put onto their wires: they were in the cache of the other thread.
void Simulation::take_in(std::size_t thread, std::size_t lane) {
  for (Share& from : shares_)
    from.to[thread].empty(lane, [this](const Outbox::Sent& sent) {
      if (!is_pfc(sent.packet) && !(sent.packet.flags & bare) && parts_.front()->around->stacked(sent.packet))
        stacks_.fetch_soon(sent.packet.extra);
      wires_[sent.port].push(sent.packet);
      Time& next = next_[sent.node];
      next = std::min(next, sent.packet.time);
    });
}

// By what parts went through of late.
void Simulation::share_out() {
  double all = 0, before = 0;
  for (const auto& part : parts_) all += static_cast<double>(part->recent);
  std::vector<std::uint32_t> share;  // of each part
  for (const auto& part : parts_) {
    const auto own = static_cast<double>(std::exchange(part->recent, part->recent / 2));
    before += own;
    const double at =
        all > 0 ? (before - own / 2) / all : static_cast<double>(share.size()) / static_cast<double>(parts_.size());
    const auto thread = static_cast<std::size_t>(at * static_cast<double>(shares_.size()));
    share.push_back(static_cast<std::uint32_t>(std::min(thread, shares_.size() - 1)));
  }
  if (share == share_) return;
  settle();
  share_ = share;
  for (Share& each : shares_) each.parts.clear();
  for (std::size_t i = 0; i < parts_.size(); ++i) shares_[share_[i]].parts.push_back(parts_[i].get());
}

void Simulation::run_share(std::size_t thread, Time begin, Time end) {
  Share& share = shares_[thread];
  for (Outbox& each : share.to) each.begin(round_ & 1);
  take_in(thread, ~round_ & 1);
  for (Part* part : share.parts) run_part(*part, begin, end);
  for (Part* part : share.parts) {
    look_ahead(*part);
    part->recent += part->tally.packets;
  }
  for (const Outbox& each : share.to)
    if (each.next() != never) share.parts.front()->tally.next = std::min(share.parts.front()->tally.next, each.next());
}

void Simulation::look_ahead(Part& part) {
  part.tally.next = never;
  for (const auto* nodes : {&part.hosts, &part.switches})
    for (const int node : *nodes) part.tally.next = std::min(part.tally.next, next_[static_cast<std::size_t>(node)]);
}

void Simulation::gather_tallies() {
  for (const auto& part : parts_) {
    Tally& tally = part->tally;
    progress_ = std::max(progress_, tally.progress);
    if (tally.ended == 0) continue;
    unfinished_ -= std::exchange(tally.ended, 0);
    for (const auto& [flow, at] : tally.ends) rounds_->end(flow, at);
    tally.ends.clear();
  }
}

}  // namespace remy_plus::fabric
