#include "named.hpp"
#include "parts.hpp"

namespace remy_plus::bindings {

using namespace fabric;

MarkerParameters marker_from(const std::string& kind, const nb::dict& parameters) {
  Named named(parameters, "marker " + kind);
  MarkerParameters made;
  if (kind == "step") {
    auto& p = made.emplace<Step::Parameters>();
    named.take("k_bytes", p.threshold);
  } else if (kind == "red") {
    auto& p = made.emplace<Red::Parameters>();
    named.take("kmin_bytes", p.kmin);
    named.take("kmax_bytes", p.kmax);
    named.take("pmax", p.pmax);
  } else {
    throw std::invalid_argument("marker " + kind + " is not known");
  }
  named.end();
  return made;
}

}  // namespace remy_plus::bindings
