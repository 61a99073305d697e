#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "../arrays.hpp"
#include "named.hpp"
#include "parts.hpp"

namespace remy_plus::bindings {

using namespace fabric;
using fabric::never;

namespace {

void add_flows(nb::dict& out, const Simulation& run) {
  std::vector<double> start, fct, ideal, alone, delivered;
  std::vector<std::int32_t> ports(run.flows().size() * most_hops, -1);
  for (std::uint32_t i = 0; i < run.flows().size(); ++i) {
    const fabric::Flow& flow = run.flows()[i];
    start.push_back(flow.start == never ? std::numeric_limits<double>::quiet_NaN()
                                        : static_cast<double>(flow.start) / ns);
    fct.push_back(flow.ended == never ? std::numeric_limits<double>::quiet_NaN()
                                      : static_cast<double>(flow.ended - flow.start) / ns);
    ideal.push_back(static_cast<double>(run.ideal(i)) / ns);
    alone.push_back(static_cast<double>(run.alone(i)) / ns);
    delivered.push_back(static_cast<double>(flow.bytes_before(flow.expected)));
    const std::vector<int> way = run.ports_of(i);
    std::copy(way.begin(), way.end(), ports.begin() + static_cast<std::ptrdiff_t>(i) * most_hops);
  }
  out["flow_start_ns"] = to_numpy(std::move(start));
  out["flow_fct_ns"] = to_numpy(std::move(fct));
  out["flow_ideal_ns"] = to_numpy(std::move(ideal));
  out["flow_alone_ns"] = to_numpy(std::move(alone));
  out["flow_ports"] = to_numpy(std::move(ports), {run.flows().size(), most_hops});
  out["flow_delivered_bytes"] = to_numpy(std::move(delivered));
}

// A column with a number for each port.
auto adder(nb::dict& out, const Simulation& run, const Wiring& wiring) {
  return [&](const char* name, auto get) {
    std::vector<double> values;
    for (int i = 0; i < wiring.ports(); ++i)
      values.push_back(static_cast<double>(get(wiring.end(i), run.ports()[static_cast<std::size_t>(i)])));
    out[name] = to_numpy(std::move(values));
  };
}

void add_ports(nb::dict& out, const Simulation& run, const Wiring& wiring) {
  const auto add = adder(out, run, wiring);
  add("port_node", [](const End& end, const Port&) { return end.node; });
  add("port_peer", [](const End& end, const Port&) { return end.peer; });
  add("port_data_packets", [](const End&, const Port& port) { return port.counts.data_packets; });
  add("port_data_bytes", [](const End&, const Port& port) { return port.counts.data_bytes; });
  add("port_ack_packets", [](const End&, const Port& port) { return port.counts.ack_packets; });
  add("port_marked_packets", [](const End&, const Port& port) { return port.counts.marked_packets; });
  add("port_drops", [](const End&, const Port& port) { return port.counts.drops; });
  if (run.failures()) add("port_lost_packets", [](const End&, const Port& port) { return port.counts.lost; });
  add("port_trims", [](const End&, const Port& port) { return port.counts.trims; });
  add("port_most_queued_bytes", [](const End&, const Port& port) { return port.counts.most_queued; });
  if (run.looks_for_level())
    add("port_crossed_ns", [](const End&, const Port& port) {
      return port.crossed == never ? std::numeric_limits<double>::infinity() : static_cast<double>(port.crossed) / ns;
    });
  add("port_pauses_sent", [](const End&, const Port& port) { return port.counts.pauses_sent; });
  add("port_pauses_received", [](const End&, const Port& port) { return port.counts.pauses_received; });
  add("port_paused_ns",
      [&](const End&, const Port& port) { return static_cast<double>(port.paused_at(run.now())) / ns; });
  add("port_mean_queued_bytes", [&](const End&, const Port& port) {
    return run.now() > 0 ? port.counts.queue_area / static_cast<double>(run.now()) : 0.0;
  });
  add("port_p99_queued_bytes", [&](const End&, const Port& port) {
    return std::min(port.counts.queue_times.quantile(0.99, run.now()), port.counts.most_queued);
  });
}

void add_fullest(nb::dict& out, const QueueTimes& times) {
  std::vector<double> bytes, time;
  for (std::size_t bin = 0; bin < times.bins(); ++bin) {
    if (times.time(bin) == 0) continue;
    bytes.push_back(static_cast<double>(QueueTimes::largest(bin)));
    time.push_back(static_cast<double>(times.time(bin)) / ns);
  }
  out["fullest_queued_bytes"] = to_numpy(std::move(bytes));
  out["fullest_queued_ns"] = to_numpy(std::move(time));
}

void add_events(nb::dict& out, const Simulation& run) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  std::vector<double> begins, took, lost;
  for (std::size_t event = 0; event < run.failures()->begins().size(); ++event) {
    const Time after = run.recovery()->took(event);
    begins.push_back(static_cast<double>(run.failures()->begins()[event]) / ns);
    took.push_back(after < 0 ? none : after == never ? infinite : static_cast<double>(after) / ns);
    lost.push_back(static_cast<double>(run.failures()->lost()[event]));
  }
  out["event_ns"] = to_numpy(std::move(begins));
  out["event_recovery_ns"] = to_numpy(std::move(took));
  out["event_lost_packets"] = to_numpy(std::move(lost));
}

void add_samples(nb::dict& out, const Samples& samples, const Watch& watch) {
  std::vector<double> times;
  for (const Time time : samples.times) times.push_back(static_cast<double>(time) / ns);
  const std::size_t count = times.size();
  out["sample_ns"] = to_numpy(std::move(times));
  out["sample_gbps"] = to_numpy(std::vector<double>(samples.gbps), {count, watch.flows.size()});
  out["sample_under_way_bytes"] = to_numpy(std::vector<double>(samples.under_way), {count, watch.flows.size()});
  out["sample_delivered_bytes"] = to_numpy(std::vector<double>(samples.delivered), {count, watch.flows.size()});
  out["sample_queued_bytes"] = to_numpy(std::vector<double>(samples.queued), {count, watch.ports.size()});
}

// (rules,) and (look-ups,), (look-ups, places of signals)
void add_look_ups(nb::dict& out, const Transport& transport) {
  if (const auto hits = transport.rule_hits())
    out["rule_hits"] = to_numpy(std::vector<std::int64_t>(hits->begin(), hits->end()));
  if (const LookUps* kept = transport.look_ups()) {
    out["look_up_rule"] = to_numpy(std::vector<std::int64_t>(kept->rule.begin(), kept->rule.end()));
    out["look_up_values"] = to_numpy(std::vector<float>(kept->values), {kept->rule.size(), std::size_t{signal_places}});
  }
}

// By name (ports,), NaN at ports whose marker does not tell it.
nb::dict marker_states(const Simulation& run) {
  std::map<std::string, std::vector<double>> found;
  for (std::size_t i = 0; i < run.ports().size(); ++i)
    for (const auto& [name, value] : state_of(run.ports()[i].marker)) {
      auto& values = found[name];
      values.resize(run.ports().size(), std::numeric_limits<double>::quiet_NaN());
      values[i] = value;
    }
  nb::dict out;
  for (auto& [name, values] : found) out[name.c_str()] = to_numpy(std::move(values));
  return out;
}

}  // namespace

nb::dict seen_of(const Simulation& run, const Wiring& wiring, Time now) {
  nb::dict out;
  const auto add = adder(out, run, wiring);
  add("port_data_packets", [](const End&, const Port& port) { return port.counts.data_packets; });
  add("port_data_bytes", [](const End&, const Port& port) { return port.counts.data_bytes; });
  add("port_marked_packets", [](const End&, const Port& port) { return port.counts.marked_packets; });
  add("port_drops", [](const End&, const Port& port) { return port.counts.drops; });
  add("port_queued_bytes", [](const End&, const Port& port) { return port.queued; });
  add("port_queued_byte_ns", [&](const End&, const Port& port) { return port.queue_area_at(now) / ns; });
  add("port_paused_ns", [&](const End&, const Port& port) { return static_cast<double>(port.paused_at(now)) / ns; });
  std::vector<double> acks, time, share;
  for (const RoundTrips::Sum& sum : run.round_trips()) {
    acks.push_back(static_cast<double>(sum.acks));
    time.push_back(sum.time / ns);
    share.push_back(sum.share);
  }
  out["marker_states"] = marker_states(run);
  out["host_acks"] = to_numpy(std::move(acks));
  out["host_rtt_ns"] = to_numpy(std::move(time));
  out["host_propagation_shares"] = to_numpy(std::move(share));
  return out;
}

nb::dict sketches_of(Simulation& run, const Wiring& wiring) {
  std::vector<double> node, flow, bytes, small;
  for (std::size_t i = 0; i < run.flow_counters().size(); ++i) {
    const auto read = [&](auto& counter) {
      for (const auto& [number, size] : counter.flows()) {
        node.push_back(static_cast<double>(wiring.hosts()) + static_cast<double>(i));
        flow.push_back(number);
        bytes.push_back(static_cast<double>(size));
      }
      small.push_back(counter.small_flows());
      counter.reset();
    };
    std::visit(read, run.flow_counters()[i]);
  }
  nb::dict out;
  out["sketch_node"] = to_numpy(std::move(node));
  out["sketch_flow"] = to_numpy(std::move(flow));
  out["sketch_bytes"] = to_numpy(std::move(bytes));
  out["sketch_small_flows"] = to_numpy(std::move(small));
  return out;
}

nb::dict record_of(const Simulation& run, const Wiring& wiring, const Watch& watch) {
  nb::dict out;
  add_flows(out, run);
  add_ports(out, run, wiring);
  if (run.failures()) add_events(out, run);
  add_fullest(out, run.fullest());
  add_samples(out, run.samples(), watch);
  add_look_ups(out, run.transport());
  if (const auto& kept = run.round_packets(); !kept.empty()) {
    const auto nodes = static_cast<std::size_t>(wiring.nodes());
    out["round_packets"] = to_numpy(std::vector<std::uint32_t>(kept), {kept.size() / nodes, nodes});
  }
  out["retransmitted_packets"] = run.retransmitted();
  out["timeouts"] = run.counts().timeouts;
  out["nacks"] = run.counts().nacks;
  out["end_ns"] = static_cast<double>(run.now()) / ns;
  out["base_rtt_ns"] = static_cast<double>(run.base_rtt()) / ns;
  return out;
}

}  // namespace remy_plus::bindings
