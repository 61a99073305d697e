#include "remy_plus/fabric/settings.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

namespace {

constexpr double any = std::numeric_limits<double>::infinity();

}  // namespace

void require_possible(const Settings& s) {
  require_range("payload_bytes", s.payload, 1, largest_frame);
  require_range("overhead_bytes", s.overhead, 0, largest_frame);
  require_range("ack_bytes", s.ack_bytes, 1, largest_frame / 2);
  require_range("pfc_bytes", s.pfc_bytes, 1, largest_frame);
  require_range("buffer_bytes", s.buffer, 0, any);
  require_range("buffer_bytes_per_port", s.buffer_per_port, 0, any);
  require_range("alpha", s.alpha, 0, any);
  require_range("resume_below_bytes", s.resume_below, 0, any);
  require_range("resume_offset_bytes", s.resume_offset, 0, any);
  require_range("headroom_delays", s.headroom_delays, 0, 1e6);
  require_range("priorities", s.priorities, 1, most_priorities);
  require_range("ack_priority", s.ack_priority, -1, s.priorities - 1);
  std::visit([](const auto& marker) { marker.require(); }, s.marker);
  require_place(s.marker, s.mark_at_dequeue);
  require_range("queue_bdps", s.queue_bdps, 0, 1e6);
  require_range("trim_bytes", s.trim_bytes, 0, largest_frame);
  require_range("spraying", static_cast<int>(s.spraying), 0, static_cast<int>(Spraying::mixed));
  require_range("ways", static_cast<int>(s.ways), 0, static_cast<int>(WayNumbers::shared));
  require_range("scheduling", static_cast<int>(s.scheduling), 0, static_cast<int>(Scheduling::least_sent));
  require_range("entropies", s.entropies, 1, most_entropies);
  if (s.entropies & (s.entropies - 1)) throw std::invalid_argument("entropies: must be a power of two");
  require_range("ack_bytes_every", s.ack_bytes_every, 0, 1e9);
  require_range("queue_quantum_bytes", s.queue_quantum, 1, 1e9);
  require_range("bytes_quantum_bytes", s.bytes_quantum, 1, 1e9);
  require_range("retransmit_after_us", static_cast<double>(s.retransmit_after) / microsecond, 0, longest_us);
  require_range("give_up_after_us", static_cast<double>(s.give_up_after) / microsecond, 0, longest_us);
  require_range("base_rtt_ns", static_cast<double>(s.base_rtt) / nanosecond, 0, 1e15);
  require_range("nack_gap_us", static_cast<double>(s.nack_gap) / microsecond, 0, longest_us);
  for (const auto& [name, rtts] : {std::pair("retransmit_rtts", s.retransmit_rtts), {"nack_gap_rtts", s.nack_gap_rtts}})
    if (rtts != 0) require_range(name, rtts, 1, 1e6);
}

}  // namespace remy_plus::fabric
