// SPDX-License-Identifier: GPL-2.0-only
// What the searches in TCP's buffers took since the process began: their growth does not depend on the machine.
#pragma once

#include <cstdint>

namespace lcca_ns3 {

struct BufferWork {
  std::uint64_t calls = 0;    // of the functions that are replaced here
  std::uint64_t visited = 0;  // segments that they looked at
  std::uint64_t stock = 0;    // calls that were left to ns-3's own function, which may look at all segments
};

inline BufferWork& buffer_work() {
  static BufferWork work;
  return work;
}

}  // namespace lcca_ns3
