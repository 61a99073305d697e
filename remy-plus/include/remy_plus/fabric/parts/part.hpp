// Some nodes of a run, which one thread goes through at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/parts/outbox.hpp"
#include "remy_plus/fabric/surroundings.hpp"

namespace remy_plus::fabric {

struct Part {
  std::vector<int> hosts, switches;  // nodes
  std::optional<Surroundings> around;
  std::optional<Hosting> hosting;
  std::vector<std::uint64_t> keys;  // of gather()
  Tally tally;
  std::uint64_t recent = 0;  // packets that its nodes went through, older ones count less
};

// The parts of a thread, and what they send to other threads.
struct Share {
  std::vector<Part*> parts;
  std::vector<Outbox> to;  // (threads,)
};

}  // namespace remy_plus::fabric
