// The event loop of one trial: senders behind one port, or at the ends of paths over many. A simulation is a value;
// nothing here is global.
//
// Time is a double in µs: the model's arithmetic is defined in doubles (R+), and equal arithmetic gives equal bits.
// Events at one instant keep R+'s order: switches, then sends that were due, then the link, then ACKs and the sends
// that they allow. Exact ties between different senders go to the lower index (R+ shuffles; they have measure zero).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "remy_plus/core/earliest.hpp"
#include "remy_plus/core/network.hpp"
#include "remy_plus/core/random.hpp"
#include "remy_plus/core/record.hpp"
#include "remy_plus/fifo/paths.hpp"
#include "remy_plus/fifo/port.hpp"
#include "remy_plus/fifo/shares.hpp"
#include "remy_plus/policies/policy.hpp"
#include "remy_plus/signals/memory.hpp"
#include "remy_plus/workload/flow_trace.hpp"
#include "remy_plus/workload/sizes.hpp"

namespace remy_plus {

struct Sender {
  Memory memory;
  Control control;
  double last_send = 0;
  std::int64_t sent = 0;            // packets, all flows
  std::int64_t acknowledged = -1;   // highest sequence number
  std::int64_t cap = 0;             // packets to send before switching off (byte-switched)
  std::int64_t next_loss = 0;       // sequence number of the next packet that the loss stage takes
  std::uint32_t flow = UINT32_MAX;  // index of the current (or last) flow in the trial
  std::uint32_t flows = 0;
  bool on = false;
  double share_begin = 0;
  double first_on = never;
  Stream loss_stream;
};

// Notified of everything that happens; a trial without an observer pays nothing for it.
struct NoObserver {
  static constexpr SignalMask wanted = 0;
  void delivered(const Packet&, double) {}
  void feedback(double, const Packet&, const Sender&, bool) {}
  void lookup(const Memory&, bool) {}
};

// Storage that trials reuse, so that a batch allocates nothing per packet and little per trial.
struct Workspace {
  std::vector<Packet> ring = std::vector<Packet>(1024);  // of one port
  PathSpace paths;                                       // of many
  StampedSpace stamped;                                  // of one or many, with headers
  std::vector<Sender> senders;
  Earliest next_send;
  std::vector<double> next_switch;
  std::vector<Stream> on_streams, off_streams, length_streams;
  std::vector<Flow> flows;
  std::vector<std::size_t> idle;  // senders free for the next open flow
  RuleHits rule_hits;
  std::vector<Flow> unmeasured_flows;
  RuleHits unmeasured_rule_hits;
  std::vector<LinkTotals> links;
  const std::atomic<bool>* stop = nullptr;  // true ends a trial early
  const FlowTrace* trace = nullptr;         // what an open network's flows are, unless random
};

// Thrown out of a trial that was told to stop.
struct Stopped {};

// Fixed switch times (on, off, on, …) per sender instead of random ones.
using Script = std::vector<std::vector<double>>;

// `Net` is what lies between senders: Port, one bottleneck, Paths over many links, or StampedPaths where packets have
// headers. They agree bit for bit where all can simulate a network.
template <class P, class Observer = NoObserver, class Net = Port>
class Simulation {
 public:
  Simulation(const Network& network, const Model& model, const P& policy, std::uint64_t seed, double duration,
             Workspace& space, Observer& observer, const Script* script = nullptr, const Stamping* stamping = nullptr)
      : network_(network),
        policy_(policy),
        seed_(seed),
        duration_(duration),
        horizon_(network.switched == Switching::open ? duration * drain_ : duration),
        space_(space),
        observer_(observer),
        script_(script),
        net_(make_net(network_, model, space, stamping, seed)),
        clocks_(network_),
        wanted_(policy.wanted | Observer::wanted) {
    prepare();
  }

  TrialTotals run() {
    while (play()) {
    }
    return finish();
  }

  // Plays the next event; false if the trial is over. For those who steer senders from outside (see
  // envs/agent_slots.hpp): they play event by event, and finish.
  bool play() {
    const double arrival = net_.next_arrival();
    const double send_at = space_.next_send.time();
    if (send_at < switch_at_ && send_at <= arrival) {
      if (!advance(send_at)) return false;
      send_due(space_.next_send.at());
    } else if (switch_at_ <= arrival && switch_at_ <= send_at) {
      if (!advance(switch_at_)) return false;
      switch_due(switch_due_);
    } else {
      if (!advance(arrival)) return false;
      receive();
    }
    return true;
  }

  TrialTotals finish() {
    const double end = std::max(now_, duration_);  // only open flows run on past the duration
    now_ = end;
    clocks_.settle(end);
    TrialTotals totals;
    for (std::size_t i = 0; i < space_.senders.size(); ++i)
      if (const Sender& s = senders_[i]; s.flow != UINT32_MAX && !flows_of(i)[s.flow].finished) close(i, s, end, false);
    for (const Flow& flow : space_.flows) {
      totals.sent += flow.sent;
      totals.delivered += flow.delivered;
    }
    totals.events = events_ - net_.passed();
    net_.report(end, totals, space_.links);
    return totals;
  }

  // A sender whose control was changed from outside sends what that allows.
  void resume(std::size_t i) {
    if (senders_[i].on) send_burst(i, senders_[i]);
  }

  Sender& sender(std::size_t i) { return senders_[i]; }
  double now() const { return now_; }
  double share(std::size_t i) const { return clocks_.at(i, now_); }  // µs of fair share so far

  // Its window is closed and nothing is under way: no ACK can open it.
  bool stalled(std::size_t i) {
    const Flow& flow = flows_of(i)[senders_[i].flow];
    return !window_open(senders_[i]) && flow.sent == flow.delivered + flow.lost + flow.dropped;
  }

 private:
  static Net make_net(const Network& network, const Model& model, Workspace& space, const Stamping* stamping,
                      std::uint64_t seed) {
    if constexpr (Net::stamped)
      return Net(network, model, space.stamped, stamping, seed);
    else if constexpr (Net::many_hops)
      return Net(network, model, space.paths);
    else
      return Net(network, model, space.ring);
  }

  static constexpr double drain_ = 100;  // × duration: open flows have long finished unless the load is above 1

  // Events without progress, or packets of a burst: as many as packets can be under way.
  static constexpr std::uint64_t most_at_once_ = std::uint64_t{1} << 24;
  static constexpr std::size_t most_flows_ = std::size_t{1} << 22;  // of a trial: 600 MB of records

  void prepare() {
    std::size_t n = measured_;
    if constexpr (Net::many_hops) {
      n = network_.layout->routes.size();
      space_.unmeasured_flows.clear();
      space_.unmeasured_rule_hits.assign(policy_.rules(), 0);
    }
    space_.senders.clear();
    space_.senders.resize(n);
    space_.next_send.reset(n);
    space_.next_switch.assign(n, never);
    space_.flows.clear();
    space_.rule_hits.assign(policy_.rules(), 0);
    space_.on_streams.resize(n);
    space_.off_streams.resize(n);
    space_.length_streams.resize(n);
    senders_ = space_.senders.data();
    for (std::size_t i = 0; i < n; ++i) {
      const auto stream = [&](Component c) { return Stream(seed_, network_.id, c, i); };
      space_.on_streams[i] = stream(Component::on_time);
      space_.off_streams[i] = stream(Component::off_time);
      space_.length_streams[i] = stream(Component::flow_length);
      space_.next_switch[i] = script_ ? scripted(i, 0) : stream(Component::first_on).exponential(network_.mean_off);
    }
    if (open()) {
      space_.idle.assign(1, 0);
      arrivals_ = Stream(seed_, network_.id, Component::arrival, 0);
      space_.next_switch[0] = next_arrival_of_flow();
    }
    find_switch();
  }

  bool open() const { return network_.switched == Switching::open; }

  double scripted(std::size_t i, std::size_t turn) const {
    return i < script_->size() && turn < (*script_)[i].size() ? (*script_)[i][turn] : never;
  }

  // Where a sender's flows and look-ups are kept: apart, if it only loads the links.
  bool measured(std::size_t i) const { return !Net::many_hops || i < measured_; }
  std::vector<Flow>& flows_of(std::size_t i) { return measured(i) ? space_.flows : space_.unmeasured_flows; }
  RuleHits& rule_hits_of(std::size_t i) { return measured(i) ? space_.rule_hits : space_.unmeasured_rule_hits; }

  bool advance(double time) {
    if (!(time <= horizon_)) return false;
    link_moved_ = time == now_;
    now_ = time;
    if ((++events_ & 0x3fff) == 0) check();
    return true;
  }

  // Between many events: is the trial still wanted, does it go on, and do its sequence numbers still fit into a packet?
  void check() {
    if (space_.stop && *space_.stop) throw Stopped{};
    if (now_ - went_on_ > duration_ * 0x1p-40) {
      went_on_ = now_;
      went_on_events_ = events_;
    } else if (events_ - went_on_events_ > most_at_once_) {
      stands_still();
    }
    for (const Sender& s : space_.senders)
      if (s.sent > INT32_MAX) throw std::length_error("a sender passed 2^31 packets: make the trial shorter");
  }

  [[noreturn]] void stands_still() const {
    std::ostringstream text;
    text << "network " << network_.id << ": time stands still at " << now_ << " µs: with link_rate "
         << network_.link_rate << " packets/µs and rtt " << network_.rtt
         << " µs packets come and go in no time; lower the rates, or raise the rtt";
    throw std::runtime_error(text.str());
  }

  // --- sending

  bool window_open(const Sender& s) const {
    return static_cast<double>(s.sent) < static_cast<double>(s.acknowledged + 1) + s.control.window;
  }

  void send_due(std::size_t i) {
    Sender& s = senders_[i];
    send_packet(i, s);
    send_burst(i, s);
  }

  // Sends what window and pacing allow at this instant, then plans the next send.
  void send_burst(std::size_t i, Sender& s) {
    for (std::uint64_t burst = 0; s.on && window_open(s); ++burst) {
      if (burst > most_at_once_) stands_still();
      const double due = s.last_send + s.control.gap;
      if (due > now_) {
        plan(i, due);
        return;
      }
      send_packet(i, s);
    }
    plan(i, never);
  }

  void send_packet(std::size_t i, Sender& s) {
    Flow& flow = flows_of(i)[s.flow];
    const std::int64_t sequence = s.sent++;
    s.last_send = now_;
    ++flow.sent;
    const bool lost = sequence == s.next_loss;
    if (lost) draw_loss(s, sequence + 1);
    note(flow, net_.offer(now_, link_moved_, static_cast<std::uint32_t>(sequence), s.flow,
                          static_cast<std::uint16_t>(i), lost));
    link_moved_ = true;
    if (network_.switched == Switching::time || s.sent < s.cap) return;
    if (open()) {
      s.on = false;  // nothing more to send; the flow leaves when its last packet has arrived
    } else {
      space_.next_switch[i] = now_ + space_.off_streams[i].exponential(network_.mean_off);
      switch_off(i, s);
      find_switch();
    }
  }

  static void note(Flow& flow, Fate fate) {
    flow.dropped += fate == Fate::dropped;
    flow.lost += fate == Fate::lost;
    if (fate != Fate::ack_dropped) return;
    ++flow.delivered;
    ++flow.acks_dropped;
  }

  // Geometric gaps between losses: one draw per loss instead of one per packet.
  void draw_loss(Sender& s, std::int64_t from) {
    if (!(log_keep_ < 0)) {  // no loss, or less than a double can tell from none
      s.next_loss = -1;
      return;
    }
    const double gap = portable_log(s.loss_stream.uniform()) / log_keep_;
    s.next_loss = gap < 1e15 ? from + static_cast<std::int64_t>(gap) : -1;
  }

  // --- receiving

  void receive() {
    if constexpr (Net::many_hops)
      if (!step()) return;
    const auto& packet = net_.deliver();  // valid until the next send
    const std::size_t sender = packet.sender;
    Sender& s = senders_[sender];
    Flow& flow = flows_of(sender)[packet.flow];
    ++flow.delivered;
    flow.delay_sum += now_ - packet.sent;
    flow.last_arrival = now_;
    if (measured(sender)) observer_.delivered(packet, now_);
    const bool current = packet.flow == s.flow;
    if (current) s.memory.receive(net_, packet, now_, s.acknowledged, wanted_);
    s.acknowledged = std::max<std::int64_t>(s.acknowledged, packet.sequence);
    if (measured(sender)) observer_.lookup(s.memory, current);
    if (!steered(sender))
      policy_.feedback(s.control, s.memory, {packet.sequence, s.sent, current, now_}, rule_hits_of(sender));
    if (measured(sender)) observer_.feedback(now_, packet, s, current);
    if (open() && flow.delivered == flow.length) return complete(sender);
    if (!s.on) return;
    link_moved_ = true;
    if (held(sender)) return;
    if (!steered(sender)) policy_.unblock(s.control, s.memory, rule_hits_of(sender));
    send_burst(sender, s);
  }

  // Moves one packet over one hop; whether its acknowledgement has come home.
  bool step() {
    const Fate fate = net_.step(now_);
    if (fate == Fate::home) return true;
    if (fate == Fate::under_way) return false;
    const Packet& packet = net_.deliver();
    note(flows_of(packet.sender)[packet.flow], fate);
    return false;
  }

  // --- switching

  void switch_due(std::size_t i) {
    if (open()) return start_flow();
    Sender& s = senders_[i];
    if (s.on) {
      space_.next_switch[i] =
          script_ ? scripted(i, 2 * s.flows) : now_ + space_.off_streams[i].exponential(network_.mean_off);
      switch_off(i, s);
      plan(i, never);
    } else {
      switch_on(i, s);
      if (network_.switched == Switching::time)
        space_.next_switch[i] =
            script_ ? scripted(i, 2 * s.flows - 1) : now_ + space_.on_streams[i].exponential(network_.mean_on);
      else
        space_.next_switch[i] = never;
      find_switch();
      if (!held(i)) send_burst(i, s);
    }
    find_switch();
  }

  // --- steering from outside: a policy with a member `steers` leaves some senders to the observer, which may hold one
  // back, before it sends at its flow's start or after feedback, until resume()

  static constexpr bool steering_ = requires(const P& p) { p.steers(std::size_t{}); };

  bool steered(std::size_t i) const {
    if constexpr (steering_) return policy_.steers(i);
    return false;
  }

  bool held(std::size_t i) {
    if constexpr (steering_) return policy_.steers(i) && observer_.hold(now_, i);
    return false;
  }

  // --- open flows

  double next_arrival_of_flow() {
    const FlowTrace* trace = space_.trace;
    if (trace) return traced_++ < trace->count ? trace->arrival[traced_ - 1] : never;
    const double time = std::max(now_, 0.0) + arrivals_.exponential(1 / network_.arrival_rate);
    return time <= duration_ ? time : never;
  }

  void start_flow() {
    space_.next_switch[0] = next_arrival_of_flow();
    find_switch();
    if (space_.idle.empty()) add_sender();
    const std::size_t i = space_.idle.back();
    space_.idle.pop_back();
    switch_on(i, senders_[i]);
    send_burst(i, senders_[i]);
  }

  void add_sender() {
    const std::size_t i = space_.senders.size();
    if (i > UINT16_MAX) throw std::runtime_error("more than 65536 flows at once: is the load below 1?");
    space_.senders.emplace_back();
    senders_ = space_.senders.data();
    space_.next_send.grow(i + 1);
    space_.idle.push_back(i);
  }

  void complete(std::size_t i) {
    Sender& s = senders_[i];
    plan(i, never);
    switch_off(i, s);
    space_.idle.push_back(i);
  }

  void switch_on(std::size_t i, Sender& s) {
    if (flows_of(i).size() >= most_flows_) too_many_flows();
    clocks_.settle(now_);
    clocks_.join(i);
    if constexpr (Net::stamped) net_.join(i);
    s.on = true;
    s.share_begin = clocks_.read(i);
    s.first_on = std::min(s.first_on, now_);
    s.flow = static_cast<std::uint32_t>(flows_of(i).size());
    Flow flow;
    flow.sender = static_cast<std::uint32_t>(i);
    flow.start = now_;
    if (network_.switched != Switching::time) {
      flow.length = open() ? open_length(s.flow) : flow_length(i);
      s.cap = s.sent + static_cast<std::int64_t>(flow.length);
    }
    flows_of(i).push_back(flow);
    s.loss_stream = Stream(seed_, network_.id, Component::loss, i, s.flows++);
    draw_loss(s, s.sent);
    s.memory.reset(static_cast<std::uint32_t>(s.sent));
    s.last_send = 0;  // the beginning of time, not of the flow (R+): matters for absolute pacing only
    s.acknowledged = s.sent - 1;
    s.control = {};
    if (measured(i)) observer_.lookup(s.memory, false);
    if constexpr (steering_)
      if (steered(i)) return observer_.started(i, s);
    policy_.start(s.control, s.memory, rule_hits_of(i));
    policy_.unblock(s.control, s.memory, rule_hits_of(i));
  }

  [[noreturn]] void too_many_flows() const {
    std::ostringstream text;
    text << "network " << network_.id << ": over 4 million flows by " << now_ << " of " << duration_
         << " µs: raise mean_on or mean_off, lower the arrival rate, or make the trial shorter";
    throw std::runtime_error(text.str());
  }

  std::uint64_t open_length(std::uint32_t flow) const {
    return space_.trace ? space_.trace->size[flow] : network_.sizes->draw(size_of_flow(flow));
  }

  double size_of_flow(std::uint32_t flow) const {
    return Stream(seed_, network_.id, Component::flow_length, 0, flow).uniform();
  }

  std::uint64_t flow_length(std::size_t i) {
    const double draw = std::min(space_.length_streams[i].exponential(network_.mean_on), 1e15);
    auto packets = static_cast<std::uint64_t>(draw);
    packets += static_cast<double>(packets) < draw;
    return std::max<std::uint64_t>(packets, 1);
  }

  void switch_off(std::size_t i, Sender& s) {
    if constexpr (steering_)
      if (steered(i)) observer_.ended(i);
    clocks_.settle(now_);
    clocks_.leave(i);
    if constexpr (Net::stamped) net_.leave(i);
    s.on = false;
    close(i, s, now_, true);
  }

  void close(std::size_t i, const Sender& s, double time, bool finished) {
    Flow& flow = flows_of(i)[s.flow];
    flow.end = time;
    flow.share = clocks_.read(i) - s.share_begin;
    flow.finished = finished;
    const bool done = flow.length > 0 && flow.sent >= flow.length;
    flow.stalled = !done && stalled(i);
  }

  // --- the next event of each kind

  void plan(std::size_t i, double time) { space_.next_send.set(i, time); }

  void find_switch() {
    const auto& times = space_.next_switch;
    switch_due_ = static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
    switch_at_ = times[switch_due_];
  }

  const Network network_;
  const P& policy_;
  std::uint64_t seed_;
  double duration_;
  double horizon_;  // µs; open flows that arrived within the duration may finish after it
  Workspace& space_;
  Observer& observer_;
  const Script* script_;
  std::size_t measured_ = static_cast<std::size_t>(network_.senders);  // the first senders
  Net net_;
  typename Net::Clocks clocks_;
  SignalMask wanted_;
  Sender* senders_ = nullptr;
  Stream arrivals_;
  std::size_t traced_ = 0;  // flows of the trace that were planned
  double log_keep_ = portable_log(1 - network_.loss);
  double now_ = -1;
  bool link_moved_ = false;
  double switch_at_ = never;
  std::size_t switch_due_ = 0;
  std::uint64_t events_ = 0;
  double went_on_ = -1;               // µs, when time was last seen to have moved
  std::uint64_t went_on_events_ = 0;  // by then
};

// Runs one trial on what its network lies on, with the header that packets carry, if any.
template <class P, class Observer>
TrialTotals run_simulation(const Network& network, const Model& model, const P& policy, std::uint64_t seed,
                           double duration, Workspace& space, Observer& observer, const Script* script = nullptr,
                           const Stamping* stamping = nullptr) {
  if (stamping) {
    if (network.switched == Switching::open)
      throw std::invalid_argument("open flows with headers are not simulated: leave the header out");
    const Network laid = network.layout ? network : as_layout(network);
    return Simulation<P, Observer, StampedPaths>(laid, model, policy, seed, duration, space, observer, script, stamping)
        .run();
  }
  if (network.layout)
    return Simulation<P, Observer, Paths>(network, model, policy, seed, duration, space, observer, script).run();
  return Simulation<P, Observer>(network, model, policy, seed, duration, space, observer, script).run();
}

}  // namespace remy_plus
