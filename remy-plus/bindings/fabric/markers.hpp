// Markers of ports, made of what Python gives.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "remy_plus/fabric/marker.hpp"

namespace remy_plus::bindings {

// Throws std::invalid_argument for a name that is not known.
fabric::MarkerParameters marker_from(const std::string& kind, const nanobind::dict& parameters);

}  // namespace remy_plus::bindings
