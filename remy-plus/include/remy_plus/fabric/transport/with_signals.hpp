// What learnt transports see of a fabric: their own ACKs, and what a header or, without one, the stamps of the hops say
// of the network: the longest queue, in full frames, and the highest share of a link that was used since the flow's ACK
// before that came by the same way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/stamps.hpp"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus::fabric {

class WithSignals : public Transport {
 public:
  // `frame_bytes`: of a full data packet on the wire, without telemetry. `header` may be null.
  WithSignals(const Frame& frame, int frame_bytes, bool looks_at_hops, std::shared_ptr<const Stamping> header,
              SignalMask wanted, std::shared_ptr<const OwnSignals> own = nullptr, FromReceivers from_receivers = {})
      : Transport(frame),
        header_(std::move(header)),
        looks_at_hops_(looks_at_hops && !header_),
        frame_bytes_(frame_bytes + telemetry_bytes(telemetry()) + from_receivers.sent_bytes() +
                     (header_ ? static_cast<int>(Stamping::bytes(header_->sent_bytes, 0)) : 0)),
        wanted_(wanted | ack_signals),
        own_(std::move(own)) {}

  Telemetry telemetry() const final {
    return header_ ? Telemetry::header : looks_at_hops_ ? Telemetry::stack : Telemetry::sent_time;
  }
  const Stamping* header() const override { return header_.get(); }

 protected:
  struct Seeing {
    Memory memory;
    std::int64_t acknowledged = -1;
    std::vector<Stack> seen;  // the last one of each way
  };

  static double microseconds(Time time) { return static_cast<double>(time) / microsecond; }

  double line_packets(const Flow& flow) const { return flow.line_gbps / 8e-3 / frame_bytes_; }  // packets/µs

  // What the stamps of the hops say: the longest queue, bytes; the highest share of a link since the last ACK of the
  // same way, 0 and not `compared` at its first one.
  struct Looked {
    double queue = 0, link = 0;
    bool compared = false;
  };
  Looked look(std::vector<Stack>& ways, const Stack& stack) const {
    Looked looked;
    const auto before = std::ranges::find_if(ways, [&](const Stack& each) { return stack.along(each); });
    looked.compared = before != ways.end();
    for (std::uint32_t hop = 0; hop < stack.count; ++hop) {
      const Stamp& now = stack.stamps[hop];
      looked.queue = std::max(looked.queue, now.queue * frame_.queue_quantum);
      if (looked.compared)
        looked.link = std::max(looked.link, between(before->stamps[hop], now, frame_).gbps / now.gbps);
    }
    looked.link = std::min(looked.link, 1.0);
    if (looked.compared)
      *before = stack;
    else
      ways.push_back(stack);
    return looked;
  }

  // An ACK that moves `seeing` on; returns the sequence number of its packet.
  std::int64_t see(Seeing& seeing, const Flow& flow, const Ack& ack) const {
    const double now = microseconds(ack.now);
    remy_plus::Packet packet{};
    packet.sent = microseconds(ack.sent_at);
    packet.arrives = now;
    packet.sequence = flow.acked - 1;
    if (looks_at_hops_) {
      const Looked looked = look(seeing.seen, *ack.stack);
      packet.queue = static_cast<std::uint32_t>(looked.queue / frame_bytes_);
      packet.link = looked.link;
    }
    if (header_) {
      ByHeader net{*ack.seen};
      seeing.memory.receive(net, packet, now, seeing.acknowledged, wanted_, own_.get());
    } else {
      seeing.memory.receive_plain(packet, now, seeing.acknowledged, wanted_, line_packets(flow), own_.get());
    }
    seeing.acknowledged = packet.sequence;
    return packet.sequence;
  }

  // A window below one packet would never be opened again: no ACK is under way. It counts as one. Policies without a
  // window have a large number, of which bytes must still fit into 64 bits.
  void steer(const Control& control, Flow& flow) const {
    flow.window = std::clamp(control.window, 1.0, 1e12) * flow.payload;
    const double gbps = control.gap > 0 ? frame_bytes_ * 8e-3 / control.gap : flow.line_gbps;
    flow.pace(std::min(gbps, flow.line_gbps), frame_.whole_ns);
  }

  std::shared_ptr<const Stamping> header_;
  bool looks_at_hops_;
  int frame_bytes_;
  SignalMask wanted_;
  std::shared_ptr<const OwnSignals> own_;

 private:
  // Where a header is all that tells of the network.
  struct ByHeader {
    const Seen& seen;
    const Seen& look(const remy_plus::Packet&) const { return seen; }
    static bool plain() { return false; }
    static double spare(const remy_plus::Packet&) { return 0; }
    static double one_way_delay(const remy_plus::Packet& packet, double) { return packet.arrives - packet.sent; }
  };
};

}  // namespace remy_plus::fabric
