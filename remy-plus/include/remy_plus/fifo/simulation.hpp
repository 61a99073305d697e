// The event loop of one trial: senders behind one port, or at the ends of paths over many. A simulation is a value;
// nothing here is global.
//
// Time is a double in µs: the model's arithmetic is defined in doubles (R+), and equal arithmetic gives equal bits.
// Events at one instant keep R+'s order: switches, then sends that were due, then the link, then ACKs and the sends
// that they allow. Exact ties between different senders go to the lower index (R+ shuffles; they have measure zero).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/core/random.hpp"
#include "remy_plus/core/record.hpp"
#include "remy_plus/fifo/paths.hpp"
#include "remy_plus/fifo/port.hpp"
#include "remy_plus/fifo/sender.hpp"
#include "remy_plus/fifo/watchdog.hpp"
#include "remy_plus/fifo/workspace.hpp"
#include "remy_plus/policies/policy.hpp"

namespace remy_plus {

// Notified of everything that happens; a trial without an observer pays nothing for it.
struct NoObserver {
  static constexpr SignalMask wanted = 0;
  void delivered(const Packet&, double) {}
  void feedback(double, const Packet&, const Sender&, bool) {}
  void lookup(const Memory&, bool) {}
};

// `Net` is what lies between senders: Port, one bottleneck, AlikePort or HeaderPort where it writes headers, Paths over
// many links, or StampedPaths where packets have headers. They agree bit for bit where all can simulate a network.
template <class P, class Observer = NoObserver, class Net = Port>
class Simulation {
 public:
  Simulation(const Network& network, const Model& model, const P& policy, std::uint64_t seed, double duration,
             Workspace& space, Observer& observer, const Stampings& stampings = {})
      : network_(network),
        policy_(policy),
        seed_(seed),
        duration_(duration),
        open_(network.workload->open()),
        horizon_(open_ ? duration * drain_ : duration),
        space_(space),
        observer_(observer),
        net_(make_net(network_, model, space, stampings, seed, read_of(policy))),
        clocks_(network_),
        watchdog_(network_, duration, space.stop),
        wanted_(policy.wanted | Observer::wanted | (reads_wanted_alone_ ? 0 : ack_signals)),
        own_(own_of(policy)) {
    if constexpr (Net::stamped)
      if (net_.asks()) wanted_ |= ack_signals;  // packets say the RTT
    prepare();
  }

  TrialTotals run() {
    while (play()) {
    }
    return finish();
  }

  // Plays the next event; false if the trial is over. For those who steer senders from outside (see
  // envs/agent_slots.hpp): they play event by event, and finish.
  [[gnu::always_inline]] bool play() {
    const double arrival = net_.next_arrival();
    const double send_at = space_.next_send.time();
    if (send_at < switch_at_ && send_at <= arrival) {
      if (!advance(send_at)) return false;
      go_on(space_.next_send.at(), true);
    } else if (switch_at_ <= arrival && switch_at_ <= send_at) {
      if (!advance(switch_at_)) return false;
      switch_due(switch_due_);
    } else {
      if (!advance(arrival)) return false;
      if (const std::size_t sender = receive(); sender != nobody_) go_on(sender, false);
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
    if (senders_[i].on) send(i);
  }

  Sender& sender(std::size_t i) { return senders_[i]; }
  double now() const { return now_; }
  double share(std::size_t i) const { return clocks_.at(i, now_); }  // µs of fair share so far

  // Its window is closed and nothing is under way: no ACK can open it.
  bool stalled(std::size_t i) {
    const Flow& flow = flows_of(i)[senders_[i].flow];
    return !window_open(senders_[i]) && arrived(flow);
  }

 private:
  static constexpr bool reads_wanted_alone_ = requires { requires P::reads_wanted_alone; };

  // Signals that somebody may look at.
  static SignalMask read_of(const P& policy) {
    return reads_wanted_alone_ ? policy.wanted | Observer::wanted : ~SignalMask{0};
  }

  static Net make_net(const Network& network, const Model& model, Workspace& space, const Stampings& stampings,
                      std::uint64_t seed, SignalMask read) {
    if constexpr (Net::many_hops && Net::stamped)
      return Net(network, model, space.stamped, stampings, seed);
    else if constexpr (Net::many_hops)
      return Net(network, model, space.paths);
    else if constexpr (Net::sized)
      return Net(network, model, space.ring, read,
                 HeaderStamps(network, model, space.headers, *stampings.all.front(), seed));
    else if constexpr (Net::stamped)
      return Net(network, model, space.ring, read,
                 AlikeStamps(network, model, space.alike, *stampings.all.front(), seed, read));
    else
      return Net(network, model, space.ring, read);
  }

  static constexpr double drain_ = 100;  // × duration: open flows have long finished unless the load is above 1

  void prepare() {
    if constexpr (Net::many_hops) {
      space_.unmeasured_flows.clear();
      space_.unmeasured_rule_hits.assign(policy_.rules(), 0);
    }
    const std::size_t n = network_.all_senders();
    if constexpr (mixed_) adopts_ = adopters_of(policy_, network_, seed_);
    space_.senders.clear();
    space_.senders.resize(n);
    space_.next_send.reset(n);
    space_.next_switch.resize(n);
    space_.flows.clear();
    space_.rule_hits.assign(policy_.rules(), 0);
    space_.idle.assign(1, 0);
    senders_ = space_.senders.data();
    traffic_ = network_.workload->begin(seed_, network_, n, duration_);
    for (std::size_t i = 0; i < n; ++i) space_.next_switch[i] = traffic_->first(i);
    find_switch();
  }

  // Where a sender's flows and look-ups are kept: apart, if it only loads the links.
  bool measured(std::size_t i) const { return !Net::many_hops || i < measured_; }
  std::vector<Flow>& flows_of(std::size_t i) { return measured(i) ? space_.flows : space_.unmeasured_flows; }
  RuleHits& rule_hits_of(std::size_t i) { return measured(i) ? space_.rule_hits : space_.unmeasured_rule_hits; }

  bool advance(double time) {
    if (!(time <= horizon_)) return false;
    link_moved_ = !(time > now_);
    now_ = time;
    if (++events_ % Watchdog::interval == 0) watchdog_.check(now_, static_cast<std::int64_t>(events_), space_.senders);
    return true;
  }

  // --- sending

  bool window_open(const Sender& s) const {
    return static_cast<double>(s.sent) < static_cast<double>(s.acknowledged + 1) + s.control.window;
  }

  static constexpr std::size_t nobody_ = SIZE_MAX;

  // For those that seldom do.
  [[gnu::noinline]] void send(std::size_t i) { go_on(i, false); }

  // Sends what window and pacing allow at this instant, a packet that is due in any case; then plans the next send.
  [[gnu::always_inline]] void go_on(std::size_t i, bool due) {
    Sender& s = senders_[i];
    const std::int64_t most = s.sent + due + Watchdog::most_at_once;
    while (due || (s.on && window_open(s))) {
      if (s.sent > most) watchdog_.stands_still(now_);
      const double next = s.last_send + s.control.gap;
      if (!due && next > now_) {
        plan(i, next);
        return;
      }
      due = false;
      send_packet(i, s);
    }
    plan(i, never);
  }

  [[gnu::always_inline]] void send_packet(std::size_t i, Sender& s) {
    Flow& flow = flows_of(i)[s.flow];
    const std::int64_t sequence = s.sent++;
    s.last_send = now_;
    ++flow.sent;
    const bool lost = sequence == s.next_loss;
    if (lost) draw_loss(s, sequence + 1);
    if constexpr (Net::stamped)
      if (net_.asks()) net_.tell(told_by(s.control.window, s.control.gap, s.memory.latest_rtt()));
    note(flow, net_.offer(now_, link_moved_, static_cast<std::uint32_t>(sequence), s.flow,
                          static_cast<std::uint16_t>(i), lost));
    link_moved_ = true;
    if (s.sent >= s.cap) all_sent(i, s, flow);
  }

  // A flow of a length leaves when nothing of it is under way any more.
  void all_sent(std::size_t i, Sender& s, const Flow& flow) {
    s.on = false;
    if constexpr (steering_)
      if (steered(i)) observer_.sent(i);
    if (arrived(flow)) leave(i, s);
  }

  static bool arrived(const Flow& flow) { return flow.sent == flow.delivered + flow.lost + flow.dropped; }

  static void note(Flow& flow, Fate fate) {
    if (fate == Fate::under_way) return;
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

  // Returns the sender that may now send, if one has got feedback.
  [[gnu::always_inline]] std::size_t receive() {
    if constexpr (Net::steps)
      if (!step()) return nobody_;
    const auto& packet = net_.deliver();  // valid until the next send
    const std::size_t sender = packet.sender;
    Sender& s = senders_[sender];
    Flow& flow = flows_of(sender)[packet.flow];
    ++flow.delivered;
    flow.delay_sum += now_ - packet.sent;
    flow.last_arrival = now_;
    if (measured(sender)) observer_.delivered(packet, now_);
    const bool current = packet.flow == s.flow;
    const double noted = jitter_ > 0 ? note_late(s, packet.sequence, sender) : now_;
    if (current) s.memory.receive(net_, packet, noted, s.acknowledged, wanted_, own_signals(s));
    s.acknowledged = std::max<std::int64_t>(s.acknowledged, packet.sequence);
    if (measured(sender)) observer_.lookup(s.memory, current);
    if (!steered(sender))
      policy_.feedback(s.control, s.memory, {packet.sequence, s.sent, current, noted}, rule_hits_of(sender));
    if (measured(sender)) observer_.feedback(now_, packet, s, current);
    if (!s.on) {
      gone(packet.flow, sender);
      return nobody_;
    }
    link_moved_ = true;
    if (held(sender)) return nobody_;
    if (!steered(sender)) policy_.unblock(s.control, s.memory, rule_hits_of(sender));
    return sender;
  }

  // When a sender notes an ACK that is here: ACKs stay in order.
  [[gnu::noinline]] double note_late(Sender& s, std::uint32_t sequence, std::size_t sender) const {
    Stream draws(seed_, network_.id, Component::jitter, sender, sequence);
    s.noted = std::max(s.noted, now_ - jitter_ * portable_log(draws.uniform()));
    return s.noted;
  }

  // Moves one packet over one hop; whether its acknowledgement has come home.
  bool step() {
    const Fate fate = net_.step(now_);
    if (fate == Fate::home) return true;
    if (fate == Fate::under_way) return false;
    const Packet& packet = net_.deliver();
    const std::size_t sender = packet.sender;
    note(flows_of(sender)[packet.flow], fate);
    if (!senders_[sender].on) gone(packet.flow, sender);
    return false;
  }

  // A packet of a sender that has nothing to send is gone: was it the last one of its flow?
  void gone(std::uint32_t index, std::size_t i) {
    const Flow& flow = flows_of(i)[index];
    if (flow.length > 0 && !flow.finished && arrived(flow)) leave(i, senders_[i]);
  }

  // --- switching

  void switch_due(std::size_t i) {
    if (open_) return start_flow();
    Sender& s = senders_[i];
    if (s.on) {
      space_.next_switch[i] = traffic_->next_on(i, now_);
      switch_off(i, s);
      plan(i, never);
    } else {
      switch_on(i, s);
      space_.next_switch[i] = traffic_->next_off(i, now_);
      find_switch();
      if (!held(i)) send(i);
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

  // --- two policies side by side: who has which is decided before

  static constexpr bool mixed_ = requires(const P& p) { p.of(true); };

  const OwnSignals* own_signals(const Sender& s) const {
    if constexpr (mixed_) return policy_.of(s.control.adopts).own.get();
    return own_.get();
  }

  // --- open flows

  void start_flow() {
    space_.next_switch[0] = traffic_->next_on(0, now_);
    find_switch();
    if (space_.idle.empty()) add_sender();
    const std::size_t i = space_.idle.back();
    space_.idle.pop_back();
    switch_on(i, senders_[i]);
    send(i);
  }

  void add_sender() {
    const std::size_t i = space_.senders.size();
    if (i > UINT16_MAX) throw std::runtime_error("more than 65536 flows at once: is the load below 1?");
    space_.senders.emplace_back();
    senders_ = space_.senders.data();
    space_.next_send.grow(i + 1);
    space_.idle.push_back(i);
  }

  // The last packet of a flow of a length has arrived, or is lost.
  void leave(std::size_t i, Sender& s) {
    plan(i, never);
    switch_off(i, s);
    if (open_) return space_.idle.push_back(i);
    space_.next_switch[i] = traffic_->next_on(i, now_);
    find_switch();
  }

  void switch_on(std::size_t i, Sender& s) {
    if (flows_of(i).size() >= Watchdog::most_flows) watchdog_.too_many_flows(now_);
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
    flow.length = traffic_->length(i, s.flow);
    s.cap = flow.length > 0 ? s.sent + static_cast<std::int64_t>(flow.length) : INT64_MAX;
    flows_of(i).push_back(flow);
    s.loss_stream = Stream(seed_, network_.id, Component::loss, i, s.flows++);
    draw_loss(s, s.sent);
    s.memory.reset(static_cast<std::uint32_t>(s.sent));
    s.last_send = 0;  // the beginning of time, not of the flow (R+): matters for absolute pacing only
    s.acknowledged = s.sent - 1;
    s.control = {};
    if constexpr (mixed_) s.control.adopts = adopts_[i] != 0;
    if (measured(i)) observer_.lookup(s.memory, false);
    if constexpr (steering_)
      if (steered(i)) return observer_.started(i, s);
    policy_.start(s.control, s.memory, rule_hits_of(i));
    policy_.unblock(s.control, s.memory, rule_hits_of(i));
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
  bool open_;
  double horizon_;  // µs; open flows that arrived within the duration may finish after it
  Workspace& space_;
  Observer& observer_;
  std::size_t measured_ = static_cast<std::size_t>(network_.senders);  // the first senders
  Net net_;
  typename Net::Clocks clocks_;
  Watchdog watchdog_;
  SignalMask wanted_;
  std::shared_ptr<const OwnSignals> own_;
  std::vector<std::uint8_t> adopts_;  // per sender, of a mixture
  Sender* senders_ = nullptr;
  std::unique_ptr<Traffic> traffic_;
  double log_keep_ = portable_log(1 - network_.loss);
  double jitter_ = network_.jitter;
  double now_ = -1;
  bool link_moved_ = false;
  double switch_at_ = never;
  std::size_t switch_due_ = 0;
  std::uint64_t events_ = 0;
};

// Runs one trial on what its network lies on, with the header that packets carry, if any.
template <class P, class Observer>
TrialTotals run_simulation(const Network& network, const Model& model, const P& policy, std::uint64_t seed,
                           double duration, Workspace& space, Observer& observer, const Stamping* stamping = nullptr) {
  if constexpr (requires { policy.of(true); }) {
    if (network.workload->open())
      throw std::invalid_argument("open flows belong to no sender, of which some could adopt a policy");
    const Stampings stampings = stampings_of(policy, network, seed);
    if (!stampings.all.empty()) {
      const Network laid = network.layout ? network : as_layout(network);
      return Simulation<P, Observer, StampedPaths>(laid, model, policy, seed, duration, space, observer, stampings)
          .run();
    }
  }
  if (stamping) {
    if (network.workload->open())
      throw std::invalid_argument("open flows with headers are not simulated: leave the header out");
    if (stamping->alike && !network.layout)
      return Simulation<P, Observer, AlikePort>(network, model, policy, seed, duration, space, observer, stamping)
          .run();
    if (!network.layout)
      return Simulation<P, Observer, HeaderPort>(network, model, policy, seed, duration, space, observer, stamping)
          .run();
    return Simulation<P, Observer, StampedPaths>(network, model, policy, seed, duration, space, observer, stamping)
        .run();
  }
  if (network.layout)
    return Simulation<P, Observer, Paths>(network, model, policy, seed, duration, space, observer).run();
  return Simulation<P, Observer>(network, model, policy, seed, duration, space, observer).run();
}

}  // namespace remy_plus
