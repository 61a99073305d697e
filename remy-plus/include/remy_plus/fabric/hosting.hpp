// What the hosts of a fabric share, and what their data packets carry.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "remy_plus/fabric/counters/round_trips.hpp"
#include "remy_plus/fabric/events/losses.hpp"
#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/port.hpp"
#include "remy_plus/fabric/surroundings.hpp"
#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/waits.hpp"

namespace remy_plus::fabric {

struct Sprayed;
class Uet;
struct GrantParameters;
struct PathChoice;

// What hosts count.
struct Counts {
  std::uint64_t timeouts = 0, nacks = 0;
};

// What a part adds to the run.
struct alignas(64) Tally {
  // Of a round, or since the run last looked.
  std::uint64_t packets = 0;  // that its nodes went through
  std::uint64_t ended = 0;    // flows
  Time progress = 0;          // when data was last received in order or a flow began
  // Of the whole run.
  std::uint64_t retransmitted = 0;  // packets
  Counts counts;
  std::uint64_t begun = 0;     // flows that waited for others at their own host
  std::vector<Reached> heard;  // what flows at other hosts wait for
};

// What the hosts of a part share.
struct Hosting {
  std::span<Flow> flows;
  std::vector<std::uint16_t>& first_ports;  // (flows, 2): of data, and of ACKs at the other end
  Transport& transport;
  Tally& tally;
  Waits* waits;                 // null: no flow waits for others
  RoundTrips* trips = nullptr;  // null: none are timed
  Time base_rtt;
  std::vector<Sprayed>& sprayed;  // (flows,) of selective hosts
  Uet* uet;                       // the transport, if it is one; null: another
  bool answers;                   // Transport::hears_answers()
  const PathChoice* choice;       // Transport::choice()
  const GrantParameters* grants;  // of receivers; null: they grant nothing
  const Losses* losses;           // null: there is no PFC

  // Whether a timer that finds no progress means that something is lost.
  bool may_miss(std::uint32_t flow, Time now) const { return !losses || losses->any(flow, now); }

  // A flow began, or data was received in order.
  void progress(Time now) const { tally.progress = std::max(tally.progress, now); }

  // Of a data packet on the wire, headers apart.
  std::int64_t bytes_of(const Flow& flow, std::uint32_t packet) const {
    return static_cast<std::int64_t>(flow.bytes_before(packet + 1) - flow.bytes_before(packet)) + flow.data_overhead;
  }

  // Credit that satisfied flows may have beyond what they want; the first and the most of a law's.
  std::int64_t spare_bytes(double gbps) const {
    return static_cast<std::int64_t>(1.5 * gbps * static_cast<double>(base_rtt) / 8000);
  }
};

// One packet at a time is timed.
inline std::uint64_t fair_request(Flow& flow, std::uint32_t packet, Time now, double gbps) {
  if (flow.timed_at == never) {
    flow.timed = packet;
    flow.timed_at = now;
  }
  const double rtt = static_cast<double>(flow.rtt) / microsecond;
  return std::bit_cast<std::uint64_t>(FairHeader{static_cast<float>(gbps), static_cast<float>(rtt)});
}

// Of the answer to `packets`, or to those before it.
inline double fair_rate(const Packet& ack, std::uint32_t packets, Flow& flow) {
  if (flow.timed_at != never && packets > flow.timed) {
    flow.rtt = ack.time - flow.timed_at;
    flow.timed_at = never;
  }
  return std::bit_cast<FairHeader>(ack.extra).gbps;
}

// The flows that begin at a host, in the order of their starts.
class Starts {
 public:
  explicit Starts(std::span<const Flow> flows) : flows_(flows) {}

  void add(std::uint32_t flow) { numbers_.push_back(flow); }

  // One whose start was not known before, and lies ahead.
  void add_late(std::uint32_t flow) {
    const auto later = [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(flows_[a].start, a) < std::pair(flows_[b].start, b);
    };
    const auto rest = numbers_.begin() + static_cast<std::ptrdiff_t>(started_);
    numbers_.insert(std::upper_bound(rest, numbers_.end(), flow, later), flow);
  }

  bool over() const { return started_ == numbers_.size(); }
  Time next() const { return over() ? never : flows_[numbers_[started_]].start; }
  std::uint32_t take() { return numbers_[started_++]; }

 private:
  std::span<const Flow> flows_;
  std::vector<std::uint32_t> numbers_;
  std::size_t started_ = 0;
};

// What a data packet that is sent now carries: Packet::extra.
inline std::uint64_t telemetry_of(const Packet& packet, Flow& flow, Time now, const Port& port,
                                  const Surroundings& around, const Hosting& hosting) {
  if (flow.telemetry == Telemetry::fair_rate) return fair_request(flow, packet.number, now, port.speed->gbps());
  if (flow.telemetry == Telemetry::header) [[unlikely]] {
    Told told = hosting.transport.told(packet.flow);
    told.bytes_left = static_cast<double>(flow.size - flow.bytes_before(packet.number + 1));
    return around.headers->depart(around.share, packet.flow, packet.number, now, told);
  }
  if (flow.telemetry != Telemetry::stack) return static_cast<std::uint64_t>(now);
  const StackHeader header{static_cast<std::uint32_t>(around.stacks.take(around.share))};
  around.stacks[header.number].sent_at = now;
  return std::bit_cast<std::uint64_t>(header);
}

}  // namespace remy_plus::fabric
