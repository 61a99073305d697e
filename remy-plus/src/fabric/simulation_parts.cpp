// Parts of a run, and the threads that share them.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "remy_plus/fabric/simulation.hpp"

namespace remy_plus::fabric {

namespace {

constexpr std::size_t parts_of_thread = 8;
constexpr double least_windows = 200;               // of the least packets that a run needs
constexpr std::chrono::microseconds patience(200);  // of threads, for the next window

}  // namespace

// Hosts, then the switch that their first link leads to.
std::vector<int> Simulation::by_racks() const {
  const auto rack = [this](int node) {
    const bool wired = node < wiring_.hosts() && wiring_.first(node) < wiring_.first(node + 1);
    return wired ? std::max(node, wiring_.end(wiring_.first(node)).peer) : node;
  };
  std::vector<int> order(next_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, rack);
  return order;
}

std::vector<double> Simulation::loads() const {
  std::vector<double> found(next_.size());
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const Ways& ways = ways_[i];
    const auto pass = [&](int port) { found[static_cast<std::size_t>(wiring_.end(port).node)] += flows_[i].packets; };
    std::for_each(ways.data, ways.data + ways.data_hops, pass);
    std::for_each(ways.acks, ways.acks + ways.ack_hops, pass);
  }
  return found;
}

void Simulation::make_parts(const std::vector<double>& loads, std::size_t count) {
  parts_.clear();
  for (std::size_t i = 0; i < count; ++i) parts_.push_back(std::make_unique<Part>());
  part_of_.assign(next_.size(), 0);
  const double all = std::accumulate(loads.begin(), loads.end(), 1e-9);
  double before = 0;
  for (const int node : by_racks()) {
    const double own = loads[static_cast<std::size_t>(node)];
    const auto at = static_cast<std::size_t>((before + own / 2) / all * static_cast<double>(count));
    before += own;
    part_of_[static_cast<std::size_t>(node)] = static_cast<std::uint32_t>(std::min(at, count - 1));
    Part& part = part_of(node);
    (node < wiring_.hosts() ? part.hosts : part.switches).push_back(node);
  }
}

void Simulation::make_crossings() {
  for (int i = 0; i < wiring_.ports(); ++i) {
    Part &from = part_of(wiring_.end(i).node), &to = part_of(wiring_.end(i).peer);
    if (&from == &to) continue;
    Port& port = ports_[static_cast<std::size_t>(i)];
    crossings_.push_back(std::make_unique<Crossing>(port, wires_[port.peer_port], next_[port.peer]));
    from.out.push_back(crossings_.back().get());
    to.in.push_back(crossings_.back().get());
  }
}

void Simulation::share_out() {
  const std::vector<double> loads = this->loads();
  const double least = least_windows * static_cast<double>(threads_.least_packets);
  if (threads_.count > 1 && std::accumulate(loads.begin(), loads.end(), 0.0) >= least) {
    make_parts(loads, std::min(threads_.count * parts_of_thread, next_.size()));
    std::vector<std::uint32_t> part;
    for (const Flow& flow : flows_) part.push_back(part_of_[flow.src]);
    if (transport_->divide(part)) pool_ = std::make_unique<ThreadPool>(threads_.count, patience);
  }
  if (pool_)
    make_crossings();
  else
    make_parts(loads, 1);
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
    alone_ = false;
    ++round_;
    pool_->run(threads_.count, [&](std::size_t number) { run_parts(number, begin, end); });
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
  for (const auto& each : crossings_) each->join(round_ & 1);
  alone_ = true;
}

void Simulation::run_parts(std::size_t number, Time begin, Time end) {
  const std::size_t first = number * parts_.size() / threads_.count;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = *parts_[(first + i) % parts_.size()];
    if (part.claimed.load(std::memory_order_relaxed) == round_ || part.claimed.exchange(round_) == round_) continue;
    for (Crossing* each : part.out) each->send_by(round_ & 1);
    for (Crossing* each : part.in) each->take(~round_ & 1);
    run_part(part, begin, end);
    look_ahead(part);
    for (const Crossing* each : part.out) part.tally.next = std::min(part.tally.next, each->sent(round_ & 1));
  }
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
