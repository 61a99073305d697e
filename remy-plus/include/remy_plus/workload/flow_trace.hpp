// The open flows of one trial, given one by one in place of random ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remy_plus {

// Owns nothing: what it points to must outlive the trial.
struct FlowTrace {
  const double* arrival = nullptr;      // µs, >= 0, not falling
  const std::uint64_t* size = nullptr;  // packets, >= 1
  std::size_t count = 0;
};

}  // namespace remy_plus
