// What a trial returns: rows per flow, per sender and per trial (units: packets, µs).
#pragma once

#include <cstdint>
#include <vector>

namespace remy_plus {

// One on-period of a sender.
struct Flow {
  std::uint32_t sender = 0;
  double start = 0;
  double end = 0;        // switched off, or the end of the trial; an open flow ends with its last packet's arrival
  double share = 0;      // ∫ dt / active senders over the on-period
  double delay_sum = 0;  // µs over delivered packets whose acknowledgement came home
  double last_arrival = 0;
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;          // with their acknowledgement home or, dropped, never to come
  std::uint64_t lost = 0;               // by the loss stage
  std::uint64_t dropped = 0;            // by a full buffer
  std::uint64_t acks_dropped = 0;       // delivered packets that the sender never hears of; no delay is known of them
  std::uint64_t length = 0;             // packets to send when byte-switched or open, else 0
  double delay_p50 = 0, delay_p99 = 0;  // filled in when delays are kept
  bool finished = false;                // switched off before the end of the trial; an open flow: all packets arrived
  bool stalled = false;                 // ended with a closed window and nothing under way: no receipt could open it
};

struct SenderTotals {
  std::uint64_t sent = 0, delivered = 0, lost = 0, dropped = 0, acks_dropped = 0;
  double delay_sum = 0;
  double share = 0;
  double first_on = 0;  // µs; infinity if never on
  std::uint32_t flows = 0, stalled = 0;
};

// One direction of a link over a trial; acknowledgements count as packets, but for their size in the utilisation.
struct LinkTotals {
  double utilisation = 0;
  double queue_mean = 0;  // packets, time average
  std::uint64_t accepted = 0;
  std::uint64_t dropped = 0;
};

struct TrialTotals {
  std::uint64_t events = 0;  // of senders: switches, sends that were due, feedback
  std::uint64_t hops = 0;    // packets and acknowledgements that links accepted
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
  double utilisation = 0;          // of the link over the trial; of the most utilised one of many
  double queue_mean = 0;           // packets, time average; of the same link
  double queue_p99 = 0;            // packets, as seen at the start of service (filled in when delays are kept)
  double delay_quantiles[5] = {};  // p50 p90 p95 p99 p99.9 over all delivered packets (when delays are kept)
};

}  // namespace remy_plus
