// Parts of a run, and the threads that share them.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <queue>
#include <thread>
#include <utility>

#include "remy_plus/fabric/simulation.hpp"

namespace remy_plus::fabric {

namespace {

constexpr std::size_t regions_of_thread = 8, parts_of_thread = 32;
constexpr std::uint64_t rounds_of_share = 8;        // with the same parts, and with one barrier
constexpr double least_gain = 0.01;                 // of balance, for which parts go to another thread
constexpr double least_windows = 200;               // of the least packets that a run needs
constexpr std::chrono::microseconds patience(200);  // of threads, for the next window

// Which of `count` equal pieces of `all` something is in.
std::uint32_t place(double at, double all, std::size_t count) {
  return all > 0 ? std::min(static_cast<std::uint32_t>(at / all * static_cast<double>(count)),
                            static_cast<std::uint32_t>(count - 1))
                 : 0;
}

// Of a data packet the lines that switches will write, of an ACK all that its sender will read.
void fetch_stack(const Stacks& stacks, const Packet& packet) {
  const StackHeader header = stack_of(packet);
  const Stack& stack = stacks[header.number];
  fetch_to_write(goes_back(packet) ? &stack.stamps.front()
                                   : &stack.stamps[std::min<std::size_t>(header.count, most_stamps - 1)]);
  fetch_to_write(&stack.stamps.back());
}

// Waits until another thread has come to a round. It is not far behind, unless others want its core.
void await(const std::atomic<std::uint64_t>& sent, std::uint64_t round) {
  for (int looks = 0; sent.load(std::memory_order_acquire) < round; ++looks) {
    if (looks < 1000)
      pause();
    else
      std::this_thread::yield();
  }
}

}  // namespace

Simulation::Loads Simulation::loads() const {
  Loads found{std::vector<double>(agendas_.size()), std::vector<double>(ports_.size())};
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

// Greedy graph growing (Karypis and Kumar, SIAM J. Sci. Comput. 1998, section 3.2): a region begins at a node and goes
// on with the one that has the largest share of its packets with it.
std::vector<std::size_t> Simulation::lined_up(const Loads& loads, std::size_t regions) const {
  std::vector<std::size_t> order;
  std::vector<bool> taken(agendas_.size());
  double left = std::accumulate(loads.nodes.begin(), loads.nodes.end(), 0.0);
  std::size_t first = 0;
  for (; regions > 0; --regions) {
    const double wanted = left / static_cast<double>(regions);
    std::vector<double> shared(agendas_.size());
    std::priority_queue<std::pair<double, std::size_t>> near;  // share of its packets, node
    for (double own = 0; own < wanted || regions == 1;) {
      while (first < taken.size() && taken[first]) ++first;
      if (first == taken.size()) break;
      std::size_t node = first;
      for (; !near.empty() && taken[node = near.top().second]; node = first) near.pop();
      const double load = loads.nodes[node];
      if (regions > 1 && own > 0 && own + load / 2 > wanted) break;
      taken[node] = true;
      order.push_back(node);
      own += load;
      left -= load;
      for (int i = wiring_.first(static_cast<int>(node)); i < wiring_.first(static_cast<int>(node) + 1); ++i) {
        const End& end = wiring_.end(i);
        const auto peer = static_cast<std::size_t>(end.peer), back = static_cast<std::size_t>(end.peer_port);
        if (taken[peer] || loads.nodes[peer] == 0) continue;
        shared[peer] += loads.ports[static_cast<std::size_t>(i)] + loads.ports[back];
        near.push({shared[peer] / loads.nodes[peer], peer});
      }
    }
  }
  return order;
}

void Simulation::cut(const Loads& loads, const std::vector<std::size_t>& order, std::size_t parts) {
  const double all = std::accumulate(loads.nodes.begin(), loads.nodes.end(), 0.0);
  double before = 0;
  part_of_.resize(order.size());
  for (const std::size_t node : order) {
    part_of_[node] = place(before + loads.nodes[node] / 2, all, parts);
    before += loads.nodes[node];
  }
}

void Simulation::fill_parts(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) parts_.push_back(own_parts_.emplace_back(std::make_unique<Part>()).get());
  for (int node = 0; node < wiring_.nodes(); ++node)
    (node < wiring_.hosts() ? part_of(node).all.hosts : part_of(node).all.switches).push_back(node);
}

void Simulation::divide() {
  const std::size_t threads = std::clamp<std::size_t>(threads_.count, 1, agendas_.size());
  const std::size_t parts = std::min(threads * parts_of_thread, agendas_.size());
  if (threads > 1) {
    const Loads loads = this->loads();
    const double packets = std::accumulate(loads.nodes.begin(), loads.nodes.end(), 0.0);
    cut(loads, lined_up(loads, threads * regions_of_thread), parts);
    std::vector<std::uint32_t> part;
    for (const Flow& flow : flows_) part.push_back(part_of_[flow.src]);
    if (packets >= least_windows * static_cast<double>(threads_.least_packets) && transport_->divide(part))
      pool_ = std::make_unique<ThreadPool>(threads, patience);
  }
  if (!pool_) part_of_.assign(agendas_.size(), 0);
  fill_parts(pool_ ? parts : 1);
  shares_ = std::vector<Share>(threads);
  for (Share& share : shares_) share.to = std::vector<Outbox>(threads);
  stacks_.divide(threads);
  reports_.divide(threads);
}

void Simulation::wake(int node, Time at) {
  Time& next = agendas_[static_cast<std::size_t>(node)].next;
  next = std::min(next, at);
  last_.next = std::min(last_.next, at);
}

std::uint64_t Simulation::retransmitted() const {
  std::uint64_t sum = 0;
  for (const Part* part : parts_) sum += part->tally.retransmitted;
  return sum;
}

Counts Simulation::counts() const {
  Counts sum;
  for (const Part* part : parts_) {
    sum.timeouts += part->tally.counts.timeouts;
    sum.nacks += part->tally.counts.nacks;
  }
  return sum;
}

std::uint64_t Simulation::windows_together(Time begin, const Looks& looks) const {
  const Time end = begin + static_cast<Time>(rounds_of_share) * lookahead_;
  const bool possible = pool_ && pool_->size() >= shares_.size() && last_.packets >= threads_.least_packets &&
                        !waits_ && node_packets_.empty() && end <= settings_.horizon && looks.next() >= end &&
                        last_start_ >= end;
  return possible ? rounds_of_share : 1;
}

void Simulation::run_apart(Time begin, Time end, std::uint64_t windows) {
  if (round_ >= next_share_out_) share_out();
  go_apart();
  const std::uint64_t first = round_ + 1;
  round_ += windows;
  pool_->run(shares_.size(), [&](std::size_t thread) { run_share(thread, begin, end, first); });
  Round round;
  for (const Share& share : shares_) round.add(share.round);
  round.packets /= windows;
  end_round(round);
}

void Simulation::run_nodes(Time begin, Time end) {
  if (pool_ && last_.packets >= threads_.least_packets) {
    run_apart(begin, end, 1);
  } else {
    settle();
    run_parts(parts_, &Part::all, begin, end);
    end_round(look_ahead(parts_));
  }
  if (!node_packets_.empty()) round_packets_.insert(round_packets_.end(), node_packets_.begin(), node_packets_.end());
}

void Simulation::settle() {
  if (alone_) return;
  for (std::size_t thread = 0; thread < shares_.size(); ++thread) take_in(thread, round_ & 1);
  for (Port& port : ports_) port.onto = &wires_[port.peer_port];
  alone_ = true;
}

void Simulation::go_apart() {
  if (!alone_) return;
  for (int port = 0; port < wiring_.ports(); ++port) direct(port);
  alone_ = false;
}

void Simulation::direct(int port) {
  const std::uint32_t from = part_of(wiring_.end(port).node).share, to = part_of(wiring_.end(port).peer).share;
  Port& at = ports_[static_cast<std::size_t>(port)];
  at.onto = from == to ? &wires_[at.peer_port] : &shares_[from].to[to].wire();
}

// Stacks are fetched while packets are put onto their wires: they were in the cache of the other thread.
void Simulation::take_in(std::size_t thread, std::size_t lane) {
  for (Share& from : shares_)
    from.to[thread].empty(lane, [this](const Packet& packet) {
      if (!is_pfc(packet) && !(packet.flags & bare) && parts_.front()->around->stacked(packet))
        fetch_stack(stacks_, packet);
      wires_[packet.in_port].put(packet);
    });
}

std::vector<std::uint32_t> Simulation::even_shares() const {
  std::vector<std::uint32_t> found;
  double all = 0, before = 0;
  for (const Part* part : parts_) all += static_cast<double>(part->recent);
  for (const Part* part : parts_) {
    const double own = all > 0 ? static_cast<double>(part->recent) : 1;  // nothing is known yet: as many parts each
    found.push_back(place(before + own / 2, all > 0 ? all : static_cast<double>(parts_.size()), shares_.size()));
    before += own;
  }
  return found;
}

double Simulation::imbalance(const std::vector<std::uint32_t>& share) const {
  std::vector<double> own(shares_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) own[share[i]] += static_cast<double>(parts_[i]->recent);
  const double all = std::accumulate(own.begin(), own.end(), 0.0);
  return all > 0 ? *std::ranges::max_element(own) * static_cast<double>(own.size()) / all : 0;
}

// By what parts went through of late. What is on its way between threads is on its link before parts change hands.
void Simulation::share_out() {
  const std::vector<std::uint32_t> share = even_shares();
  std::vector<std::uint32_t> before;
  for (const Part* part : parts_) before.push_back(part->share);
  next_share_out_ = round_ + rounds_of_share;
  const bool gains = round_ == 0 || imbalance(share) + least_gain < imbalance(before);
  for (Part* part : parts_) part->recent /= 2;
  if (!gains) return;
  if (!alone_) pool_->run(shares_.size(), [this](std::size_t thread) { take_in(thread, round_ & 1); });
  for (Share& each : shares_) each.parts.clear();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i]->share = share[i];
    shares_[share[i]].parts.push_back(parts_[i]);
  }
  mark_borders();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (alone_ || share[i] == before[i]) continue;
    for (const auto* nodes : {&parts_[i]->all.hosts, &parts_[i]->all.switches})
      for (const int node : *nodes)
        for (int port = wiring_.first(node); port < wiring_.first(node + 1); ++port) {
          direct(port);
          direct(wiring_.end(port).peer_port);
        }
  }
}

// Nodes with links to those of other threads come first, so that these wait for nothing else.
void Simulation::run_share(std::size_t thread, Time begin, Time end, std::uint64_t first) {
  Share& share = shares_[thread];
  try {
    Time next = never;
    for (std::uint64_t round = first; round <= round_; ++round) {
      const Time from = begin + static_cast<Time>(round - first) * lookahead_;
      const Time to = round == round_ ? end : from + lookahead_;
      for (Outbox& each : share.to) each.begin();
      for (Share& other : shares_) await(other.sent, round - 1);
      take_in(thread, ~round & 1);
      run_parts(share.parts, &Part::border, from, to);
      next = never;
      for (Outbox& each : share.to) next = std::min(next, each.end(round & 1));
      share.sent.store(round, std::memory_order_release);
      run_parts(share.parts, &Part::inner, from, to);
    }
    share.round = look_ahead(share.parts);
    share.round.next = std::min(share.round.next, next);
  } catch (...) {
    share.sent = std::numeric_limits<std::uint64_t>::max();  // nobody is to wait for it
    throw;
  }
}

void Simulation::mark_borders() {
  for (Part* part : parts_) {
    part->border = part->inner = {};
    const auto sort = [&](const std::vector<int>& nodes, std::vector<int> NodeLists::* to) {
      for (const int node : nodes) {
        bool border = false;
        for (int port = wiring_.first(node); port < wiring_.first(node + 1); ++port)
          border = border || part_of(wiring_.end(port).peer).share != part->share;
        ((border ? part->border : part->inner).*to).push_back(node);
      }
    };
    sort(part->all.hosts, &NodeLists::hosts);
    sort(part->all.switches, &NodeLists::switches);
  }
}

Round Simulation::look_ahead(const std::vector<Part*>& parts) {
  Round round;
  for (Part* part : parts) {
    if (!alone_) part->recent += part->tally.packets;
    round.packets += std::exchange(part->tally.packets, 0);
    round.ended += std::exchange(part->tally.ended, 0);
    round.progress = std::max(round.progress, part->tally.progress);
    for (const auto* nodes : {&part->all.hosts, &part->all.switches})
      for (const int node : *nodes) round.next = std::min(round.next, agendas_[static_cast<std::size_t>(node)].next);
  }
  return round;
}

void Simulation::end_round(const Round& round) {
  last_ = round;
  progress_ = std::max(progress_, round.progress);
  unfinished_ -= round.ended;
  if (!waits_) return;
  for (Part* part : parts_) {
    unfinished_ += std::exchange(part->tally.begun, 0);
    for (const Reached& end : part->tally.heard)
      waits_->hear(end, [this](std::uint32_t flow, Time start) { begin(flow, start); });
    part->tally.heard.clear();
  }
}

}  // namespace remy_plus::fabric
