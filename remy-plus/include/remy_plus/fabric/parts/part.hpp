// Some nodes of a run, which one thread goes through at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "remy_plus/fabric/hosting.hpp"
#include "remy_plus/fabric/parts/wire.hpp"
#include "remy_plus/fabric/surroundings.hpp"

namespace remy_plus::fabric {

// Of a node, in a line of the cache of its own: different threads may have neighbouring nodes.
struct alignas(64) Agenda {
  Time next = never;  // when it has something to do
};

struct NodeLists {
  std::vector<int> hosts, switches;
};

struct Part {
  NodeLists all;
  NodeLists border, inner;  // with links to nodes of other threads, and without
  std::optional<Surroundings> around;
  std::optional<Hosting> hosting;
  std::vector<std::uint64_t> keys;  // of gather()
  Tally tally;
  std::uint32_t share = 0;   // number of the thread that has it
  std::uint64_t recent = 0;  // packets that its nodes went through, older ones count less
};

// What parts did in a round, together.
struct Round {
  Time next = never;  // when something is to be done or comes
  Time progress = 0;
  std::uint64_t packets = 0, ended = 0;

  void add(const Round& other) {
    next = std::min(next, other.next);
    progress = std::max(progress, other.progress);
    packets += other.packets;
    ended += other.ended;
  }
};

// The parts of a thread, and what they send to other threads.
struct alignas(64) Share {
  std::vector<Part*> parts;
  std::vector<Outbox> to;  // (threads,)
  Round round;
  alignas(64) std::atomic<std::uint64_t> sent = 0;  // the last round of which all is in its outboxes
};

}  // namespace remy_plus::fabric
