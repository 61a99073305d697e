#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "named.hpp"
#include "parts.hpp"
#include "remy_plus/fabric/homa/homa.hpp"
#include "remy_plus/fabric/transport/by_law.hpp"
#include "remy_plus/fabric/transport/dcqcn.hpp"
#include "remy_plus/fabric/transport/dctcp.hpp"
#include "remy_plus/fabric/transport/dctcp_window.hpp"
#include "remy_plus/fabric/transport/fixed.hpp"
#include "remy_plus/fabric/transport/hpcc.hpp"
#include "remy_plus/fabric/transport/learnt.hpp"
#include "remy_plus/fabric/transport/mixed.hpp"
#include "remy_plus/fabric/transport/rcp.hpp"
#include "remy_plus/fabric/transport/swift.hpp"
#include "remy_plus/fabric/transport/theta.hpp"
#include "remy_plus/fabric/transport/timely.hpp"
#include "remy_plus/fabric/transport/uet.hpp"

namespace remy_plus::bindings {

using namespace fabric;

const Policy& policy_of(nb::handle handle);
std::shared_ptr<const Stamping> header_of(nb::handle handle);

namespace {

double bdps_from(Named& named) {
  double bdps = 1;
  named.take("bdps", bdps);
  return bdps;
}

double first_from(Named& named) {
  double first = 0;
  named.take("first", first);
  return first;
}

DctcpParameters dctcp_from(Named& named) {
  DctcpParameters p;
  named.take("g", p.g);
  named.take("increase_gbps", p.increase_gbps);
  return p;
}

DcqcnParameters dcqcn_from(Named& named) {
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
  named.take("alpha_divisor", p.alpha_divisor);
  named.take("first_gbps", p.first_gbps);
  named.take("increase_bytes", p.increase_bytes);
  named.take("notification_gap_us", p.notification_gap, us);
  named.take("gap_per_flow_us", p.gap_per_flow, us);
  named.take("marks_within_us", p.marks_within, us);
  return p;
}

TimelyParameters timely_from(Named& named) {
  TimelyParameters p;
  named.take("weight", p.weight);
  named.take("beta", p.beta);
  named.take("low_us", p.low_us);
  named.take("high_us", p.high_us);
  named.take("min_rtt_us", p.min_rtt_us);
  named.take("increase_gbps", p.increase_gbps);
  named.take("hyper_gbps", p.hyper_gbps);
  named.take("hyper_after", p.hyper_after);
  return p;
}

HpccParameters hpcc_from(Named& named) {
  HpccParameters p;
  named.take("eta", p.eta);
  named.take("most_stages", p.most_stages);
  named.take("increase_gbps", p.increase_gbps);
  return p;
}

ThetaParameters theta_powertcp_from(Named& named) {
  ThetaParameters p;
  named.take("gamma", p.gamma);
  named.take("increase_gbps", p.increase_gbps);
  named.take("rtt_slack", p.rtt_slack);
  return p;
}

DctcpWindowParameters dctcp_window_from(Named& named) {
  DctcpWindowParameters p;
  named.take("g", p.g);
  named.take("initial", p.initial);
  named.take("increase", p.increase);
  return p;
}

SwiftParameters swift_from(Named& named) {
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
  named.take("reset_after", p.reset_after);
  return p;
}

PowerParameters powertcp_from(Named& named) {
  PowerParameters p;
  named.take("gamma", p.gamma);
  named.take("eta", p.eta);
  named.take("increase_gbps", p.increase_gbps);
  return p;
}

HomaParameters homa_from(Named& named) {
  HomaParameters p;
  named.take("rtt_bytes", p.rtt_bytes);
  named.take("rtt_bdps", p.rtt_bdps);
  named.take("unscheduled_share", p.unscheduled_share);
  named.take("unscheduled_levels", p.unscheduled_levels);
  named.take("overcommitment", p.overcommitment);
  named.take("grant_bytes", p.grant_bytes);
  return p;
}

UetParameters uet_from(Named& named) {
  UetParameters p;
  named.take("window", p.window);
  named.take("first_bdps", p.first_bdps);
  named.take("most_bdps", p.most_bdps);
  named.take("target_rtts", p.target_rtts);
  named.take("proportional", p.proportional);
  named.take("fair", p.fair);
  named.take("steady", p.steady);
  named.take("fast", p.fast);
  named.take("fast_us", p.fast_us);
  named.take("gamma", p.gamma);
  named.take("most_decrease", p.most_decrease);
  named.take("weight", p.weight);
  named.take("adjust_packets", p.adjust_packets);
  named.take("quick_rtts", p.quick_rtts);
  named.take("quick_share", p.quick_share);
  named.take("credit", p.credit);
  named.take("quantum_bytes", p.quantum_bytes);
  named.take("grant_quanta", p.grant_quanta);
  named.take("credit_rate", p.credit_rate);
  named.take("asks", p.asks);
  named.take("pulls", p.pulls);
  named.take("timeout_us", p.timeout_us);
  named.take("timeout_drains", p.timeout_drains);
  return p;
}

using Make = std::unique_ptr<Transport> (*)(Named&, const Frame&);

template <class Made, auto parameters_from>
std::unique_ptr<Transport> make(Named& named, const Frame& frame) {
  return std::make_unique<Made>(frame, parameters_from(named));
}

const std::map<std::string, Make> kinds = {
    {"window", make<fabric::FixedWindow, bdps_from>},
    {"dctcp", make<Dctcp, dctcp_from>},
    {"dcqcn", make<Dcqcn, dcqcn_from>},
    {"timely", make<Timely, timely_from>},
    {"hpcc", make<Hpcc, hpcc_from>},
    {"theta-powertcp", make<ThetaPower, theta_powertcp_from>},
    {"dctcp-window", make<DctcpWindow, dctcp_window_from>},
    {"rcp", make<fabric::Rcp, first_from>},
    {"swift", make<Swift, swift_from>},
    {"uet", make<Uet, uet_from>},
    {"powertcp", make<PowerTcp, powertcp_from>},
    {"homa", make<fabric::Homa, homa_from>},
};

std::unique_ptr<Transport> transport_from(const std::string& kind, const nb::dict& values, Frame frame) {
  const auto found = kinds.find(kind);
  if (found == kinds.end()) throw std::invalid_argument("transport " + kind + " is not known");
  Named named(values, "transport " + kind);
  named.take("min_gbps", frame.min_gbps);
  named.take("loss_factor", frame.loss_factor);
  std::unique_ptr<Transport> made = found->second(named, frame);
  named.end();
  return made;
}

}  // namespace

std::unique_ptr<Transport> transport_of(nb::handle transport, const nb::dict& parameters, const Frame& frame,
                                        const Settings& settings) {
  if (nb::isinstance<nb::str>(transport)) return transport_from(nb::cast<std::string>(transport), parameters, frame);
  if (nb::isinstance<nb::tuple>(transport)) {  // two of (transport, parameters), and which hosts have the first
    const auto both = nb::cast<nb::tuple>(transport);
    const auto part = [&](std::size_t i) {
      const auto own = nb::cast<nb::tuple>(both[i]);
      return transport_of(own[0], nb::cast<nb::dict>(own[1]), frame, settings);
    };
    return std::make_unique<Mixed>(frame, part(0), part(1), nb::cast<std::vector<std::uint8_t>>(both[2]));
  }
  if (is_agents(transport)) return agents_of(transport, parameters, frame, settings);
  bool looks_at_hops = false;
  std::uint32_t keep_every = 0;
  Named named(parameters, "policy");
  named.take("looks_at_hops", looks_at_hops);
  named.take("keep_every", keep_every);
  named.end();
  const Policy& policy = policy_of(transport);
  const int frame_bytes = settings.payload + settings.overhead;
  if (const auto* law = std::get_if<FabricLaw>(&policy))
    return std::make_unique<ByLaw>(frame, *law, frame_bytes, looks_at_hops, header_of(transport));
  return std::make_unique<Learnt>(frame, policy, frame_bytes, looks_at_hops, header_of(transport), keep_every);
}

}  // namespace remy_plus::bindings
