// A workload from its name and numbers, for every module that simulates: the list of workloads is here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "remy_plus/workload/on_off.hpp"
#include "remy_plus/workload/open_flows.hpp"
#include "remy_plus/workload/script.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

// Throws std::invalid_argument for a name that is unknown, or values that are impossible.
inline std::shared_ptr<const Workload> workload_from(const nb::tuple& state) {
  const auto kind = nb::cast<std::string>(state[0]);
  const auto number = [&](std::size_t i) { return nb::cast<double>(state[i]); };
  const auto numbers = [&](std::size_t i) { return nb::cast<std::vector<double>>(state[i]); };
  if (kind == "time-switched") return std::make_shared<TimeSwitched>(number(1), number(2));
  if (kind == "byte-switched") return std::make_shared<ByteSwitched>(number(1), number(2));
  if (kind == "poisson-flows") return std::make_shared<PoissonFlows>(number(1), SizeTable(numbers(2), numbers(3)));
  if (kind == "flow-trace")
    return std::make_shared<FlowTrace>(numbers(1), nb::cast<std::vector<std::uint64_t>>(state[2]));
  if (kind == "script") return std::make_shared<Script>(nb::cast<std::vector<std::vector<double>>>(state[1]));
  throw std::invalid_argument("no workload is called " + kind);
}

}  // namespace remy_plus::bindings
