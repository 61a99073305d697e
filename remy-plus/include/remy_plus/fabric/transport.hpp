// What a transport is: how a sender's rate and window follow from ACKs and timers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/packet.hpp"

namespace remy_plus::fabric {

// What data packets carry for it, and their ACKs bring back.
enum class Telemetry : std::uint8_t { none, sent_time, stack, fair_rate };

inline constexpr int most_telemetry = 42;  // bytes

// In a data packet. A stack is always as long as HPCC's: five hops of 8 bytes and their number.
inline int telemetry_bytes(Telemetry telemetry) {
  switch (telemetry) {
    case Telemetry::sent_time:
      return 8;
    case Telemetry::stack:
      return most_telemetry;
    case Telemetry::fair_rate:
      return 8;
    default:
      return 0;
  }
}

// In an ACK, beyond what every ACK has.
inline int returned_bytes(Telemetry telemetry) {
  return telemetry == Telemetry::stack ? 28 : telemetry == Telemetry::fair_rate ? 4 : 0;
}

struct Ack {
  Time now;
  std::uint64_t bytes;  // of payload, all before which has arrived
  std::uint64_t sent;   // of payload, all before which was sent
  bool marked;
  Time sent_at;        // of the data packet, with any telemetry
  double fair_gbps;    // with Telemetry::fair_rate
  const Stack* stack;  // with Telemetry::stack
};

// What all flows of a run have in common.
struct Frame {
  Time base_rtt = 0;  // the largest of all pairs of hosts
  double min_gbps = 1;
  double queue_quantum = 320, bytes_quantum = 512;  // bytes, of stamps
  int stamp_time_bits = 24, stamp_bytes_bits = 20;
  bool whole_ns = false;
};

class Transport {
 public:
  explicit Transport(const Frame& frame) : frame_(frame) {
    if (!(frame.min_gbps > 0)) throw std::invalid_argument("min_gbps: must be above 0");
  }
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual Telemetry telemetry() const { return Telemetry::none; }
  // A flow begins; its rate is that of the line. `number` is that of the flow, below what reserve() said.
  virtual void start(std::uint32_t number, Flow& flow) = 0;
  virtual void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) = 0;
  // At flow.timer; sets it anew.
  virtual void on_timer(std::uint32_t, Flow& flow, Time) { flow.timer = never; }
  // Packets from flow.acked on are sent again, because the receiver asked for them or, with `timeout`, because nothing
  // was acknowledged for long; flow.next is still as it was. Those that NICs have do not react.
  virtual void on_loss(std::uint32_t, Flow&, bool /*timeout*/) {}
  virtual void reserve(std::size_t flows) = 0;

 protected:
  // From the next packet on; Flow::pace() also moves the next packet.
  void set_rate(Flow& flow, double gbps) const { flow.gbps = bounded(flow, gbps); }
  double bounded(const Flow& flow, double gbps) const {
    return std::min(std::max(gbps, frame_.min_gbps), flow.line_gbps);
  }
  double line_window(const Flow& flow) const {  // bytes
    return flow.line_gbps * static_cast<double>(frame_.base_rtt) / 8000;
  }

  Frame frame_;
};

}  // namespace remy_plus::fabric
