#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <tuple>

#include "../arrays.hpp"
#include "named.hpp"
#include "parts.hpp"
#include "remy_plus/fabric/fluid.hpp"
#include "remy_plus/fabric/spraying/known_ways.hpp"
#include "remy_plus/fabric/transport/answers.hpp"
#include "remy_plus/fabric/transport/uet.hpp"
#include "remy_plus/policies/policy.hpp"

namespace remy_plus::bindings {

using namespace nb::literals;

const Policy& policy_of(nb::handle handle);

namespace {

using namespace fabric;
using fabric::never;

template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Settings settings_from(const nb::dict& values, const std::string& marker, const nb::dict& marker_parameters) {
  Settings s;
  s.marker = marker_from(marker, marker_parameters);
  Named named(values, "settings");
  named.take("payload_bytes", s.payload);
  named.take("overhead_bytes", s.overhead);
  named.take("ack_bytes", s.ack_bytes);
  named.take("pfc_bytes", s.pfc_bytes);
  named.take("whole_ns", s.whole_ns);
  named.take("lossless", s.lossless);
  named.take("buffer_bytes", s.buffer);
  named.take("buffer_bytes_per_port", s.buffer_per_port);
  named.take("alpha", s.alpha);
  named.take("alpha_by_rate", s.alpha_by_rate);
  named.take("resume_below_bytes", s.resume_below);
  named.take("resume_offset_bytes", s.resume_offset);
  named.take("headroom_delays", s.headroom_delays);
  named.take("priorities", s.priorities);
  named.take("ack_priority", s.ack_priority);
  named.take("mark_at_dequeue", s.mark_at_dequeue);
  named.take("queue_bdps", s.queue_bdps);
  named.take("trim_bytes", s.trim_bytes);
  int spraying = 0;
  named.take("spraying", spraying);
  s.spraying = static_cast<Spraying>(spraying);
  named.take("entropies", s.entropies);
  int scheduling = 0;
  named.take("scheduling", scheduling);
  s.scheduling = static_cast<Scheduling>(scheduling);
  int ways = 0;
  named.take("ways", ways);
  s.ways = static_cast<WayNumbers>(ways);
  named.take("write_to_hosts", s.write_to_hosts);
  named.take("adaptive", s.adaptive);
  named.take("queue_pairs", s.queue_pairs);
  named.take("feedback_per_packet", s.feedback_per_packet);
  named.take("selective", s.selective);
  named.take("sleek", s.sleek);
  named.take("granted", s.granted);
  named.take("mark_when_sent", s.mark_when_sent);
  named.take("mark_to_hosts", s.mark_to_hosts);
  named.take("thresholds_by_rate", s.thresholds_by_rate);
  named.take("ack_bytes_every", s.ack_bytes_every);
  named.take("queue_quantum_bytes", s.queue_quantum);
  named.take("bytes_quantum_bytes", s.bytes_quantum);
  named.take("arrival_bytes", s.arrival_bytes);
  named.take("fct_at_ack", s.fct_at_ack);
  named.take("plain_ideal", s.plain_ideal);
  named.take("retransmit_after_us", s.retransmit_after, us);
  named.take("retransmit_rtts", s.retransmit_rtts);
  named.take("nack_gap_us", s.nack_gap, us);
  named.take("nack_gap_rtts", s.nack_gap_rtts);
  named.take("give_up_after_us", s.give_up_after, us);
  named.take("base_rtt_ns", s.base_rtt, ns);
  named.take("seed", s.seed);
  named.take("horizon_ns", s.horizon, ns);
  named.take("last_round_ns", s.last_round, ns);
  named.take("level_bytes", s.level);
  named.end();
  return s;
}

void require_equal(std::initializer_list<std::size_t> lengths, const char* what) {
  if (std::any_of(lengths.begin(), lengths.end(), [&](std::size_t each) { return each != *lengths.begin(); }))
    throw std::invalid_argument(std::string(what) + ": arrays must be equally long");
}

// Rates from a to b first, then from b to a.
Wiring wiring_from(int hosts, int switches, const Values<std::int32_t>& a, const Values<std::int32_t>& b,
                   const Values<double>& gbps, const Values<double>& delay_ns) {
  require_equal({2 * a.shape(0), 2 * b.shape(0), gbps.shape(0), 2 * delay_ns.shape(0)}, "links");
  std::vector<fabric::Link> links;
  for (std::size_t i = 0; i < a.shape(0); ++i)
    links.push_back({a.data()[i], b.data()[i], gbps.data()[i], gbps.data()[a.shape(0) + i], delay_ns.data()[i]});
  return Wiring(hosts, switches, links);
}

std::vector<FlowStart> flows_from(const Values<std::int32_t>& src, const Values<std::int32_t>& dst,
                                  const Values<std::int64_t>& size, const Values<double>& start_ns,
                                  const std::vector<std::vector<int>>& switches,
                                  const std::vector<std::vector<int>>& ack_switches, const std::vector<int>& priority,
                                  const std::vector<int>& after, const std::vector<double>& off_ns,
                                  const std::vector<int>& pair) {
  require_equal(
      {src.shape(0), dst.shape(0), size.shape(0), start_ns.shape(0), switches.empty() ? src.shape(0) : switches.size(),
       ack_switches.empty() ? src.shape(0) : ack_switches.size()},
      "flows");
  if (!priority.empty()) require_equal({src.shape(0), priority.size()}, "flows");
  if (!after.empty()) require_equal({src.shape(0), after.size(), off_ns.size()}, "flows");
  if (!pair.empty()) require_equal({src.shape(0), pair.size()}, "flows");
  std::vector<FlowStart> flows;
  for (std::size_t i = 0; i < src.shape(0); ++i) {
    FlowStart flow{src.data()[i],
                   dst.data()[i],
                   static_cast<std::uint64_t>(size.data()[i]),
                   std::llround(start_ns.data()[i] * ns),
                   {},
                   {}};
    if (!switches.empty()) flow.switches = switches[i];
    if (!ack_switches.empty()) flow.ack_switches = ack_switches[i];
    if (!priority.empty()) flow.priority = priority[i];
    if (!after.empty()) {
      flow.after = after[i];
      flow.off = std::llround(off_ns[i] * ns);
    }
    if (!pair.empty()) flow.pair = pair[i];
    flows.push_back(std::move(flow));
  }
  return flows;
}

// Asks Python, as (ns, what is seen, what reads and resets the sketches) -> (when to look again in ns, the transport's
// parameters or None, markers by port).
Controller controller_of(const nb::object& act, const Wiring& wiring, nb::handle transport, const Settings& given) {
  if (act.is_none()) return {};
  const auto look = [&wiring, act, transport, &given](Simulation& run, Time now) {
    const nb::gil_scoped_acquire gil;
    const nb::object sketches = nb::cpp_function([&] { return sketches_of(run, wiring); });
    const auto said = nb::cast<nb::tuple>(act(static_cast<double>(now) / ns, seen_of(run, wiring, now), sketches));
    if (!said[1].is_none()) run.set_transport(*transport_of(transport, nb::cast<nb::dict>(said[1]), {}, given));
    for (const nb::handle each : nb::cast<nb::list>(said[2])) {
      const auto marker = nb::cast<nb::tuple>(each);
      const MarkerParameters made = marker_from(nb::cast<std::string>(marker[1]), nb::cast<nb::dict>(marker[2]));
      run.set_marker(nb::cast<std::size_t>(marker[0]), made);
    }
    const double again = nb::cast<double>(said[0]);
    return again < 9e15 ? static_cast<Time>(std::llround(again * ns)) : never;
  };
  return {0, look};
}

// Each switch draws by itself.
std::vector<FlowCounter> samples_of(const Wiring& wiring, std::uint64_t one_in, std::uint64_t seed) {
  std::vector<FlowCounter> found;
  for (int node = wiring.hosts(); node < wiring.nodes(); ++node)
    found.emplace_back(PacketSamples(one_in, Stream(seed, 0, Component::sampling, static_cast<std::uint64_t>(node))));
  return found;
}

// (ns, an end's number, Gb/s, event) of each.
using Changes = std::vector<std::tuple<double, int, double, int>>;

Events events_from(const Changes& changes, double convergence_ns) {
  Events events{{}, std::llround(convergence_ns * ns)};
  for (const auto& [at_ns, port, gbps, event] : changes)
    events.changes.push_back({std::llround(at_ns * ns), port, gbps, event});
  return events;
}

// (flows, of each what is awaited: a number of `Moment`).
using Sets = std::vector<std::tuple<std::vector<std::uint32_t>, std::vector<int>>>;

std::vector<FlowSet> sets_from(const Sets& sets) {
  std::vector<FlowSet> found;
  for (const auto& [flows, awaited] : sets) {
    require_equal({flows.size(), awaited.size()}, "sets");
    FlowSet& set = found.emplace_back();
    for (std::size_t i = 0; i < flows.size(); ++i) set.push_back({flows[i], static_cast<fabric::Moment>(awaited[i])});
  }
  return found;
}

nb::dict run(int hosts, int switches, const Values<std::int32_t>& a, const Values<std::int32_t>& b,
             const Values<double>& gbps, const Values<double>& delay_ns, const Values<std::int32_t>& src,
             const Values<std::int32_t>& dst, const Values<std::int64_t>& size, const Values<double>& start_ns,
             nb::handle transport, const nb::dict& parameters, const nb::dict& settings, const std::string& marker,
             const nb::dict& marker_parameters, const std::vector<std::vector<int>>& paths,
             const std::vector<std::vector<int>>& ack_paths, double watch_every_ns,
             const std::vector<std::uint32_t>& watch_flows, const std::vector<std::uint32_t>& watch_ports,
             const std::vector<int>& priority, const std::vector<int>& after, const std::vector<double>& off_ns,
             const Sets& sets, const std::vector<int>& pair, const nb::object& control, std::size_t sketch_buckets,
             std::size_t sketch_counters, double sketch_ostracism, std::uint64_t sketch_one_in, const Changes& changes,
             double convergence_ns, const std::vector<int>& silent, unsigned threads, std::uint64_t least_packets,
             bool keep_rounds) {
  Watch watch{watch_every_ns > 0 ? std::llround(watch_every_ns * ns) : never, watch_flows, watch_ports};
  Settings given = settings_from(settings, marker, marker_parameters);
  given.silent = silent;
  const Wiring wiring = wiring_from(hosts, switches, a, b, gbps, delay_ns);
  Simulation simulation(
      wiring, flows_from(src, dst, size, start_ns, paths, ack_paths, priority, after, off_ns, pair), given,
      [&](const Frame& frame) { return transport_of(transport, parameters, frame, given); },
      events_from(changes, convergence_ns), {threads, least_packets}, sets_from(sets));
  if (keep_rounds) simulation.keep_rounds();
  if (sketch_one_in > 0)
    simulation.count_flows(samples_of(wiring, sketch_one_in, given.seed));
  else if (sketch_buckets > 0 || sketch_counters > 0)
    simulation.count_flows(std::vector<FlowCounter>(static_cast<std::size_t>(switches),
                                                    ElasticSketch(sketch_buckets, sketch_counters, sketch_ostracism)));
  if (!control.is_none() && is_agents(transport))
    throw std::invalid_argument("agents steer flows: leave the tuner out");
  const Controller controller =
      is_agents(transport) ? controller_of_agents(simulation) : controller_of(control, wiring, transport, given);
  {
    const nb::gil_scoped_release release;
    simulation.run(
        [] {
          const nb::gil_scoped_acquire gil;
          return PyErr_CheckSignals() == 0;
        },
        watch, controller);
  }
  if (PyErr_Occurred()) throw nb::python_error();
  if (is_agents(transport)) end_agents(simulation);
  return record_of(simulation, wiring, watch);
}

// Links are by number, −1 is none.
nb::object fluids(const nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& links,
                  const Values<double>& start_ns, const Values<double>& bits, const Values<double>& gbps,
                  double horizon_ns, int sharing) {
  require_equal({links.shape(0), start_ns.shape(0), bits.shape(0)}, "fluids");
  require_range("sharing", sharing, 0, static_cast<int>(Sharing::srpt_hosts));
  std::vector<Fluid> flows;
  for (std::size_t i = 0; i < links.shape(0); ++i) {
    Fluid& flow = flows.emplace_back(Fluid{{}, start_ns.data()[i], bits.data()[i]});
    for (std::size_t hop = 0; hop < links.shape(1); ++hop) {
      const std::int32_t link = links.data()[i * links.shape(1) + hop];
      if (link >= static_cast<std::int32_t>(gbps.shape(0))) throw std::invalid_argument("fluids: no such link");
      if (link >= 0) flow.links.push_back(static_cast<std::uint32_t>(link));
    }
    if (flow.links.empty()) throw std::invalid_argument("fluids: each needs a link");
    if (i > 0 && flow.start < start_ns.data()[i - 1]) throw std::invalid_argument("fluids must rise by their starts");
  }
  const std::vector<double> rates(gbps.data(), gbps.data() + gbps.shape(0));
  std::vector<double> ends;
  {
    const nb::gil_scoped_release release;
    ends = fluid_ends(flows, rates, horizon_ns, static_cast<Sharing>(sharing));
  }
  return to_numpy(std::move(ends));
}

// What a sender of NSCC makes of ACKs and, where `trimmed` is not 0, of trimmed packets, one after the other: its
// window in bytes, mean delay and base RTT in ns.
nb::dict nscc_windows(const nb::dict& parameters, double gbps, double base_rtt_ns, int payload, int overhead,
                      bool trims, const Values<double>& now_ns, const Values<std::int64_t>& bytes,
                      const Values<std::int64_t>& under_way, const Values<std::uint8_t>& marked,
                      const Values<double>& rtt_ns, const Values<std::uint8_t>& trimmed) {
  require_equal(
      {now_ns.shape(0), bytes.shape(0), under_way.shape(0), marked.shape(0), rtt_ns.shape(0), trimmed.shape(0)},
      "acks");
  Frame frame;
  frame.base_rtt = std::llround(base_rtt_ns * ns);
  frame.payload = payload;
  frame.frame_bytes = payload + overhead;
  frame.trims = trims;
  const auto made = transport_of(nb::str("uet"), parameters, frame, {});
  auto& uet = dynamic_cast<Uet&>(*made);
  uet.reserve(1);
  fabric::Flow flow;
  flow.line_gbps = gbps;
  uet.start(0, flow);
  std::vector<double> window, mean, base;
  for (std::size_t i = 0; i < now_ns.shape(0); ++i) {
    const Time now = std::llround(now_ns.data()[i] * ns), rtt = std::llround(rtt_ns.data()[i] * ns);
    const std::int64_t size = bytes.data()[i], left = under_way.data()[i];
    if (trimmed.data()[i] > 2)
      uet.on_timeout(0, size);
    else if (trimmed.data()[i] > 0)
      uet.on_trim(0, flow, size, rtt, trimmed.data()[i] > 1, left, now);
    else
      uet.on_wire_ack(0, flow, {now, size, left, marked.data()[i] != 0, rtt});
    window.push_back(static_cast<double>(uet.window(0)));
    mean.push_back(static_cast<double>(uet.mean_delay(0)) / ns);
    base.push_back(static_cast<double>(uet.base_rtt(0)) / ns);
  }
  nb::dict out;
  out["window_bytes"] = to_numpy(std::move(window));
  out["mean_delay_ns"] = to_numpy(std::move(mean));
  out["base_rtt_ns"] = to_numpy(std::move(base));
  return out;
}

// Entropies that a law chooses: packets (echo below 0) and answers to them, of 0 to 3 as Echo has it, one after the
// other; `sent_ns` below 0 and `delay` below 0: not known; a form that is not a number: nor is it.
std::vector<int> ways_chosen(nb::handle policy, int entropies, std::uint64_t key, double base_rtt_ns,
                             const Values<std::int32_t>& echo, const Values<std::int32_t>& entropy,
                             const Values<double>& now_ns, const Values<double>& sent_ns, const Values<double>& delay,
                             const std::vector<std::vector<double>>& forms) {
  require_equal({echo.shape(0), entropy.shape(0), now_ns.shape(0), sent_ns.shape(0), delay.shape(0), forms.size()},
                "events");
  KnownWays ways(std::get<PathLaw>(policy_of(policy)), Entropies(entropies, key), std::llround(base_rtt_ns * ns));
  std::vector<int> chosen;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Time now = std::llround(now_ns.data()[i] * ns);
    if (echo.data()[i] < 0) {
      chosen.push_back(ways.next(now));
      continue;
    }
    WayNews news;
    if (sent_ns.data()[i] >= 0) news.sent = std::llround(sent_ns.data()[i] * ns);
    news.delay = delay.data()[i];
    for (std::size_t k = 0; k < forms[i].size(); ++k) {
      news.forms.at(k) = forms[i][k];
      news.known |= static_cast<std::uint32_t>(!std::isnan(forms[i][k])) << k;
    }
    ways.hear(static_cast<std::uint8_t>(entropy.data()[i]), static_cast<Echo>(echo.data()[i]), news, now);
  }
  return chosen;
}

// What a law makes of answers, one after the other: its trims and marked_ways after each.
nb::tuple answer_shares(const Values<std::uint8_t>& entropy, const Values<std::uint8_t>& nack,
                        const Values<std::uint8_t>& marked, const Values<double>& now_ns, double span_ns) {
  require_equal({entropy.shape(0), nack.shape(0), marked.shape(0), now_ns.shape(0)}, "answers");
  Answers answers;
  std::vector<double> trimmed, ways;
  for (std::size_t i = 0; i < entropy.shape(0); ++i) {
    answers.add(entropy.data()[i], nack.data()[i] != 0, marked.data()[i] != 0 ? Echo::marked : Echo::good,
                std::llround(now_ns.data()[i] * ns), std::llround(span_ns * ns));
    trimmed.push_back(answers.share(trims));
    ways.push_back(answers.share(marked_ways));
  }
  return nb::make_tuple(to_numpy(std::move(trimmed)), to_numpy(std::move(ways)));
}

}  // namespace

void bind_fabric(nb::module_& m) {
  bind_fabric_agents(m);
  m.def("transport_parameters", &transport_parameters);
  m.def("run_fabric", &run, "hosts"_a, "switches"_a, "a"_a, "b"_a, "gbps"_a, "delay_ns"_a, "src"_a, "dst"_a,
        "size_bytes"_a, "start_ns"_a, "transport"_a, "parameters"_a, "settings"_a, "marker"_a, "marker_parameters"_a,
        "paths"_a, "ack_paths"_a, "watch_every_ns"_a = 0.0, "watch_flows"_a = std::vector<std::uint32_t>{},
        "watch_ports"_a = std::vector<std::uint32_t>{}, "priority"_a = std::vector<int>{},
        "after"_a = std::vector<int>{}, "off_ns"_a = std::vector<double>{}, "sets"_a = Sets{},
        "pair"_a = std::vector<int>{}, "control"_a = nb::none(), "sketch_buckets"_a = 0, "sketch_counters"_a = 0,
        "sketch_ostracism"_a = 8.0, "sketch_one_in"_a = 0, "changes"_a = Changes{}, "convergence_ns"_a = 0.0,
        "silent"_a = std::vector<int>{}, "threads"_a = 1, "least_packets"_a = Threads().least_packets,
        "keep_rounds"_a = false, "Run flows over a fabric; see lcca.remy_plus.fabric.");
  m.def(
      "fluid_ends", &fluids, "links"_a, "start_ns"_a, "bits"_a, "gbps"_a, "horizon_ns"_a, "sharing"_a = 0,
      "When fluids have been sent that share links as the number says (remy_plus::fabric::Sharing), ns; infinite where "
      "that is after the horizon.");
  m.def("nscc_windows", &nscc_windows, "parameters"_a, "gbps"_a, "base_rtt_ns"_a, "payload"_a, "overhead"_a, "trims"_a,
        "now_ns"_a, "bytes"_a, "under_way"_a, "marked"_a, "rtt_ns"_a, "trimmed"_a,
        "Windows of a sender of NSCC after each of these ACKs (rtt_ns below 0: not known) and trimmed packets (trimmed "
        "1, "
        "at the last hop 2; rtt_ns since it was sent).");
  m.def("answer_shares", &answer_shares, "entropy"_a, "nack"_a, "marked"_a, "now_ns"_a, "span_ns"_a,
        "Signals trims and marked_ways of a sender after each of these answers to packets.");
  m.def(
      "ways_chosen", &ways_chosen, "policy"_a, "entropies"_a, "key"_a, "base_rtt_ns"_a, "echo"_a, "entropy"_a,
      "now_ns"_a, "sent_ns"_a, "delay"_a, "forms"_a,
      "Entropies that a law of ways chooses: packets (echo below 0) and answers (0 to 3: good, marked, trimmed, timed "
      "out), one after the other.");
  m.attr("AS_BUILT") = as_built;
  m.attr("FABRIC_MOST_PORTS") = most_ports;
  m.attr("FABRIC_MOST_PORTS_OF_NODE") = most_ports_of_node;
  m.attr("FABRIC_MOST_TELEMETRY_BYTES") = most_telemetry;
  m.attr("FABRIC_SENT_TIME_BYTES") = telemetry_bytes(Telemetry::header);
  m.def(
      "fabric_telemetry_bytes",
      [](nb::handle transport, const nb::dict& parameters) {
        return sent_telemetry(*transport_of(transport, parameters, {}, {}));
      },
      "transport"_a, "parameters"_a, "Bytes that a transport's data packets have beyond payload and overhead.");
  m.def(
      "require_fabric_marker",
      [](const std::string& kind, const nb::dict& parameters) {
        std::visit([](const auto& each) { each.require(); }, marker_from(kind, parameters));
      },
      "kind"_a, "parameters"_a, "Raise ValueError as `parameter: what it must be` where a marker cannot be.");
}

}  // namespace remy_plus::bindings
