#include <nanobind/nanobind.h>

#include "remy_plus/policies/policy.hpp"

namespace remy_plus::bindings {
void bind_layout(nanobind::module_& m);
void bind_network(nanobind::module_& m);
void bind_signals(nanobind::module_& m);
void bind_policy(nanobind::module_& m);
void bind_batch(nanobind::module_& m);
void bind_flows(nanobind::module_& m);
void bind_agent_slots(nanobind::module_& m);
void bind_rollouts(nanobind::module_& m);
void bind_trace(nanobind::module_& m);
void bind_coding(nanobind::module_& m);
void bind_fabric(nanobind::module_& m);
}  // namespace remy_plus::bindings

NB_MODULE(_core, m) {
  m.doc() = "The packet engine and the evaluation of policies, in C++.";
  remy_plus::bindings::bind_layout(m);
  remy_plus::bindings::bind_network(m);
  remy_plus::bindings::bind_signals(m);
  remy_plus::bindings::bind_policy(m);
  remy_plus::bindings::bind_batch(m);
  remy_plus::bindings::bind_flows(m);
  remy_plus::bindings::bind_trace(m);
  remy_plus::bindings::bind_agent_slots(m);
  remy_plus::bindings::bind_rollouts(m);
  remy_plus::bindings::bind_coding(m);
  remy_plus::bindings::bind_fabric(m);
}
