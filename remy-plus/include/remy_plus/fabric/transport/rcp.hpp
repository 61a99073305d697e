// RCP (Dukkipati and McKeown, CCR 2006): a sender paces at the least fair rate of the ports on its way. The first
// packet asks for it alone, as a SYN does.
#pragma once

#include "remy_plus/fabric/transport.hpp"

namespace remy_plus::fabric {

class Rcp : public Transport {
 public:
  using Transport::Transport;

  Telemetry telemetry() const override { return Telemetry::fair_rate; }
  void reserve(std::size_t) override {}
  void start(std::uint32_t, Flow& flow) override { flow.window = flow.payload; }

  void on_ack(std::uint32_t, Flow& flow, const Ack& ack) override {
    flow.window = 0;
    flow.pace(bounded(flow, ack.fair_gbps), frame_.whole_ns);
  }
};

}  // namespace remy_plus::fabric
