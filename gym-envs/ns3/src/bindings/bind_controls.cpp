// SPDX-License-Identifier: GPL-2.0-only
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "bindings/plan_of.hpp"
#include "cca/registered.hpp"

namespace lcca_ns3 {

namespace nb = nanobind;

void bind_controls(nb::module_& m) {
  m.def("registered_controls", &registered_controls,
        "The congestion controls of this process by TypeId, with their attributes and defaults as ns-3 writes them.");
}

}  // namespace lcca_ns3
