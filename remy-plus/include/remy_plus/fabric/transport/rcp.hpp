// RCP (Dukkipati and McKeown, CCR 2006): a sender paces at the least fair rate of the ports on its way. The first
// packet asks for it alone, as a SYN does, unless a share of the line's rate is used until its answer is there.
#pragma once

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"

namespace remy_plus::fabric {

struct RcpParameters : Parameters {
  using Parameters::Parameters;

  double first = read("first", 0.0);  // of the line's rate; 0: one packet
};

class Rcp : public Transport {
 public:
  Rcp(const Frame& frame, const RcpParameters& parameters) : Transport(frame), first_(parameters.first) {}

  Telemetry telemetry() const override { return Telemetry::fair_rate; }
  void reserve(std::size_t) override {}
  void start(std::uint32_t, Flow& flow) override {
    if (first_ > 0)
      set_rate(flow, first_ * flow.line_gbps);
    else
      flow.window = flow.payload;
  }

  void on_ack(std::uint32_t, Flow& flow, const Ack& ack) override {
    flow.window = 0;
    flow.pace(bounded(flow, ack.fair_gbps), frame_.whole_ns);
  }

 private:
  double first_;  // of the line's rate; 0: one packet
};

}  // namespace remy_plus::fabric
