// The parts of a fabric's run, made of what Python gives and turned into what it gets.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "markers.hpp"
#include "remy_plus/fabric/simulation.hpp"

namespace remy_plus::bindings {

// By name, or a compiled policy, which is told whether it looks at hops.
std::unique_ptr<fabric::Transport> transport_of(nanobind::handle transport, const nanobind::dict& parameters,
                                                const fabric::Frame& frame, const fabric::Settings& settings);

// Of every transport by name its parameters, with their defaults.
nanobind::dict transport_parameters();

// Transports in which an agent outside steers some flows; one of them is what transport_of() then makes.
void bind_fabric_agents(nanobind::module_& m);
bool is_agents(nanobind::handle transport);
std::unique_ptr<fabric::Transport> agents_of(nanobind::handle transport, const nanobind::dict& parameters,
                                             const fabric::Frame& frame, const fabric::Settings& settings);
// Looks for those that have patience, and what is left when the run is over.
fabric::Controller controller_of_agents(fabric::Simulation& run);
void end_agents(fabric::Simulation& run);

// What a controller sees of a run, counted from its beginning; arrays by name.
nanobind::dict seen_of(const fabric::Simulation& run, const fabric::Wiring& wiring, fabric::Time now);

// What the switches' sketches hold, which then begin anew; arrays by name.
nanobind::dict sketches_of(fabric::Simulation& run, const fabric::Wiring& wiring);

// Arrays by name.
nanobind::dict record_of(const fabric::Simulation& run, const fabric::Wiring& wiring, const fabric::Watch& watch);

}  // namespace remy_plus::bindings
