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

struct Kind {
  std::unique_ptr<Transport> (*make)(Named&, const Frame&);
  void (*read)(Named&);
};

template <class Made, class By>
constexpr Kind kind{[](Named& named, const Frame& frame) -> std::unique_ptr<Transport> {
                      return std::make_unique<Made>(frame, By(named));
                    },
                    [](Named& named) { (void)By(named); }};

const std::map<std::string, Kind> kinds = {
    {"window", kind<fabric::FixedWindow, FixedParameters>},
    {"dctcp", kind<Dctcp, DctcpParameters>},
    {"dcqcn", kind<Dcqcn, DcqcnParameters>},
    {"timely", kind<Timely, TimelyParameters>},
    {"hpcc", kind<Hpcc, HpccParameters>},
    {"theta-powertcp", kind<ThetaPower, ThetaParameters>},
    {"dctcp-window", kind<DctcpWindow, DctcpWindowParameters>},
    {"rcp", kind<fabric::Rcp, RcpParameters>},
    {"swift", kind<Swift, SwiftParameters>},
    {"uet", kind<Uet, UetParameters>},
    {"powertcp", kind<PowerTcp, PowerParameters>},
    {"homa", kind<fabric::Homa, HomaParameters>},
};

std::unique_ptr<Transport> transport_from(const std::string& kind, const nb::dict& values, Frame frame) {
  const auto found = kinds.find(kind);
  if (found == kinds.end()) throw std::invalid_argument("transport " + kind + " is not known");
  Named named(values, "transport " + kind);
  named.take("min_gbps", frame.min_gbps);
  named.take("loss_factor", frame.loss_factor);
  std::unique_ptr<Transport> made = found->second.make(named, frame);
  named.end();
  return made;
}

}  // namespace

nb::dict transport_parameters() {
  nb::dict all;
  for (const auto& [name, kind] : kinds) {
    Named named({}, "transport " + name);
    kind.read(named);
    nb::dict of_kind;
    for (const auto& [parameter, usual] : named.usual()) of_kind[parameter.c_str()] = usual;
    all[name.c_str()] = of_kind;
  }
  return all;
}

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
  const Policy& policy = policy_of(transport);
  if (const auto* law = std::get_if<PathLaw>(&policy)) {
    std::unique_ptr<Transport> made = transport_from(law->transport, parameters, frame);
    made->choose_by(std::make_shared<const PathChoice>(*law, header_of(transport)));
    return made;
  }
  bool looks_at_hops = false;
  std::uint32_t keep_every = 0;
  Named named(parameters, "policy");
  named.take("looks_at_hops", looks_at_hops);
  named.take("keep_every", keep_every);
  named.end();
  const int frame_bytes = settings.payload + settings.overhead;
  if (const auto* law = std::get_if<FabricLaw>(&policy))
    return std::make_unique<ByLaw>(frame, *law, frame_bytes, looks_at_hops, header_of(transport));
  return std::make_unique<Learnt>(frame, policy, frame_bytes, looks_at_hops, header_of(transport), keep_every);
}

}  // namespace remy_plus::bindings
