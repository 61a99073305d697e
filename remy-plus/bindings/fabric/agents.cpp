#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../arrays.hpp"
#include "../stamping_state.hpp"
#include "named.hpp"
#include "parts.hpp"
#include "remy_plus/steered/fabric_agents.hpp"

namespace remy_plus::bindings {

using namespace nb::literals;

namespace {

using Numbers = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct AgentsHandle {
  FabricAgentsRules rules;
  nb::object others;  // their transport
  nb::object decide;
};

AgentsHandle agents(const nb::object& others, const Agent& agent, const Reward& reward, const nb::object& decide,
                    std::uint32_t slots, double patience_us, const std::vector<std::uint32_t>& flows,
                    bool looks_at_hops, const nb::object& header) {
  FabricAgentsRules rules{agent, reward, std::llround(patience_us * us), slots, flows, looks_at_hops};
  if (!header.is_none()) rules.header = std::make_shared<const Stamping>(stamping_from(nb::cast<nb::dict>(header)));
  return {std::move(rules), others, decide};
}

FabricAgents::Decide asks(const nb::object& decide) {
  return [decide = decide.ptr()](const FabricRows& rows) {
    const nb::gil_scoped_acquire gil;
    const std::size_t n = rows.slot.size();
    nb::dict given;
    given["slot"] = to_numpy(std::vector(rows.slot));
    given["flow"] = to_numpy(std::vector(rows.flow));
    given["ended"] = column<std::uint8_t>(rows.ending, [](Ending ending) { return static_cast<std::uint8_t>(ending); });
    given["view"] = to_numpy(std::vector(rows.view), {n, rows.view.size() / n});
    given["reward"] = to_numpy(std::vector(rows.reward));
    given["elapsed_us"] = to_numpy(std::vector(rows.elapsed));
    given["now_us"] = to_numpy(std::vector(rows.now));
    given["ideal_us"] = to_numpy(std::vector(rows.ideal));
    const auto said = nb::cast<Numbers>(nb::handle(decide)(given));
    return std::vector<float>(said.data(), said.data() + said.size());
  };
}

}  // namespace

bool is_agents(nb::handle transport) { return nb::isinstance<AgentsHandle>(transport); }

std::unique_ptr<fabric::Transport> agents_of(nb::handle transport, const nb::dict& parameters,
                                             const fabric::Frame& frame, const fabric::Settings& settings) {
  const AgentsHandle& handle = nb::cast<const AgentsHandle&>(transport);
  return std::make_unique<FabricAgents>(frame, handle.rules, settings.payload + settings.overhead,
                                        transport_of(handle.others, parameters, frame, settings), asks(handle.decide));
}

fabric::Controller controller_of_agents(fabric::Simulation& run) {
  auto& agents = dynamic_cast<FabricAgents&>(run.transport());
  if (agents.patience() == 0) return {};
  return {agents.patience(), [&agents](fabric::Simulation&, fabric::Time now) {
            agents.look(now);
            return now + agents.patience();
          }};
}

void end_agents(fabric::Simulation& run) { dynamic_cast<FabricAgents&>(run.transport()).finish(run.now()); }

void bind_fabric_agents(nb::module_& m) {
  nb::class_<AgentsHandle>(m, "FabricAgents", "Flows that an agent steers beside others; see lcca.gym_envs.fabric.")
      .def(nb::new_(&agents), "others"_a, nb::kw_only(), "agent"_a, "reward"_a, "decide"_a, "slots"_a, "patience_us"_a,
           "flows"_a, "looks_at_hops"_a, "header"_a = nb::none());
}

}  // namespace remy_plus::bindings
