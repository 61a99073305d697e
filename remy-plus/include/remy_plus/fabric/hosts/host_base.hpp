// What all hosts are: flows that start, timers, and NICs that send.
#pragma once

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/hosts/arriving.hpp"
#include "remy_plus/fabric/spraying/credit.hpp"
#include "remy_plus/fabric/surroundings.hpp"

namespace remy_plus::fabric {

// `Own` is a kind of host: it starts a flow, start(number), and rings a timer, ring(what, at).
template <class Own, class OwnNic>
class HostBase {
 public:
  static constexpr bool is_host = true;

  HostBase(std::span<Port> ports, int first, int last, const Surroundings& around, const Hosting& hosting)
      : around_(around), hosting_(hosting), starts_(hosting.flows), first_(first) {
    for (int i = first; i < last; ++i) nics_.emplace_back(ports[static_cast<std::size_t>(i)], around, hosting);
  }

  OwnNic& nic(int port) { return nics_[static_cast<std::size_t>(port - first_)]; }
  Starts& starts() { return starts_; }

  // When it acts next by itself.
  Time next() const {
    Time found = std::min(starts_.next(), timers_.empty() ? never : timers_.top().first);
    for (const OwnNic& nic : nics_) found = std::min(found, nic.next());
    return found;
  }

  // Whether nothing but timers is due, now or later.
  bool waits() const {
    return starts_.over() && std::ranges::all_of(nics_, [](const OwnNic& nic) { return nic.next() == never; });
  }

  // Does what is due at next().
  void act(Time now) {
    while (starts_.next() <= now) begin(starts_.take());
    while (!timers_.empty() && timers_.top().first <= now) {
      const auto [at, what] = timers_.top();
      timers_.pop();
      own().ring(what, at, now);
    }
    for (OwnNic& nic : nics_)
      if (nic.next() <= now) own().serve(nic, now);
  }

 protected:
  void serve(OwnNic& nic, Time now) { nic.send(now); }

  OwnNic& nic_of(std::uint32_t flow, int direction) { return nic(hosting_.first_ports[2 * flow + direction]); }

  // All of a flow has arrived here, at its receiver; its sender, here, knows.
  void receive_all(std::uint32_t number, Time now) {
    if (!around_.settings.fct_at_ack) {
      hosting_.flows[number].ended = now;
      hosting_.tally.ended += !goes_on(number);
    }
    if (hosting_.waits) [[unlikely]]
      tell_waiting({number, Moment::received, now});
  }
  void finish_sending(std::uint32_t number, Time now) {
    if (around_.settings.fct_at_ack) hosting_.flows[number].ended = now;
    hosting_.tally.ended += around_.settings.fct_at_ack || goes_on(number);
    if (hosting_.waits) [[unlikely]]
      tell_waiting({number, Moment::acknowledged, now});
  }

  void set_timer(Time at, std::uint32_t what) { timers_.push({at, what}); }
  // Of flows: one timer is enough, at the earliest of what a flow waits for; older ones are ignored as they ring.
  void arm(std::uint32_t number, Time at) {
    Flow& flow = hosting_.flows[number];
    if (at >= flow.armed) return;
    flow.armed = at;
    set_timer(at, number);
  }
  void arm(std::uint32_t number, const Flow& flow) {
    if (flow.timer != never) arm(number, flow.timer);
  }

  // --- what a receiver knows of the flows into it, and tells them

  void see_left(const Packet& data, Flow& flow) {
    const std::uint64_t left = flow.size - flow.bytes_before(data.number + 1);
    nic_of(data.flow, 1).arriving().see(data.flow, flow, left_code(left));
  }
  void forget_left(std::uint32_t number, Flow& flow) { nic_of(number, 1).arriving().forget(number, flow); }

  // The standing goes with the telemetry; what data packets had there of credit, their receiver has read.
  void say_standing(Packet& ack, const Flow& flow) {
    const std::int64_t code = nic_of(ack.flow, 1).arriving().standing(ack.flow, flow).code();
    if (flow.telemetry == Telemetry::stack)
      around_.stacks[stack_of(ack).number].wanted = code;
    else if (flow.telemetry == Telemetry::header)
      around_.headers->wanted(ack) = code;
    else
      ack.extra = Asking::of(static_cast<Time>(ack.extra), code);
  }
  Standing standing_of(const Packet& ack, Telemetry telemetry) const {
    if (telemetry == Telemetry::stack)
      return Standing::of(static_cast<std::uint64_t>(around_.stacks[stack_of(ack).number].wanted));
    if (telemetry == Telemetry::header) return Standing::of(static_cast<std::uint64_t>(around_.headers->wanted(ack)));
    return Standing::of(Asking::rest(ack.extra));
  }

  const Surroundings& around_;
  const Hosting& hosting_;

 private:
  using Due = std::pair<Time, std::uint32_t>;

  Own& own() { return static_cast<Own&>(*this); }

  void begin(std::uint32_t number) {
    own().start(number);
    if (hosting_.waits) [[unlikely]]
      tell_waiting({number, Moment::begun, hosting_.flows[number].start});
  }

  // A flow that has arrived, for those that wait until its sender knows.
  bool goes_on(std::uint32_t number) const {
    return hosting_.waits && hosting_.waits->any({number, Moment::acknowledged, 0});
  }

  void tell_waiting(const Reached& end) {
    hosting_.waits->reach(end, hosting_.tally.heard, [this](std::uint32_t flow, Time start) {
      if (start >= around_.settings.last_round) return;
      hosting_.flows[flow].start = start;
      ++hosting_.tally.begun;
      starts_.add_late(flow);
    });
  }

  std::vector<OwnNic> nics_;
  Starts starts_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> timers_;
  int first_;
};

}  // namespace remy_plus::fabric
