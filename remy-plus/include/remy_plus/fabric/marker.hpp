// Markers: which data packets a switch's port marks (ECN).
//
// Every port has a marker of its own, with state and parameters, and asks it once for each data packet that is not
// marked yet: as the packet joins the queue or as it leaves it (Settings::mark_at_dequeue). Parameters are those of the
// port, may be changed between any two packets, and what the marker has seen stays. A new marker is a struct that
// models Marker, and its place in AnyMarker and MarkerParameters.
#pragma once

#include <concepts>
#include <variant>

#include "remy_plus/fabric/marker/red.hpp"
#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/marker/step.hpp"

namespace remy_plus::fabric {

template <class M>
concept Marker = requires(M marker, const typename M::Parameters& given, const Sight& sight, Draws& draws) {
  { marker.marks(sight, draws) } -> std::same_as<bool>;
  // At a port of another rate than 100 Gb/s.
  { given.at(double{}) } -> std::same_as<typename M::Parameters>;
  // Throws std::invalid_argument naming what cannot be.
  given.require();
  marker.parameters = given;
  requires std::same_as<typename M::Parameters::Marker, M>;
};
static_assert(Marker<Step> && Marker<Red>);

using AnyMarker = std::variant<Red, Step>;
using MarkerParameters = std::variant<Red::Parameters, Step::Parameters>;  // for ports of 100 Gb/s

inline AnyMarker marker_of(const MarkerParameters& given, double gbps) {
  return std::visit([]<class P>(const P& at_port) -> AnyMarker { return typename P::Marker{at_port}; },
                    std::visit([gbps](const auto& each) -> MarkerParameters { return each.at(gbps); }, given));
}

}  // namespace remy_plus::fabric
