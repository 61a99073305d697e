// SPDX-License-Identifier: GPL-2.0-only
#include <nanobind/nanobind.h>

#include "bindings/plan_of.hpp"
#include "buffers/work.hpp"

namespace lcca_ns3 {

namespace nb = nanobind;
using namespace nb::literals;

void bind_buffers(nb::module_& m) {
  m.def(
      "buffer_work",
      [] {
        nb::dict out;
        out["calls"] = buffer_work().calls;
        out["visited"] = buffer_work().visited;
        out["stock"] = buffer_work().stock;
        return out;
      },
      "What searches in TCP's buffers took since the process began: calls of this module's functions, segments that "
      "they looked at, calls that they left to ns-3's own. All 0 with a version of ns-3 other than 3.44.");
}

}  // namespace lcca_ns3
