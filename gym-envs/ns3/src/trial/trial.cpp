// SPDX-License-Identifier: GPL-2.0-only
#include "trial/trial.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/uinteger.h"
#include "tcp/trace_source.hpp"

namespace lcca_ns3 {

using ns3::CreateObject;
using ns3::NanoSeconds;
using ns3::Node;
using ns3::Ptr;
using ns3::Simulator;
using ns3::UintegerValue;

namespace {

constexpr std::uint16_t port = 9;
constexpr std::uint32_t headers = 20 + 20;  // IPv4 and TCP; the timestamp option is part of the framing
constexpr std::uint32_t framing = 14;
constexpr std::uint32_t timestamp_option = 12;  // where it is really sent

// A router: hands what arrives to the device that leads to the packet's destination.
class Router {
 public:
  Router() : node_(CreateObject<Node>()) {}
  Ptr<Node> node() const { return node_; }
  void route(ns3::Ipv4Address to, Ptr<LinkDevice> device) { devices_[to.Get()] = device; }
  void forward(Ptr<ns3::Packet> packet) {
    std::uint8_t ip[20];
    packet->CopyData(ip, sizeof ip);
    const std::uint32_t to =
        std::uint32_t{ip[16]} << 24 | std::uint32_t{ip[17]} << 16 | std::uint32_t{ip[18]} << 8 | std::uint32_t{ip[19]};
    devices_.at(to)->offer(packet);
  }

 private:
  Ptr<Node> node_;
  std::unordered_map<std::uint32_t, Ptr<LinkDevice>> devices_;
};

struct Host {
  Ptr<Node> node;
  Ptr<LinkDevice> device;    // of the host
  Ptr<LinkDevice> opposite;  // of the router
  ns3::Ipv4Address address;
};

// Ends ns-3's global state whatever happens.
struct Cleaner {
  ~Cleaner() { Simulator::Destroy(); }
};

class Trial final : public TrialDriver {
 public:
  Trial(const Plan& plan, Controller* controller, std::function<void()> keep_going)
      : plan_(plan), controller_(controller), keep_going_(std::move(keep_going)), flow_monitor_(plan) {
    ns3::RngSeedManager::SetSeed(1 + static_cast<std::uint32_t>(plan.seed % 4294967290u));
    ns3::RngSeedManager::SetRun(1 + plan.network.id);
    begin_ = plan.ns(plan.network.rtt * 4 + 1000) + handshake_;
    set_rules();
    traffic_ = plan.network.workload->begin(plan.seed, plan.network, plan.routes.size(), plan.duration);
    for (int i = 0; i < plan.routers; ++i) routers_.push_back(std::make_unique<Router>());
    add_links();
    if (!plan.windows.empty()) devices_.at(0)->watch(&counts_.emplace(plan, begin_));
    for (std::size_t i = 0; i < plan.routes.size(); ++i) add_pair(i);
  }

  void begin() override {
    poll();
    Simulator::Stop(NanoSeconds(begin_ - 1));
    go_on();
    for (std::size_t i = 0; i < sockets_.size(); ++i)
      if (!sockets_[i]->established() && !late_source(i))
        throw std::runtime_error("ns-3: a connection was not set up in time");
    Simulator::Stop(NanoSeconds(1 + plan_.ns(plan_.duration)));
  }

  void go_on() override {
    Simulator::Run();
    if (failure_) std::rethrow_exception(failure_);
  }

  double now() const override {
    return static_cast<double>(Simulator::Now().GetNanoSeconds() - begin_) / plan_.ns_per_us();
  }
  bool over() const override { return Simulator::Now().GetNanoSeconds() >= ns_at(plan_.duration); }
  std::int64_t ns_at(double us) const override { return begin_ + plan_.ns(us); }
  FlowMonitor& flow_monitor() override { return flow_monitor_; }
  Source* steered() override { return steered_; }
  LinkDevice& device(std::size_t link) override { return *devices_.at(link); }
  MarkingQueue* marking_queue() override { return ns3::PeekPointer(marking_); }

  Result collect() override {
    for (auto& source : sources_) source->finish(plan_.duration);
    flow_monitor_.finish();
    Result result;
    for (std::size_t i = 0; i < sources_.size(); ++i)
      if (plan_.routes[i].measured) result.first_on.push_back(sources_[i]->first_on());
    for (Row& row : flow_monitor_.rows())
      if (plan_.routes[row.sender].measured) result.flows.push_back(std::move(row));
    result.totals.events = Simulator::GetEventCount();
    for (const Row& row : result.flows) {
      result.totals.sent += row.sent;
      result.totals.delivered += row.delivered;
    }
    if (counts_) result.windows = counts_->rows();
    result.marked = marked_;
    fill_link(result.totals);
    if (plan_.options.keep_delays) fill_delays(result);
    return result;
  }

 private:
  static constexpr std::int64_t handshake_ = 1'000'000;  // ns beside round-trip times

  void set_rules() {
    rules_.framing = framing;
    rules_.one_way = plan_.options.one_way;
    rules_.model = plan_.model;
    rules_.begin = begin_;
    rules_.ns_per_us = plan_.ns_per_us();
    rules_.header = header();
    rules_.stamping = plan_.header.get();
    rules_.packet_bytes = plan_.options.packet_bytes;
    rules_.rtt = plan_.network.rtt;
    rules_.seed = plan_.seed;
    rules_.network = plan_.network.id;
    deliveries_.stamping = plan_.header.get();
    deliveries_.ns_per_us = plan_.ns_per_us();
    rules_.dropped = [this](const Mark::Fields& fields) {
      Row& row = flow_monitor_.row(fields.flow);
      ++(fields.echo ? row.acks_dropped : row.dropped);
    };
  }

  IntLayout header() const {
    using namespace remy_plus;
    SignalMask wanted = controller_ ? controller_->wanted() : 0;
    IntLayout layout;
    for (const ControlPlan& each : plan_.policies) {
      if (const auto* policy = std::get_if<Policy>(&each))
        wanted |= std::visit([](const auto& p) { return p.wanted; }, *policy);
      const auto* stock = std::get_if<StockControl>(&each);
      layout.queue |= stock && stock->needs_queue;
      layout.link |= stock && stock->needs_link;
    }
    layout.queue |= (wanted & (bit(queue) | bit(queue_ewma))) != 0;
    layout.link |= (wanted & remy_plus::metered_signals) != 0;
    if (plan_.header && !plan_.header->plain) return {};  // hops count its bytes
    const std::int64_t bytes = plan_.options.header_bytes;
    layout.bytes = bytes < 0 ? layout.needed() : static_cast<std::uint32_t>(bytes);
    return layout;
  }

  void add_links() {
    for (const LinkPlan& link : plan_.links) {
      LinkDevice::Link made;
      made.bytes_per_ns = link.rate * plan_.options.packet_bytes / plan_.ns_per_us();
      for (const RateStep& step : link.steps)
        made.steps.push_back({static_cast<double>(ns_at(step.from)), made.bytes_per_ns * step.rate / link.rate});
      made.delay = plan_.ns(link.delay);
      if (std::isfinite(link.buffer)) made.buffer = static_cast<std::uint64_t>(link.buffer);
      made.stamps = true;
      made.number = devices_.size();
      Router& tail = *routers_.at(static_cast<std::size_t>(link.tail));
      devices_.push_back(add_device(tail.node(), made));
      devices_.back()->forward_to([&tail](Ptr<ns3::Packet> packet) { tail.forward(packet); });
      if (plan_.queue.kind == "red") devices_.back()->use(red(link));
      if (plan_.queue.kind == "marker") devices_.back()->use_port(port_queue(link));
    }
    if (plan_.queue.kind == "marking") use_marking(plan_.links.at(0));
    for (std::size_t i = 0; i < devices_.size(); ++i) devices_[i]->connect(devices_[i ^ 1]);
  }

  void use_marking(const LinkPlan& link) {
    marking_ = CreateObject<MarkingQueue>(most_packets(link), draws(100, 0), begin_);
    watch(*marking_);
    marking_->Initialize();
    devices_.at(0)->use(marking_);
  }

  Ptr<PortQueue> port_queue(const LinkPlan& link) {
    const std::uint32_t framing = rules_.framing + rules_.header.bytes;
    const double gbps = link.rate * plan_.options.packet_bytes * 8 / 1000;
    const PortQueue::Port port{gbps, 1000 / plan_.options.time_scale, framing, most_packets(link)};
    auto disc = CreateObject<PortQueue>(plan_.queue.marker, port, draws(101, devices_.size()).next());
    watch(*disc);
    disc->Initialize();
    return disc;
  }

  static std::uint32_t most_packets(const LinkPlan& link) {
    return static_cast<std::uint32_t>(std::min(link.buffer, 4e9));
  }

  // The engine's components are below 100; those from there on are of ns-3 alone.
  remy_plus::Stream draws(std::uint64_t component, std::uint64_t link) const {
    return {plan_.seed, plan_.network.id, static_cast<remy_plus::Component>(component), link};
  }

  Ptr<ns3::QueueDisc> red(const LinkPlan& link) {
    ns3::ObjectFactory factory("ns3::RedQueueDisc");
    for (const auto& [name, value] : plan_.queue.attributes) factory.Set(name, ns3::StringValue(value));
    if (std::isfinite(link.buffer))
      factory.Set("MaxSize", ns3::StringValue(std::to_string(static_cast<std::uint64_t>(link.buffer)) + "p"));
    const auto bits =
        static_cast<std::uint64_t>(link.rate * plan_.options.packet_bytes * 8e6 / plan_.options.time_scale);
    factory.Set("LinkBandwidth", ns3::StringValue(std::to_string(bits) + "bps"));
    factory.Set("MeanPktSize", UintegerValue(plan_.options.packet_bytes));
    auto disc = factory.Create<ns3::QueueDisc>();
    watch(*disc);
    disc->Initialize();
    return disc;
  }

  void watch(ns3::QueueDisc& disc) {
    disc.TraceConnectWithoutContext("Drop", ns3::Callback<void, Ptr<const ns3::QueueDiscItem>>(
                                                [this](Ptr<const ns3::QueueDiscItem> item) { note_drop(item); }));
    disc.TraceConnectWithoutContext("Mark",
                                    ns3::Callback<void, Ptr<const ns3::QueueDiscItem>, const char*>(
                                        [this](Ptr<const ns3::QueueDiscItem> item, const char*) { note_mark(item); }));
  }

  void note_drop(Ptr<const ns3::QueueDiscItem> item) {
    Mark mark;
    if (item->GetPacket()->PeekPacketTag(mark)) rules_.dropped(mark.fields);
  }

  void note_mark(Ptr<const ns3::QueueDiscItem> item) {
    Mark mark;
    if (item->GetPacket()->PeekPacketTag(mark) && !mark.fields.echo) ++marked_;
  }

  Ptr<LinkDevice> add_device(Ptr<Node> node, const LinkDevice::Link& link) {
    auto device = CreateObject<LinkDevice>(rules_, link);
    node->AddDevice(device);
    return device;
  }

  Host add_host(int router, std::uint32_t number) {
    Host host;
    host.node = CreateObject<Node>();
    stack_.Install(host.node);
    LinkDevice::Link link;
    link.bytes_per_ns = plan_.options.host_gbps / 8 / plan_.options.time_scale;
    host.device = add_device(host.node, link);
    Router& access = *routers_.at(static_cast<std::size_t>(router));
    host.opposite = add_device(access.node(), link);
    host.device->connect(host.opposite);
    host.opposite->connect(host.device);
    host.opposite->forward_to([&access](Ptr<ns3::Packet> packet) { access.forward(packet); });
    host.address = ns3::Ipv4Address(0x0a000001u + number);
    auto ipv4 = host.node->GetObject<ns3::Ipv4>();
    const std::uint32_t interface = ipv4->AddInterface(host.device);
    ipv4->AddAddress(interface, ns3::Ipv4InterfaceAddress(host.address, ns3::Ipv4Mask("255.0.0.0")));
    ipv4->SetUp(interface);
    return host;
  }

  void add_pair(std::size_t i) {
    const RoutePlan& route = plan_.routes[i];
    if (route.forward.empty()) throw std::invalid_argument("a route needs at least one link");
    const auto link = [&](int at) -> const LinkPlan& { return plan_.links.at(static_cast<std::size_t>(at)); };
    const auto number = static_cast<std::uint32_t>(2 * i);
    Host sender = add_host(link(route.forward.front()).tail, number);
    Host receiver = add_host(link(route.forward.back()).head, number + 1);
    lay(route.forward, receiver);
    lay(route.backward, sender);
    receiver.device->filter([this](const Mark::Fields& fields) { return lose(fields); });
    listen(receiver, i);
    sources_.push_back(new_source(i));
    if (counts_)
      sources_.back()->watch([this](const Mark::Fields& echo) { counts_->acknowledged(echo); });
    else if (plan_.options.keep_delays && route.measured)
      sources_.back()->watch([this](const Mark::Fields& echo) { note_queue(echo.queue); });
    connect(sender, receiver, i);
  }

  std::unique_ptr<Sender> new_source(std::size_t i) {
    if (!plan_.trace.empty()) return std::make_unique<TraceSource>(plan_, i, flow_monitor_, begin_);
    auto source = std::make_unique<Source>(plan_, i, flow_monitor_, begin_, *traffic_);
    if (plan_.header) source->announce([this, i](bool begins) { count_flow(plan_.routes[i], begins); });
    if (controller_ && i == 0) {
      steered_ = source.get();
      steered_->steer(controller_);
    }
    return source;
  }

  // Hops that write headers know how many flows pass them.
  void count_flow(const RoutePlan& route, bool begins) {
    for (const int at : route.forward) {
      remy_plus::Hop& hop = *devices_.at(static_cast<std::size_t>(at))->hop();
      begins ? hop.join() : hop.leave();
    }
  }

  void lay(const std::vector<int>& links, const Host& to) {
    for (int at : links) {
      const LinkPlan& link = plan_.links.at(static_cast<std::size_t>(at));
      routers_.at(static_cast<std::size_t>(link.tail))->route(to.address, devices_.at(static_cast<std::size_t>(at)));
    }
    routers_.at(static_cast<std::size_t>(plan_.links.at(static_cast<std::size_t>(links.back())).head))
        ->route(to.address, to.opposite);
  }

  bool lose(const Mark::Fields& fields) {
    if (fields.echo || !fields.lost) return false;
    ++flow_monitor_.row(fields.flow).lost;
    return true;
  }

  Ptr<MarkedSocket> add_socket(Ptr<Node> node, std::size_t route) {
    const StockControl* stock = plan_.stock(route);
    auto socket = CreateObject<MarkedSocket>();
    auto tcp = node->GetObject<ns3::TcpL4Protocol>();
    auto rtt = CreateObject<ns3::RttMeanDeviation>();
    rtt->SetAttribute("InitialEstimation", ns3::TimeValue(NanoSeconds(plan_.ns(plan_.network.rtt))));
    socket->SetNode(node);
    socket->SetTcp(tcp);
    socket->SetRtt(rtt);
    socket->SetCongestionControlAlgorithm(first_control(stock));
    socket->SetRecoveryAlgorithm(CreateObject<ns3::TcpPrrRecovery>());
    configure(*socket, stock);
    MarkedSocket::trace(socket);
    tcp->AddSocket(socket);
    return socket;
  }

  // Before the first flow. Of a receiver, it says how marks are echoed: DCTCP's does so packet by packet.
  static Ptr<ns3::TcpCongestionOps> first_control(const StockControl* stock) {
    if (!stock || !stock->ecn) return CreateObject<HeldWindow>();
    return ns3::ObjectFactory(stock->type).Create<ns3::TcpCongestionOps>();
  }

  // The defaults of ns-3 are for millisecond networks.
  void configure(MarkedSocket& socket, const StockControl* stock) {
    const Options& options = plan_.options;
    const bool timestamps = stock && stock->timestamps;
    const std::uint32_t option = timestamps ? timestamp_option : 0;  // a packet's bytes stay the same
    const auto us = [this](double x) { return ns3::TimeValue(NanoSeconds(plan_.ns(x))); };
    socket.SetAttribute("SegmentSize", UintegerValue(options.packet_bytes - headers - framing - option));
    socket.SetAttribute("SndBufSize", UintegerValue(1u << 30));
    socket.SetAttribute("RcvBufSize", UintegerValue(1u << 30));
    socket.SetAttribute("InitialCwnd", UintegerValue(options.initial_window));
    socket.SetAttribute("DelAckCount", UintegerValue(1));
    socket.SetAttribute("ConnTimeout", us(1e6));
    socket.SetAttribute("MinRto", us(options.min_rto));
    socket.SetAttribute("ClockGranularity", us(1));
    socket.SetAttribute("DataRetries", UintegerValue(1000000));
    socket.SetAttribute("Timestamp", ns3::BooleanValue(timestamps));
    socket.SetAttribute("Sack", ns3::BooleanValue(true));
    socket.SetAttribute("WindowScaling", ns3::BooleanValue(true));
    // Leaving recovery sets the window to this threshold, in ns-3 for BBR too; its default, 2^32 - 1, then overflows.
    socket.SetAttribute("InitialSlowStartThreshold", UintegerValue(1u << 30));
    socket.block()->m_maxPacingRate = ns3::DataRate("1000Gbps");
    if (stock && stock->ecn) socket.SetUseEcn(ns3::TcpSocketState::On);
  }

  void listen(const Host& host, std::size_t route) {
    auto socket = add_socket(host.node, route);
    socket->deliver_to(&deliveries_);
    socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
    socket->Listen();
    socket->SetRecvCallback(ns3::MakeCallback(&Trial::drain));
    socket->SetAcceptCallback(
        ns3::MakeNullCallback<bool, Ptr<ns3::Socket>, const ns3::Address&>(),
        ns3::Callback<void, Ptr<ns3::Socket>, const ns3::Address&>([](Ptr<ns3::Socket> fork, const ns3::Address&) {
          fork->SetRecvCallback(ns3::MakeCallback(&Trial::drain));
        }));
  }

  static void drain(Ptr<ns3::Socket> socket) {
    while (Ptr<ns3::Packet> packet = socket->Recv())
      if (packet->GetSize() == 0) return;
  }

  void connect(const Host& from, const Host& to, std::size_t route) {
    Sender& source = *sources_.at(route);
    auto socket = add_socket(from.node, route);
    if (&source == steered_) {
      socket->SetCongestionControlAlgorithm(CreateObject<HeldWindow>());
      socket->SetUseEcn(ns3::TcpSocketState::Off);
    }
    source.attach(socket);
    sockets_.push_back(socket);
    socket->Bind();
    Simulator::ScheduleWithContext(from.node->GetId(), NanoSeconds(0),
                                   [this, route, address = to.address] { set_up(route, address); });
  }

  void set_up(std::size_t route, ns3::Ipv4Address to) {
    auto connect = [socket = sockets_.at(route), to] { socket->Connect(ns3::InetSocketAddress(to, port)); };
    Source* late = late_source(route);
    if (!late) return connect();
    MarkedSocket& socket = *sockets_.at(route);
    socket.SetAttribute("ConnTimeout", ns3::TimeValue(ns3::Seconds(1)));
    socket.SetAttribute("ConnCount", UintegerValue(20));  // with doubled timeouts, longer than any trial
    socket.SetConnectCallback(ns3::Callback<void, Ptr<ns3::Socket>>([late](Ptr<ns3::Socket>) { late->connected(); }),
                              ns3::MakeNullCallback<void, Ptr<ns3::Socket>>());
    late->connect_by(connect);
  }

  // The sender of a route, if it shakes hands as its first flow begins; none: before the trial.
  Source* late_source(std::size_t route) const {
    if (!plan_.options.late_handshakes) return nullptr;
    double first = HUGE_VAL;
    for (const auto& sender : sources_)
      if (const auto* source = dynamic_cast<const Source*>(sender.get())) first = std::min(first, source->begins());
    auto* source = dynamic_cast<Source*>(sources_.at(route).get());
    return source && source->begins() > first ? source : nullptr;
  }

  void poll() {
    try {
      keep_going_();
    } catch (...) {
      failure_ = std::current_exception();
      return Simulator::Stop();
    }
    Simulator::Schedule(NanoSeconds(plan_.ns(100)), [this] { poll(); });
  }

  void note_queue(std::uint32_t queue) {
    if (queue >= queues_.size()) queues_.resize(queue + 1);
    ++queues_[queue];
  }

  // Of the most used link, as in the engine.
  void fill_link(remy_plus::TrialTotals& totals) {
    const double end = plan_.duration * plan_.ns_per_us();
    totals.utilisation = -1;
    for (const auto& device : devices_) {
      totals.hops += device->sent_packets();
      const double used = device->utilisation(end);
      if (used <= totals.utilisation) continue;
      totals.utilisation = used;
      totals.queue_mean = device->waiting_integral(begin_ + plan_.ns(plan_.duration)) / end;
    }
  }

  void fill_delays(Result& result) {
    std::vector<float> all;
    for (Row& row : result.flows) {
      row.delay_p50 = quantile(row.delays, 0.5);
      row.delay_p99 = quantile(row.delays, 0.99);
      all.insert(all.end(), row.delays.begin(), row.delays.end());
    }
    constexpr double wanted[5] = {0.5, 0.9, 0.95, 0.99, 0.999};
    for (int i = 0; i < 5; ++i) result.totals.delay_quantiles[i] = quantile(all, wanted[i]);
    const double echoes = static_cast<double>(std::accumulate(queues_.begin(), queues_.end(), std::uint64_t{0}));
    double seen = 0;
    for (std::size_t q = 0; q < queues_.size() && seen < 0.99 * echoes; ++q) {
      seen += static_cast<double>(queues_[q]);
      result.totals.queue_p99 = static_cast<double>(q);
    }
  }

  // The smallest value with at least a share `p` of the values at or below it (the engine's definition).
  static double quantile(std::vector<float>& values, double p) {
    if (values.empty()) return std::nan("");
    const auto rank = static_cast<std::ptrdiff_t>(std::max(std::ceil(p * static_cast<double>(values.size())) - 1, 0.0));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    return values[static_cast<std::size_t>(rank)];
  }

  const Cleaner cleaner_;  // goes last
  const Plan& plan_;
  Controller* controller_;
  std::function<void()> keep_going_;
  FlowMonitor flow_monitor_;
  Deliveries deliveries_;
  LinkRules rules_;
  std::int64_t begin_ = 0;  // ns
  std::vector<std::unique_ptr<Router>> routers_;
  std::vector<Ptr<LinkDevice>> devices_;
  ns3::InternetStackHelper stack_ = make_stack();
  std::vector<std::unique_ptr<Sender>> sources_;
  Source* steered_ = nullptr;
  std::unique_ptr<remy_plus::Traffic> traffic_;
  Ptr<MarkingQueue> marking_;
  std::vector<Ptr<MarkedSocket>> sockets_;  // of senders, by route
  std::vector<std::uint64_t> queues_;
  std::uint64_t marked_ = 0;
  std::optional<WindowCounts> counts_;
  std::exception_ptr failure_;

  static ns3::InternetStackHelper make_stack() {
    ns3::InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
    return stack;
  }
};

}  // namespace

Result run_trial(const Plan& plan, const std::function<void()>& keep_going) {
  const auto driver = new_driver(plan, nullptr, keep_going);
  driver->begin();
  driver->go_on();
  return driver->collect();
}

std::unique_ptr<TrialDriver> new_driver(const Plan& plan, Controller* controller, std::function<void()> keep_going) {
  return std::make_unique<Trial>(plan, controller, std::move(keep_going));
}

}  // namespace lcca_ns3
