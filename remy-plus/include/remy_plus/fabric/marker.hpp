// Markers: which data packets a switch's port marks (ECN).
//
// Every port has a marker of its own, with state and parameters, and asks it once for each data packet: as the packet
// joins the queue or as it leaves it (Settings::mark_at_dequeue). Those that an earlier port has marked are shown only
// to markers that say so. Parameters are those of the port, may be changed between any two packets, and what the marker
// has seen stays. A new marker is a struct that models Marker, and its place in AnyMarker and MarkerParameters.
#pragma once

#include <concepts>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "remy_plus/fabric/marker/apart.hpp"
#include "remy_plus/fabric/marker/codel.hpp"
#include "remy_plus/fabric/marker/ecn_sharp.hpp"
#include "remy_plus/fabric/marker/pie.hpp"
#include "remy_plus/fabric/marker/pred.hpp"
#include "remy_plus/fabric/marker/red.hpp"
#include "remy_plus/fabric/marker/sight.hpp"
#include "remy_plus/fabric/marker/step.hpp"

namespace remy_plus::fabric {

template <class M>
concept Marker = requires(M marker, const typename M::Parameters& given, const Sight& sight, Draws& draws) {
  { marker.marks(sight, draws) } -> std::same_as<bool>;
  // Whether it is to see packets that are marked already; and whether it can be asked only as a packet leaves the
  // queue.
  requires std::same_as<decltype(M::sees_marked), const bool> && std::same_as<decltype(M::needs_sojourn), const bool>;
  // At a port of another rate than 100 Gb/s.
  { given.at(double{}) } -> std::same_as<typename M::Parameters>;
  // Throws std::invalid_argument naming what cannot be.
  given.require();
  marker.parameters = given;
  requires std::same_as<typename M::Parameters::Marker, M>;
};

// Markers of a port itself: those that remember nothing.
template <Marker M>
using InPort = std::conditional_t<std::is_trivially_copyable_v<M> && sizeof(M) <= 32, M, Apart<M>>;

template <Marker... Ms>
struct Markers {
  using Any = std::variant<InPort<Ms>...>;
  using Parameters = std::variant<typename Ms::Parameters...>;
};
using AnyMarker = Markers<Red, Step, EcnSharp, Codel, Pie, Pred>::Any;
using MarkerParameters = Markers<Red, Step, EcnSharp, Codel, Pie, Pred>::Parameters;  // for ports of 100 Gb/s

// With thresholds in bytes where they were in bandwidth-delay products, which are bytes_of(products) at 100 Gb/s.
inline MarkerParameters in_bytes(const MarkerParameters& given, const auto& bytes_of) {
  return std::visit(
      [&]<class P>(const P& each) -> MarkerParameters {
        if constexpr (requires { each.in_bdps; })
          if (each.in_bdps) return each.in_bytes(bytes_of);
        return each;
      },
      given);
}

inline AnyMarker marker_of(const MarkerParameters& given, double gbps) {
  return std::visit([gbps]<class P>(const P& each) -> AnyMarker { return InPort<typename P::Marker>{each.at(gbps)}; },
                    given);
}

// What a marker has seen stays, if it stays of its kind.
inline void set_marker(AnyMarker& marker, const MarkerParameters& given, double gbps) {
  std::visit(
      [&]<class P>(const P& each) {
        using M = InPort<typename P::Marker>;
        M* own = std::get_if<M>(&marker);
        if (!own)
          marker = M{each.at(gbps)};
        else if constexpr (std::same_as<M, typename P::Marker>)
          own->parameters = each.at(gbps);
        else
          own->set(each.at(gbps));
      },
      given);
}

// What a marker that remembers something tells of it, by name; most tell nothing.
using MarkerState = std::vector<std::pair<const char*, double>>;

inline MarkerState state_of(const AnyMarker& marker) {
  return std::visit(
      []<class M>(const M& each) {
        MarkerState found;
        if constexpr (requires { each.own().state(); }) {
          const auto values = each.own().state();
          for (std::size_t i = 0; i < values.size(); ++i) found.emplace_back(each.own().state_names[i], values[i]);
        }
        return found;
      },
      marker);
}

inline bool sees_marked(const AnyMarker& marker) {
  return std::visit([]<class M>(const M&) { return M::sees_marked; }, marker);
}

inline bool needs_sojourn(const MarkerParameters& given) {
  return std::visit([]<class P>(const P&) { return P::Marker::needs_sojourn; }, given);
}

// Throws std::invalid_argument where a marker cannot be asked.
inline void require_place(const MarkerParameters& given, bool at_dequeue) {
  if (!at_dequeue && needs_sojourn(given))
    throw std::invalid_argument("mark_at_dequeue: the marker goes by how long packets have waited");
}

}  // namespace remy_plus::fabric
