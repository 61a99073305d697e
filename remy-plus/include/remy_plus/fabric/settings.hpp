// What holds for a whole fabric: conventions, switches, transports' common frame.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "remy_plus/fabric/marker.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

inline constexpr int most_priorities = 8;  // of IEEE 802.1Q
inline constexpr int most_entropies = 256;

// How senders choose the entropy of a packet (spraying/balancer.hpp); with `flow` every flow has one.
enum class Spraying { flow, oblivious, bitmap, reps, mixed };

// How switches choose among equal ways: by hashes of the flow and of the packet's entropy, or by the entropy alone,
// which numbers the ways (source routes); with `shared` a host has one balancer for all flows to hosts of one switch.
enum class WayNumbers { hashed, numbered, shared };

// Which of its flows that may send a host sends of: of each in turn, of that with the fewest bytes left to send, or of
// that with the fewest bytes sent. What an order is among equals is a matter of the kind of host.
enum class Scheduling { round_robin, shortest, least_sent };

struct Settings {
  // Frames, in bytes.
  int payload = 1000;
  int overhead = 48;   // of a data packet, without telemetry
  int ack_bytes = 60;  // without telemetry
  int pfc_bytes = 43;
  bool whole_ns = false;  // serialisation and gaps are cut to whole ns

  // Switches.
  bool lossless = true;            // PFC; else frames beyond the threshold are dropped
  double buffer = 32.0 * 1048576;  // bytes shared by all ports of a switch, headroom apart
  double buffer_per_port = 0;      // above 0: a switch has so much for each of its ports instead
  double alpha = 0.125;  // share of the free buffer that an ingress (lossless) or a queue (lossy) may take, at 100 Gb/s
  bool alpha_by_rate = true;        // alpha in proportion to the rate of the port, in powers of two
  double resume_below = 1248;       // bytes of an ingress that resume whatever the threshold is
  double resume_offset = 2496;      // bytes below the threshold that resume
  double headroom_delays = 3;       // headroom = so many link delays at its rate
  int priorities = 1;               // classes of traffic, 0 first
  int ack_priority = -1;            // class of ACKs; below 0: that of their data
  MarkerParameters marker;          // ECN, at 100 Gb/s
  bool mark_at_dequeue = true;      // markers are asked as a packet leaves the queue; else as it joins it
  bool mark_when_sent = false;      // with queue_bdps: as its last bit leaves
  bool mark_to_hosts = true;        // ports towards hosts mark too
  bool thresholds_by_rate = false;  // those of marks and own queues change with the rate of their link

  // In place of a shared buffer with PFC or drops: a queue of its own for the data of every port, above which a fair
  // coin picks whether the packet that comes or the newest that waits is trimmed to its header, or dropped.
  double queue_bdps = 0;  // bandwidth-delay products of a host's link in full frames, at its rate; 0: a shared buffer
  int trim_bytes = 64;    // of what is left of a packet; 0: they are dropped

  // Ways.
  Spraying spraying = Spraying::flow;
  int entropies = 64;        // a power of two
  bool adaptive = false;     // switches send each packet to the port with the shortest queue, whatever its entropy
  bool queue_pairs = false;  // flows of one share hashes and what its sender knows of entropies
  bool feedback_per_packet =
      false;  // an ACK tells of all packets that it newly acknowledges; else of that which it answers

  WayNumbers ways = WayNumbers::hashed;
  bool write_to_hosts = true;  // ports towards hosts write headers and stamps

  bool per_packet() const { return spraying != Spraying::flow || adaptive; }

  // Telemetry.
  double queue_quantum = 320, bytes_quantum = 512;  // bytes
  bool arrival_bytes = false;                       // ports count bytes that arrived, not that were sent

  // Senders.
  Scheduling scheduling = Scheduling::round_robin;
  bool plain_ideal = false;    // ideal times by HPCC's formula: no ACK, and no order of short and full packets
  bool fct_at_ack = true;      // a flow ends with the ACK of its last byte; else as that byte is received
  bool selective = false;      // receivers reorder, and what is lost alone is sent again; else go-back-N
  bool sleek = false;          // selective: what is far out of order means losses
  bool granted = false;        // selective: receivers grant what transports without a receiver of their own send
  double ack_bytes_every = 0;  // selective: bytes on the wire that one ACK answers, unless there is cause for one
  Time retransmit_after = 0;   // ps without progress, selective: since a packet was sent; 0: never
  Time nack_gap = 500 * microsecond;
  double retransmit_rtts = 0, nack_gap_rtts = 0;  // above 0: these times in base RTTs
  Time give_up_after = 1'000'000 * microsecond;   // without progress and with nothing due but timers; 0: never

  std::vector<int> silent;  // switches that write no stamps, headers and rates into packets; they mark

  std::uint64_t seed = 1;
  Time base_rtt = 0;        // that transports go by; 0: the largest of all pairs of hosts
  Time horizon = never;     // the end of the run
  Time last_round = never;  // flows that wait for others begin before it
  // Bytes of a port's queue; when it first had more is noted.
  std::int64_t level = std::numeric_limits<std::int64_t>::max();
};

// Throws std::invalid_argument where a setting cannot be.
void require_possible(const Settings& settings);

}  // namespace remy_plus::fabric
