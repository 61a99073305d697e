// SPDX-License-Identifier: GPL-2.0-only
// From a dictionary of plain values to the plan of a trial, and back from what a trial returns.
#pragma once

#include <nanobind/nanobind.h>

#include "trial/trial.hpp"

namespace lcca_ns3 {

Plan plan_of(const nanobind::dict& description);
nanobind::dict dict_of(const Result& result);
void keep_going();  // throws what Python's signal handlers threw

void bind_buffers(nanobind::module_& m);
void bind_controls(nanobind::module_& m);
void bind_drivers(nanobind::module_& m);

}  // namespace lcca_ns3
