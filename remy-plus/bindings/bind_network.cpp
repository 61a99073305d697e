#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "model_state.hpp"
#include "remy_plus/aqm/markers.hpp"
#include "remy_plus/core/network.hpp"
#include "remy_plus/core/random.hpp"
#include "remy_plus/policies/mixture.hpp"
#include "remy_plus/workload/plan.hpp"
#include "workload_state.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

nb::dict plan(const Network& network, std::uint64_t seed, double duration) {
  const std::vector<PlannedFlow> flows = planned_flows(network, seed, duration);
  nb::dict out;
  out["sender"] = column<std::int64_t>(flows, [](const PlannedFlow& f) { return f.sender; });
  out["pause_us"] = column<double>(flows, [](const PlannedFlow& f) { return f.pause; });
  out["start_us"] = column<double>(flows, [](const PlannedFlow& f) { return f.start; });
  out["end_us"] = column<double>(flows, [](const PlannedFlow& f) { return f.end; });
  out["length"] = column<std::int64_t>(flows, [](const PlannedFlow& f) { return f.length; });
  return out;
}

}  // namespace

void bind_network(nb::module_& m) {
  nb::class_<Network>(m, "Network", "One bottleneck and its workload (packets, µs).")
      .def(
          "__init__",
          [](Network* self, std::uint64_t id, double link_rate, double rtt, int senders, double buffer, double loss,
             const nb::tuple& workload, const std::optional<Layout>& layout, double jitter) {
            const Network network{id,
                                  link_rate,
                                  rtt,
                                  senders,
                                  buffer,
                                  loss,
                                  workload_from(workload),
                                  layout ? std::make_shared<const Layout>(*layout) : nullptr,
                                  jitter};
            validate(network);
            new (self) Network(network);
          },
          "id"_a, "link_rate"_a, "rtt"_a, "senders"_a, "buffer"_a, "loss"_a, "workload"_a, "layout"_a = nb::none(),
          "jitter"_a = 0.0, "`workload`: its name and numbers; see lcca.remy_plus.network.compile_workload.")
      .def_ro("id", &Network::id)
      .def_ro("senders", &Network::senders);
  m.def("planned_flows", &plan, "network"_a, "seed"_a, "duration"_a,
        "The flows that a trial's senders have in store; see lcca.remy_plus.engine.");
  m.def("model_defaults", &model_defaults, "Options of the network model by name; see lcca.remy_plus.engine.Model.");
  m.def("dctcp_threshold", &dctcp_threshold, "link_rate"_a, "rtt"_a, "DCTCP's marking threshold K, packets.");
  m.attr("DCTCP_LAMBDA") = dctcp_lambda;
  m.def(
      "uniforms",
      [](std::uint64_t seed, std::uint64_t network, std::uint64_t component, std::uint64_t sender, std::uint64_t flow,
         std::size_t count) {
        Stream stream(seed, network, static_cast<Component>(component), sender, flow);
        std::vector<double> values(count);
        for (double& value : values) value = stream.uniform();
        return values;
      },
      "seed"_a, "network"_a, "component"_a, "sender"_a, "flow"_a, "count"_a,
      "The first draws on (0, 1] of one random stream.");
  m.def(
      "chosen",
      [](std::uint64_t seed, std::uint64_t network, const std::string& what, std::size_t first, std::size_t last,
         double share) {
        if (what != "adoption" && what != "deployment") throw std::invalid_argument("unknown choice " + what);
        const Component component = what == "adoption" ? Component::adoption : Component::deployment;
        return to_numpy(chosen(seed, network, component, first, last, share));
      },
      "seed"_a, "network"_a, "what"_a, "first"_a, "last"_a, "share"_a,
      "Of those from `first` to before `last`, whether each is of a share (1) or not: of senders that adopt a policy "
      "(adoption), or of links and switches that write into headers (deployment).");
  m.def("portable_log", &portable_log, "x"_a, "Natural logarithm by basic arithmetic alone, for x in (0, 1].");
}

}  // namespace remy_plus::bindings
