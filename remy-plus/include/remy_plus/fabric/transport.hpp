// What a transport is: how a sender's rate and window follow from ACKs and timers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/hosts/arriving.hpp"
#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/settings.hpp"
#include "remy_plus/headers/stamping.hpp"
#include "remy_plus/policies/control.hpp"
#include "remy_plus/signals/seen.hpp"

namespace remy_plus::fabric {

inline constexpr int most_telemetry = 42;  // bytes

// In a data packet. A stack is always as long as HPCC's: five hops of 8 bytes and their number. A header's own bytes
// come on top of the time of sending.
inline int telemetry_bytes(Telemetry telemetry) {
  switch (telemetry) {
    case Telemetry::sent_time:
    case Telemetry::header:
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
  std::uint8_t marked;  // not 0: yes; with Transport::marks_within(), the RoundedCount of its receiver
  Time sent_at;         // of the data packet, with any telemetry
  double fair_gbps;     // with Telemetry::fair_rate
  const Stack* stack;   // with Telemetry::stack
  const Seen* seen;     // with Telemetry::header
  double credit = 0;    // Credit::share(), where receivers grant
  Standing standing{};  // where Transport::from_receivers() asks for it
};

// What senders want to hear of their receiver's Standing, in 2 bytes of an ACK each. For a rank data packets say in 2
// bytes what their flow has left to send.
struct FromReceivers {
  bool rank = false, flows = false;

  int sent_bytes() const { return rank ? 2 : 0; }
  int returned_bytes() const { return (rank ? 2 : 0) + (flows ? 2 : 0); }
};

// What all flows of a run have in common.
struct Frame {
  Time base_rtt = 0;  // the largest of all pairs of hosts
  double min_gbps = 1;
  double queue_quantum = 320, bytes_quantum = 512;  // bytes, of stamps
  int stamp_time_bits = 24, stamp_bytes_bits = 20;
  bool whole_ns = false;
  bool lossless = false;                   // nothing is dropped: PFC
  double loss_factor = 1;                  // see Transport::lose()
  int payload = 1000, frame_bytes = 1048;  // of a full data packet: payload, and all on the wire but telemetry
  double queue_bdps = 0;                   // as in Settings
  bool trims = false;                      // what exceeds a queue is trimmed, not dropped
};

// What the rules of a table saw as ACKs came, in the order of the run.
struct LookUps {
  std::vector<std::uint32_t> rule;
  std::vector<float> values;  // (look-ups, signals)
};

inline constexpr int most_hops = 8;  // links of a way

// Of a header after so many switches or fewer.
inline int most_bytes(const std::vector<std::uint32_t>& by_hops, std::uint32_t switches) {
  int found = 0;
  for (std::uint32_t hops = 0; hops <= switches; ++hops)
    found = std::max(found, static_cast<int>(Stamping::bytes(by_hops, hops)));
  return found;
}

// Who runs it.
enum class Hosts {
  windowed,   // host.hpp: go-back-N
  selective,  // spraying/host.hpp
  homa        // homa/host.hpp
};

struct PathChoice;

class Transport {
 public:
  explicit Transport(const Frame& frame) : frame_(frame) {
    if (!(frame.min_gbps > 0)) throw std::invalid_argument("min_gbps: must be above 0");
  }
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual Hosts hosts() const { return Hosts::windowed; }
  virtual Telemetry telemetry() const { return Telemetry::none; }
  // With Telemetry::header: which one, and what a packet that is about to be sent says of its sender.
  virtual const Stamping* header() const { return nullptr; }
  virtual FromReceivers from_receivers() const { return {}; }
  // Of a data packet, and of an ACK beyond what all have; without a header's own.
  virtual int sent_overhead() const { return telemetry_bytes(telemetry()) + from_receivers().sent_bytes(); }
  int returned_overhead() const { return returned_bytes(telemetry()) + from_receivers().returned_bytes(); }
  virtual Told told(std::uint32_t) const { return {}; }
  // Its hosts choose the ways of packets by a law from now on; throws where they cannot.
  virtual void choose_by(std::shared_ptr<const PathChoice>) {
    throw std::invalid_argument("a law of ways: only transports of Ultra Ethernet and NDP have it beside them");
  }
  virtual const PathChoice* choice() const { return nullptr; }  // null: as the settings say
  // A flow begins; its rate is that of the line. `number` is that of the flow, below what reserve() said.
  virtual void start(std::uint32_t number, Flow& flow) = 0;
  // The same of a message of a queue pair, whose last one, `before`, has ended: what its sender knows by then goes on.
  virtual void go_on(std::uint32_t number, Flow& flow, std::uint32_t /*before*/) { start(number, flow); }
  virtual void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) = 0;
  // Whether selective hosts tell it of every ACK and NACK, of a packet with this entropy, before on_ack() and lose().
  virtual bool hears_answers() const { return false; }
  virtual void on_answer(std::uint32_t, std::uint8_t /*entropy*/, bool /*nack*/, Echo, Time) {}
  // At flow.timer; sets it anew.
  virtual void on_timer(std::uint32_t, Flow& flow, Time) { flow.timer = never; }
  // Packets from flow.acked on are sent again, because the receiver asked for them or, with `timeout`, because nothing
  // was acknowledged for long; flow.next is still as it was. Most take what was lost for none of their business.
  virtual void on_loss(std::uint32_t, Flow&, bool /*timeout*/) {}
  // What hosts call: on_loss(), and with a loss_factor other than 1 a cut by it, at most once per base RTT.
  virtual void lose(std::uint32_t number, Flow& flow, bool timeout, Time now) {
    on_loss(number, flow, timeout);
    if (frame_.loss_factor == 1 || now < flow.cut + frame_.base_rtt) return;
    flow.cut = now;
    cut(number, flow, now);
  }
  virtual void reserve(std::size_t flows) = 0;
  // From now on flows of different parts are told of at the same time, so that what is kept of a flow should be in
  // lines of the cache of its own; `part` has that of each flow's sender. False where that cannot be, since flows have
  // more in common than parameters.
  virtual bool divide(const std::vector<std::uint32_t>& /*part*/) { return true; }
  // The transport of a flow, and all that there are: itself, unless hosts have several. Known after plan().
  virtual const Transport& of(std::uint32_t) const { return *this; }
  virtual std::vector<const Transport*> parts() const { return {this}; }
  // All flows of the run, before it begins: what they are, and at which rate their hosts' links carry them.
  virtual void plan(std::span<const Flow>, const Settings&) {}
  // Of selective hosts: since a packet was sent, until it is sent again; 0: as the settings say.
  virtual Time timeout(const Flow&) const { return 0; }
  // Receivers count flows that had a mark within so long, and marked ACKs bring their number back; 0: they do not.
  virtual Time marks_within() const { return 0; }
  // Has the parameters of another one of its kind from now on; what flows have come to stays.
  virtual void adopt(const Transport&) { throw std::invalid_argument("its parameters cannot change during a run"); }

  // Of a learnt policy: how often each rule was looked up, and what was kept of these look-ups.
  virtual std::optional<RuleHits> rule_hits() const { return {}; }
  virtual const LookUps* look_ups() const { return nullptr; }

 protected:
  // Takes loss_factor of what it sends at, or of its window where that is all it has.
  virtual void cut(std::uint32_t, Flow& flow, Time) { set_rate(flow, flow.gbps * frame_.loss_factor); }

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

// The most bytes of telemetry on any way, its header's included: of a data packet, and of an ACK beyond what all have.
inline int sent_telemetry(const Transport& transport) {
  int found = 0;
  for (const Transport* part : transport.parts()) {
    const Stamping* header = part->header();
    found = std::max(found, part->sent_overhead() + (header ? most_bytes(header->sent_bytes, most_hops - 1) : 0));
  }
  return found;
}
inline int returned_telemetry(const Transport& transport) {
  int found = 0;
  for (const Transport* part : transport.parts()) {
    const Stamping* header = part->header();
    found = std::max(
        found, part->returned_overhead() + (header ? most_bytes(header->reflected_bytes, 2 * (most_hops - 1)) : 0));
  }
  return found;
}

}  // namespace remy_plus::fabric
