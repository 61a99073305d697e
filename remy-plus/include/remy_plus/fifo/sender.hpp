// The state of one sender in a trial.
#pragma once

#include <cstdint>

#include "remy_plus/core/random.hpp"
#include "remy_plus/core/workload.hpp"
#include "remy_plus/policies/control.hpp"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus {

struct Sender {
  Memory memory;
  Control control;
  double last_send = 0;
  double noted = 0;                 // µs, when the latest ACK was; later than it came where hosts jitter
  std::int64_t sent = 0;            // packets, all flows
  std::int64_t acknowledged = -1;   // highest sequence number
  std::int64_t cap = INT64_MAX;     // packets to send before switching off
  std::int64_t next_loss = 0;       // sequence number of the next packet that the loss stage takes
  std::uint32_t flow = UINT32_MAX;  // index of the current (or last) flow in the trial
  std::uint32_t flows = 0;
  bool on = false;
  double share_begin = 0;
  double first_on = never;
  Stream loss_stream;
};

}  // namespace remy_plus
