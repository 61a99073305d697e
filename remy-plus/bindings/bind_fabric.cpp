#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "remy_plus/fabric/simulation.hpp"
#include "remy_plus/fabric/transport/dcqcn.hpp"
#include "remy_plus/fabric/transport/dctcp.hpp"
#include "remy_plus/fabric/transport/dctcp_window.hpp"
#include "remy_plus/fabric/transport/fixed.hpp"
#include "remy_plus/fabric/transport/hpcc.hpp"
#include "remy_plus/fabric/transport/learnt.hpp"
#include "remy_plus/fabric/transport/rcp.hpp"
#include "remy_plus/fabric/transport/swift.hpp"
#include "remy_plus/fabric/transport/theta.hpp"
#include "remy_plus/fabric/transport/timely.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

const Policy& policy_of(nb::handle handle);

namespace {

using namespace fabric;

template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = std::map<std::string, double>;

// Numbers by name, each used once: what is left over is a mistake.
class Named {
 public:
  Named(const nb::dict& values, std::string what) : what_(std::move(what)) {
    for (const auto [key, value] : values) {
      const auto name = nb::cast<std::string>(key);
      const double number = values_[name] = nb::cast<double>(value);
      if (std::isnan(number)) throw std::invalid_argument(what_ + ": " + name + " is not a number");
    }
  }

  template <class T>
  void take(const char* name, T& into, double unit = 1) {
    const auto found = values_.find(name);
    if (found == values_.end()) return;
    const double value = found->second * unit;
    if constexpr (std::is_same_v<T, bool>)
      into = value != 0;
    else if constexpr (std::is_integral_v<T>)
      into = whole<T>(name, value);
    else
      into = value;
    values_.erase(found);
  }

  void end() const {
    if (!values_.empty()) throw std::invalid_argument(what_ + ": " + values_.begin()->first + " is not known");
  }

 private:
  template <class T>
  T whole(const std::string& name, double value) const {
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    if (value < least || (value > most && !std::isinf(value)))
      throw std::invalid_argument(what_ + ": " + name + " is out of range");
    return value >= most ? std::numeric_limits<T>::max() : static_cast<T>(std::round(value));
  }

  std::string what_;
  Numbers values_;
};

constexpr double ns = nanosecond, us = microsecond;

Settings settings_from(const nb::dict& values) {
  Settings s;
  Named named(values, "settings");
  named.take("payload_bytes", s.payload);
  named.take("overhead_bytes", s.overhead);
  named.take("ack_bytes", s.ack_bytes);
  named.take("pfc_bytes", s.pfc_bytes);
  named.take("whole_ns", s.whole_ns);
  named.take("lossless", s.lossless);
  named.take("buffer_bytes", s.buffer);
  named.take("alpha", s.alpha);
  named.take("alpha_by_rate", s.alpha_by_rate);
  named.take("resume_below_bytes", s.resume_below);
  named.take("resume_offset_bytes", s.resume_offset);
  named.take("headroom_delays", s.headroom_delays);
  named.take("mark_at_dequeue", s.mark_at_dequeue);
  named.take("mark_min_bytes", s.mark_min);
  named.take("mark_max_bytes", s.mark_max);
  named.take("mark_most", s.mark_most);
  named.take("queue_quantum_bytes", s.queue_quantum);
  named.take("bytes_quantum_bytes", s.bytes_quantum);
  named.take("arrival_bytes", s.arrival_bytes);
  named.take("fct_at_ack", s.fct_at_ack);
  named.take("plain_ideal", s.plain_ideal);
  named.take("retransmit_after_us", s.retransmit_after, us);
  named.take("nack_gap_us", s.nack_gap, us);
  named.take("seed", s.seed);
  named.take("horizon_ns", s.horizon, ns);
  named.end();
  return s;
}

std::unique_ptr<Transport> transport_from(const std::string& kind, const nb::dict& values, Frame frame) {
  Named named(values, "transport " + kind);
  named.take("min_gbps", frame.min_gbps);
  std::unique_ptr<Transport> made;
  if (kind == "window") {
    double bdps = 1;
    named.take("bdps", bdps);
    made = std::make_unique<fabric::FixedWindow>(frame, bdps);
  } else if (kind == "dctcp") {
    DctcpParameters p;
    named.take("g", p.g);
    named.take("increase_gbps", p.increase_gbps);
    made = std::make_unique<Dctcp>(frame, p);
  } else if (kind == "dcqcn") {
    DcqcnParameters p;
    named.take("g", p.g);
    named.take("alpha_us", p.alpha_every, us);
    named.take("decrease_us", p.decrease_every, us);
    named.take("increase_us", p.increase_every, us);
    named.take("fast_recovery", p.fast_recovery);
    named.take("increase_gbps", p.increase_gbps);
    named.take("hyper_gbps", p.hyper_gbps);
    named.take("max_gbps", p.max_gbps);
    named.take("clamp_target", p.clamp_target);
    named.take("clamp_after_increase", p.clamp_after_increase);
    named.take("initial_alpha", p.initial_alpha);
    named.take("least_factor", p.least_factor);
    named.take("first_gbps", p.first_gbps);
    named.take("increase_bytes", p.increase_bytes);
    named.take("notification_gap_us", p.notification_gap, us);
    made = std::make_unique<Dcqcn>(frame, p);
  } else if (kind == "timely") {
    TimelyParameters p;
    named.take("weight", p.weight);
    named.take("beta", p.beta);
    named.take("low_us", p.low_us);
    named.take("high_us", p.high_us);
    named.take("min_rtt_us", p.min_rtt_us);
    named.take("increase_gbps", p.increase_gbps);
    named.take("hyper_gbps", p.hyper_gbps);
    named.take("hyper_after", p.hyper_after);
    made = std::make_unique<Timely>(frame, p);
  } else if (kind == "hpcc") {
    HpccParameters p;
    named.take("eta", p.eta);
    named.take("most_stages", p.most_stages);
    named.take("increase_gbps", p.increase_gbps);
    made = std::make_unique<Hpcc>(frame, p);
  } else if (kind == "theta-powertcp") {
    ThetaParameters p;
    named.take("gamma", p.gamma);
    named.take("increase_gbps", p.increase_gbps);
    named.take("rtt_slack", p.rtt_slack);
    made = std::make_unique<ThetaPower>(frame, p);
  } else if (kind == "dctcp-window") {
    DctcpWindowParameters p;
    named.take("g", p.g);
    named.take("initial", p.initial);
    named.take("increase", p.increase);
    made = std::make_unique<DctcpWindow>(frame, p);
  } else if (kind == "rcp") {
    made = std::make_unique<fabric::Rcp>(frame);
  } else if (kind == "swift") {
    SwiftParameters p;
    named.take("base_us", p.base_us);
    named.take("base_rtts", p.base_rtts);
    named.take("hop_us", p.hop_us);
    named.take("range", p.range);
    named.take("least", p.least);
    named.take("most", p.most);
    named.take("increase", p.increase);
    named.take("beta", p.beta);
    named.take("most_decrease", p.most_decrease);
    made = std::make_unique<Swift>(frame, p);
  } else if (kind == "powertcp") {
    PowerParameters p;
    named.take("gamma", p.gamma);
    named.take("eta", p.eta);
    named.take("increase_gbps", p.increase_gbps);
    made = std::make_unique<PowerTcp>(frame, p);
  } else {
    throw std::invalid_argument("transport " + kind + " is not known");
  }
  named.end();
  return made;
}

// By name, or a compiled policy, which is told whether it looks at hops.
std::unique_ptr<Transport> transport_of(nb::handle transport, const nb::dict& parameters, const Frame& frame,
                                        const Settings& settings) {
  if (nb::isinstance<nb::str>(transport)) return transport_from(nb::cast<std::string>(transport), parameters, frame);
  bool looks_at_hops = false;
  Named named(parameters, "policy");
  named.take("looks_at_hops", looks_at_hops);
  named.end();
  return std::make_unique<Learnt>(frame, policy_of(transport), settings.payload + settings.overhead, looks_at_hops);
}

void require_equal(std::initializer_list<std::size_t> lengths, const char* what) {
  if (std::any_of(lengths.begin(), lengths.end(), [&](std::size_t each) { return each != *lengths.begin(); }))
    throw std::invalid_argument(std::string(what) + ": arrays must be equally long");
}

Wiring wiring_from(int hosts, int switches, const Values<std::int32_t>& a, const Values<std::int32_t>& b,
                   const Values<double>& gbps, const Values<double>& delay_ns) {
  require_equal({a.shape(0), b.shape(0), gbps.shape(0), delay_ns.shape(0)}, "links");
  std::vector<Link> links;
  for (std::size_t i = 0; i < a.shape(0); ++i)
    links.push_back({a.data()[i], b.data()[i], gbps.data()[i], delay_ns.data()[i]});
  return Wiring(hosts, switches, links);
}

std::vector<FlowStart> flows_from(const Values<std::int32_t>& src, const Values<std::int32_t>& dst,
                                  const Values<std::int64_t>& size, const Values<double>& start_ns,
                                  const std::vector<std::vector<int>>& switches,
                                  const std::vector<std::vector<int>>& ack_switches) {
  require_equal(
      {src.shape(0), dst.shape(0), size.shape(0), start_ns.shape(0), switches.empty() ? src.shape(0) : switches.size(),
       ack_switches.empty() ? src.shape(0) : ack_switches.size()},
      "flows");
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
    flows.push_back(std::move(flow));
  }
  return flows;
}

void add_flows(nb::dict& out, const Simulation& run) {
  std::vector<double> fct, ideal, delivered;
  for (std::uint32_t i = 0; i < run.flows().size(); ++i) {
    const fabric::Flow& flow = run.flows()[i];
    fct.push_back(flow.ended == never ? std::numeric_limits<double>::quiet_NaN()
                                      : static_cast<double>(flow.ended - flow.start) / ns);
    ideal.push_back(static_cast<double>(run.ideal(i)) / ns);
    delivered.push_back(static_cast<double>(flow.bytes_before(flow.expected)));
  }
  out["flow_fct_ns"] = to_numpy(std::move(fct));
  out["flow_ideal_ns"] = to_numpy(std::move(ideal));
  out["flow_delivered_bytes"] = to_numpy(std::move(delivered));
}

void add_ports(nb::dict& out, const Simulation& run, const Wiring& wiring) {
  const auto add = [&](const char* name, auto get) {
    std::vector<double> values;
    for (int i = 0; i < wiring.ports(); ++i)
      values.push_back(static_cast<double>(get(wiring.end(i), run.ports()[static_cast<std::size_t>(i)])));
    out[name] = to_numpy(std::move(values));
  };
  add("port_node", [](const End& end, const Port&) { return end.node; });
  add("port_peer", [](const End& end, const Port&) { return end.peer; });
  add("port_data_packets", [](const End&, const Port& port) { return port.counts.data_packets; });
  add("port_data_bytes", [](const End&, const Port& port) { return port.counts.data_bytes; });
  add("port_ack_packets", [](const End&, const Port& port) { return port.counts.ack_packets; });
  add("port_marked_packets", [](const End&, const Port& port) { return port.counts.marked_packets; });
  add("port_drops", [](const End&, const Port& port) { return port.counts.drops; });
  add("port_most_queued_bytes", [](const End&, const Port& port) { return port.counts.most_queued; });
  add("port_pauses_sent", [](const End&, const Port& port) { return port.counts.pauses_sent; });
  add("port_pauses_received", [](const End&, const Port& port) { return port.counts.pauses_received; });
  add("port_paused_ns", [&](const End&, const Port& port) {
    return static_cast<double>(port.counts.paused + (port.paused ? run.now() - port.paused_since : 0)) / ns;
  });
  add("port_mean_queued_bytes", [&](const End&, const Port& port) {
    const auto rest =
        static_cast<double>(port.queued) * static_cast<double>(std::max<Time>(run.now() - port.changed, 0));
    return run.now() > 0 ? (port.counts.queue_area + rest) / static_cast<double>(run.now()) : 0.0;
  });
}

void add_samples(nb::dict& out, const Samples& samples, const Watch& watch) {
  std::vector<double> times;
  for (const Time time : samples.times) times.push_back(static_cast<double>(time) / ns);
  const std::size_t count = times.size();
  out["sample_ns"] = to_numpy(std::move(times));
  out["sample_gbps"] = to_numpy(std::vector<double>(samples.gbps), {count, watch.flows.size()});
  out["sample_under_way_bytes"] = to_numpy(std::vector<double>(samples.under_way), {count, watch.flows.size()});
  out["sample_queued_bytes"] = to_numpy(std::vector<double>(samples.queued), {count, watch.ports.size()});
}

nb::dict run(int hosts, int switches, const Values<std::int32_t>& a, const Values<std::int32_t>& b,
             const Values<double>& gbps, const Values<double>& delay_ns, const Values<std::int32_t>& src,
             const Values<std::int32_t>& dst, const Values<std::int64_t>& size, const Values<double>& start_ns,
             nb::handle transport, const nb::dict& parameters, const nb::dict& settings,
             const std::vector<std::vector<int>>& paths, const std::vector<std::vector<int>>& ack_paths,
             double watch_every_ns, const std::vector<std::uint32_t>& watch_flows,
             const std::vector<std::uint32_t>& watch_ports) {
  Watch watch{watch_every_ns > 0 ? std::llround(watch_every_ns * ns) : never, watch_flows, watch_ports};
  const Settings given = settings_from(settings);
  const Wiring wiring = wiring_from(hosts, switches, a, b, gbps, delay_ns);
  Simulation simulation(wiring, flows_from(src, dst, size, start_ns, paths, ack_paths), given,
                        [&](const Frame& frame) { return transport_of(transport, parameters, frame, given); });
  {
    const nb::gil_scoped_release release;
    simulation.run(
        [] {
          const nb::gil_scoped_acquire gil;
          return PyErr_CheckSignals() == 0;
        },
        watch);
  }
  if (PyErr_Occurred()) throw nb::python_error();
  nb::dict out;
  add_flows(out, simulation);
  add_ports(out, simulation, wiring);
  add_samples(out, simulation.samples(), watch);
  out["retransmitted_packets"] = simulation.retransmitted();
  out["end_ns"] = static_cast<double>(simulation.now()) / ns;
  out["base_rtt_ns"] = static_cast<double>(simulation.base_rtt()) / ns;
  return out;
}

}  // namespace

void bind_fabric(nb::module_& m) {
  m.def("run_fabric", &run, "hosts"_a, "switches"_a, "a"_a, "b"_a, "gbps"_a, "delay_ns"_a, "src"_a, "dst"_a,
        "size_bytes"_a, "start_ns"_a, "transport"_a, "parameters"_a, "settings"_a, "paths"_a, "ack_paths"_a,
        "watch_every_ns"_a = 0.0, "watch_flows"_a = std::vector<std::uint32_t>{},
        "watch_ports"_a = std::vector<std::uint32_t>{}, "Run flows over a fabric; see lcca.remy_plus.fabric.");
}

}  // namespace remy_plus::bindings
