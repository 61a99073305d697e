// A run of a fabric: hosts, switches and the links between them.
//
// Time passes in windows as long as the shortest delay of a link: what is sent in one arrives in a later one, so that
// each node goes through its own arrivals alone, in their order, with no queue of events for all. Ties are broken by
// the number of the port; nothing depends on the order of the nodes.
//
// So threads can share the nodes of a window, and wait in each for what the others sent in the one before (conservative
// parallel simulation, as Unison does for ns-3: Bai et al., EuroSys 2024). Each has a part of them; which ones, follows
// from the packets that the flows will send.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "remy_plus/core/large_pages.hpp"
#include "remy_plus/core/thread_pool.hpp"
#include "remy_plus/fabric/events/failures.hpp"
#include "remy_plus/fabric/events/recovery.hpp"
#include "remy_plus/fabric/forwarding.hpp"
#include "remy_plus/fabric/nodes.hpp"
#include "remy_plus/fabric/parts/part.hpp"
#include "remy_plus/fabric/settings.hpp"
#include "remy_plus/fabric/waits.hpp"
#include "remy_plus/fabric/wiring.hpp"

namespace remy_plus::fabric {

// What is looked at again and again, at whole multiples of `every`.
struct Watch {
  Time every = never;
  std::vector<std::uint32_t> flows;
  std::vector<std::uint32_t> ports;
};

struct Samples {
  std::vector<Time> times;
  std::vector<double> gbps;       // (times, flows)
  std::vector<double> under_way;  // (times, flows) bytes of payload
  std::vector<double> delivered;  // (times, flows) bytes of payload
  std::vector<double> queued;     // (times, ports) bytes
};

// Of a run. With fewer packets in the window before, one goes through a window alone: others would only be waited for.
struct Threads {
  unsigned count = 1;
  std::uint64_t least_packets = 500;  // tens of microseconds of work
};

class Simulation;

// Who looks at a run, and may change markers and the transport's parameters.
struct Controller {
  Time first = never;
  // At a moment up to which everything has happened; returns when to look again, later than that.
  std::function<Time(Simulation&, Time now)> act;
};

class Simulation {
 public:
  using MakeTransport = std::function<std::unique_ptr<Transport>(const Frame&)>;

  // Threads change no result; transports that cannot be divided have one. Throws
  // std::invalid_argument where something cannot be.
  Simulation(const Wiring& wiring, const std::vector<FlowStart>& flows, const Settings& settings,
             const MakeTransport& transport, const Events& events = {}, const Threads& threads = {},
             const std::vector<FlowSet>& sets = {});
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Runs until all flows have ended or the horizon is reached; `go_on` is asked now and then. Where a controller
  // changes nothing, nothing changes; round trips are timed only for it, and not with RCP's header, which holds no
  // time.
  void run(const std::function<bool()>& go_on, const Watch& watch = {}, const Controller& controller = {});

  // --- for a controller

  // What the marker of a port has seen stays, if it stays of its kind. Throws std::invalid_argument if it goes by
  // waits, and packets are marked as they join a queue.
  void set_marker(std::size_t port, const MarkerParameters& given);
  // Throws std::invalid_argument if it is not of the kind of the run's.
  void set_transport(const Transport& given) { transport_->adopt(given); }
  const std::vector<RoundTrips::Sum>& round_trips() const { return trips_.hosts; }
  // A counter for every switch, of what its own hosts send: no packet is in two of them.
  void count_flows(std::vector<FlowCounter> by_switch);
  std::vector<FlowCounter>& flow_counters() { return flow_counters_; }
  const Samples& samples() const { return samples_; }

  std::span<const Flow> flows() const { return flows_; }
  std::span<const Port> ports() const { return ports_; }
  const Transport& transport() const { return *transport_; }
  Transport& transport() { return *transport_; }
  const Failures* failures() const { return failures_.get(); }  // null: nothing happens to links
  const Recovery* recovery() const { return recovery_.get(); }
  std::uint64_t retransmitted() const;
  Counts counts() const;
  // From now on, how many packets each node goes through in each round, which is a window or a part of it; and what
  // hosts do by themselves.
  void keep_rounds() { node_packets_.resize(agendas_.size()); }
  const std::vector<std::uint32_t>& round_packets() const { return round_packets_; }  // (rounds, nodes)
  Time now() const { return now_; }
  bool looks_for_level() const { return settings_.level < std::numeric_limits<std::int64_t>::max(); }
  // How long the queue was at the port of a switch where it was longest in the mean; none without a switch.
  QueueTimes fullest() const;

  // What the flow takes alone, without telemetry.
  Time ideal(std::uint32_t flow) const;
  // And with the telemetry of the transport, in its own order of packets, whatever ideal times go by.
  Time alone(std::uint32_t flow) const;
  // The ports that its data cross, in order.
  std::vector<int> ports_of(std::uint32_t flow) const {
    const Ways& ways = ways_[flow];
    return {ways.data, ways.data + ways.data_hops};
  }
  Time base_rtt() const { return base_rtt_; }

 private:
  static constexpr int port_bits = 12;  // of a key of gather()
  struct Ways {
    std::uint16_t data[most_hops], acks[most_hops];  // ports
    std::uint8_t data_hops, ack_hops;
    bool fixed;  // by a trace
    Time base_rtt;
  };

  void make_ports();
  const Speed* speed_of(double gbps);
  void make_headroom();
  void require_grants() const;
  void make_markers();
  void make_queues();
  Hosts hosts() const {
    return settings_.selective && transport_->hosts() == Hosts::windowed ? Hosts::selective : transport_->hosts();
  }
  MarkerParameters in_bytes(const MarkerParameters& given) const {
    return fabric::in_bytes(given, [this](double bdps) { return bytes_of(bdps); });
  }
  double slowest_host() const;  // Gb/s
  double bytes_of(double bdps) const;
  double frames_of_bdp() const;
  double full_frame() const;
  std::int64_t own_queue(double gbps) const;  // bytes that may wait at a port of this rate
  void make_ways(const std::vector<FlowStart>& flows);
  void make_choosers();
  void make_forwarding(const std::vector<FlowStart>& flows, const Routes& routes);
  void make_flows(const std::vector<FlowStart>& flows, const std::vector<FlowSet>& sets);
  // Packets that nodes will go through and ports will send, about.
  struct Loads {
    std::vector<double> nodes, ports;
  };
  Loads loads() const;
  // The nodes in an order in which few packets go from its first part to its last, wherever it is cut.
  std::vector<std::size_t> lined_up(const Loads& loads, std::size_t regions) const;
  // Into parts of about as many packets each, side by side in that order.
  void cut(const Loads& loads, const std::vector<std::size_t>& order, std::size_t parts);
  void fill_parts(std::size_t count);
  // Parts for the threads, or one where one thread is to do it all.
  void divide();
  void make_nodes(const std::vector<FlowStart>& flows);
  void fill_hosts(const std::vector<FlowStart>& flows);
  void fill_switches();
  void make_fair_rate(Port& port) const;
  void make_fair_rates();
  void make_headers();
  Time longest_rtt(const Routes& routes) const;
  Time plain_ideal(const Flow& flow, const Ways& ways) const;
  // With so many bytes around a payload, and in an ACK.
  Time exact_ideal(const Flow& flow, const Ways& ways, int overhead, int ack_bytes) const;
  Time one_way(const std::vector<int>& way, int bytes) const;
  Frame frame() const;

  Part& part_of(int node) { return *parts_[part_of_[static_cast<std::size_t>(node)]]; }
  // Has something to do then.
  void wake(int node, Time at);
  // Takes what parts have told of a round.
  void end_round(const Round& round);
  // One thread goes on alone: what was sent between threads is on its link, and what will be.
  void settle();
  // Threads go on with their parts.
  void go_apart();
  // Where the port sends to, as threads have the nodes.
  void direct(int port);
  // Brings what was sent to the parts of a thread.
  void take_in(std::size_t thread, std::size_t lane);
  // Of flows whose start is known, whether any begins later.
  bool more_begin(Time now) const;
  // Whether nothing will ever be delivered but by a timer, and timers have tried for long.
  bool stuck(Time now);
  void require_watch(const Watch& watch) const;
  void sample(const Watch& watch, Time now);
  void account();
  void time_round_trips();
  struct Looks {
    const Watch& watch;
    const Controller& controller;
    const Recovery* recovery;  // null: nothing happens to links
    const Failures* failures;
    Time sample, act;

    Time next() const {
      const Time found = std::min(sample, act);
      return failures ? std::min({found, recovery->next(), failures->next()}) : found;
    }
  };
  void look(Looks& looks);

  // --- what happens to links

  // All that is due now: first to links, then to routes.
  void change_links(Time now);
  void change_end(int port, double gbps, Time now);
  void fail(int port, Time now);
  void repair(int port, Time now);
  void set_speed(int port, double gbps);
  // What is on the link is no more.
  void clear_wire(int port);
  // A packet that has come in by a port has no way, or that way is down.
  void lose(const Part& part, const Packet& packet, int in, int node);
  void count_lost(int port, int by, std::uint64_t packets);

  void run_window(Time begin, Time end, Looks& looks);
  void run_nodes(Time begin, Time end);
  // How many windows threads may go through with one barrier: nobody looks, and the run does not end before the last.
  std::uint64_t windows_together(Time begin, const Looks& looks) const;
  // Threads go through windows, which are a lookahead apart. One begins the next as soon as it has what others sent.
  void run_apart(Time begin, Time end, std::uint64_t windows);
  void run_parts(const std::vector<Part*>& parts, NodeLists Part::* which, Time begin, Time end);
  // Parts for each thread, with about as many packets: which thread has each part.
  std::vector<std::uint32_t> even_shares() const;
  // Of the thread with the most of what parts went through of late, over the mean.
  double imbalance(const std::vector<std::uint32_t>& share) const;
  void share_out();
  void run_share(std::size_t thread, Time begin, Time end, std::uint64_t first);
  void mark_borders();
  // What parts did, and when one of their nodes has something to do.
  Round look_ahead(const std::vector<Part*>& parts);
  // A flow that waited for others at other hosts. It begins in a later window than the last of them was over in.
  void begin(std::uint32_t flow, Time start);
  // These return when the node has something to do next: by itself, or because something arrives.
  template <class AnySwitch>
  Time run_switch(Part& part, AnySwitch& at, int node, Time begin, Time end);
  // The port with the shortest queue of those that lead on.
  template <class AnySwitch>
  int emptiest(AnySwitch& at, const Packet& packet, int node) const;
  template <class AnyHost>
  Time run_host(Part& part, AnyHost& at, int node, Time end);
  // Sorts what arrives at a node in the window into `keys`, of (time since its begin, port). Returns when what is
  // behind comes.
  Time gather(std::vector<std::uint64_t>& keys, int node, Time begin, Time end) const;
  // Below 0: it has none that carries.
  int next_port(const Packet& packet, int node) const {
    if (forwarding_) [[unlikely]] {
      const int out = way(packet, node);
      return out >= 0 && failures_ && failures_->down(out) ? -1 : out;
    }
    return given_port(packet);
  }
  int given_port(const Packet& packet) const {
    const Ways& ways = ways_[packet.flow];
    return goes_back(packet) ? ways.acks[packet.hop] : ways.data[packet.hop];
  }
  // As routing has it; below 0: none, or the packet has crossed as many links as it may.
  int way(const Packet& packet, int node) const {
    if (packet.hop >= most_hops) return -1;
    return ways_[packet.flow].fixed ? given_port(packet) : forwarding_->next(packet, node);
  }

  const Wiring& wiring_;
  Settings settings_;
  Time base_rtt_ = 0, lookahead_ = never, now_ = 0;
  std::vector<std::unique_ptr<Speed>> speeds_;
  std::vector<Port, LargePages<Port>> ports_;
  std::vector<Wire, LargePages<Wire>> wires_;  // (ports,)
  std::vector<Flow, LargePages<Flow>> flows_;
  std::vector<Ways, LargePages<Ways>> ways_;
  std::vector<std::uint16_t> first_ports_;
  Stacks stacks_;
  std::unique_ptr<Headers> headers_;
  std::unique_ptr<Waits> waits_;  // null: no flow waits for others
  Reports reports_;
  std::unique_ptr<Losses> losses_;  // null: there is no PFC
  std::vector<Sprayed> sprayed_;
  RoundTrips trips_;
  std::vector<FlowCounter> flow_counters_;  // by switch; none, unless wanted
  std::vector<Agenda> agendas_;             // (nodes,)
  std::unique_ptr<Transport> transport_;
  std::uint64_t unfinished_ = 0;
  Time last_start_ = 0;  // of flows that begin before the horizon
  Time progress_ = 0;
  std::unique_ptr<Forwarding> forwarding_;  // null: every flow has one way
  std::unique_ptr<Failures> failures_;
  std::unique_ptr<Recovery> recovery_;
  AnyHosts hosts_;
  AnySwitches switches_;
  Samples samples_;
  std::vector<std::unique_ptr<Part>> own_parts_;
  std::vector<Part*> parts_;
  std::vector<std::uint32_t> part_of_;  // (nodes,)
  std::unique_ptr<ThreadPool> pool_;    // null: one thread
  std::vector<Share> shares_;           // (threads,)
  Threads threads_;
  Round last_;                                // of all parts
  std::uint64_t round_ = 0;                   // the last one that threads shared, from 1
  std::uint64_t next_share_out_ = 0;          // round
  bool alone_ = true;                         // one thread goes through all parts
  std::vector<std::uint32_t> node_packets_;   // (nodes,) of this round; empty: they are not kept
  std::vector<std::uint32_t> round_packets_;  // (rounds, nodes)
};

}  // namespace remy_plus::fabric
