// A fixed window of so many bandwidth-delay products at line rate, or no window at all: no congestion control. What a
// loss takes of it, if anything, stays away.
#pragma once

#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"

namespace remy_plus::fabric {

struct FixedParameters : Parameters {
  using Parameters::Parameters;

  double bdps = read("bdps", 1.0);  // bandwidth-delay products; 0: no window
};

class FixedWindow : public Transport {
 public:
  FixedWindow(const Frame& frame, const FixedParameters& parameters) : Transport(frame), bdps_(parameters.bdps) {
    if (bdps_ < 0) throw std::invalid_argument("bdps: must be 0 or above");
  }

  void reserve(std::size_t) override {}
  void start(std::uint32_t, Flow& flow) override { flow.window = bdps_ * line_window(flow); }
  void on_ack(std::uint32_t, Flow&, const Ack&) override {}

 protected:
  void cut(std::uint32_t number, Flow& flow, Time now) override {
    if (flow.window == 0) return Transport::cut(number, flow, now);
    flow.window = std::max(flow.window * frame_.loss_factor, static_cast<double>(flow.payload));
  }

 private:
  double bdps_;  // 0: no window
};

}  // namespace remy_plus::fabric
