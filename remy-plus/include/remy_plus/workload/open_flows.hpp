// Flows that arrive whatever the network does: at random, or as a trace has them.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/core/random.hpp"
#include "remy_plus/core/require.hpp"
#include "remy_plus/workload/sizes.hpp"

namespace remy_plus {

class OpenWorkload : public Workload {
 public:
  bool open() const override { return true; }
  // Nothing is resent in this model, so a flow that loses a packet would never complete.
  void check(const Network& network) const override {
    if (network.layout) throw std::invalid_argument("open flows need one bottleneck, not a layout");
    require(network.loss == 0, "loss", "0 with open flows", network.loss);
    require(network.buffer == never, "buffer", "inf with open flows", network.buffer);
    require(network.senders == 1, "senders", "1 with open flows (every flow is a sender)", network.senders);
  }
};

// Flows of a Poisson process, with sizes of a table.
class PoissonFlows : public OpenWorkload {
 public:
  PoissonFlows(double rate, SizeTable sizes) : rate_(rate), sizes_(std::move(sizes)) {
    require(std::isfinite(rate) && rate > 0, "arrival_rate", "> 0", rate);
  }
  std::unique_ptr<Traffic> begin(std::uint64_t seed, const Network& network, std::size_t,
                                 double duration) const override {
    return std::make_unique<Run>(*this, seed, network.id, duration);
  }

 private:
  class Run : public Traffic {
   public:
    Run(const PoissonFlows& flows, std::uint64_t seed, std::uint64_t network, double duration)
        : flows_(flows),
          seed_(seed),
          network_(network),
          duration_(duration),
          arrivals_(seed, network, Component::arrival, 0) {}
    double first(std::size_t sender) override { return next_on(sender, 0); }
    double next_on(std::size_t, double now) override {
      const double time = now + arrivals_.exponential(1 / flows_.rate_);
      return time <= duration_ ? time : never;
    }
    std::uint64_t length(std::size_t, std::uint32_t flow) override {
      return flows_.sizes_.draw(Stream(seed_, network_, Component::flow_length, 0, flow).uniform());
    }

   private:
    const PoissonFlows& flows_;
    std::uint64_t seed_, network_;
    double duration_;
    Stream arrivals_;
  };

  double rate_;  // flows/µs
  SizeTable sizes_;
};

// Flows given one by one: their times of arrival (µs, not falling) and sizes (packets).
class FlowTrace : public OpenWorkload {
 public:
  FlowTrace(std::vector<double> arrival, std::vector<std::uint64_t> size)
      : arrival_(std::move(arrival)), size_(std::move(size)) {
    if (arrival_.size() != size_.size()) throw std::invalid_argument("arrival and size must have one entry per flow");
    const auto possible = [](double t) { return t >= 0 && t < never; };
    if (!std::all_of(arrival_.begin(), arrival_.end(), possible) || !std::is_sorted(arrival_.begin(), arrival_.end()))
      throw std::invalid_argument("flows must arrive in order, from 0 µs on");
    if (!std::all_of(size_.begin(), size_.end(), [](std::uint64_t s) { return s >= 1 && s <= 1000000000000; }))
      throw std::invalid_argument("sizes must be between 1 and 1e12 packets");
  }
  std::unique_ptr<Traffic> begin(std::uint64_t, const Network&, std::size_t, double duration) const override {
    if (!arrival_.empty() && arrival_.back() > duration)
      throw std::invalid_argument("flows must arrive in order, between 0 and the duration");
    return std::make_unique<Run>(*this);
  }

 private:
  class Run : public Traffic {
   public:
    explicit Run(const FlowTrace& trace) : trace_(trace) {}
    double first(std::size_t sender) override { return next_on(sender, 0); }
    double next_on(std::size_t, double) override {
      return planned_ < trace_.arrival_.size() ? trace_.arrival_[planned_++] : never;
    }
    std::uint64_t length(std::size_t, std::uint32_t flow) override { return trace_.size_[flow]; }

   private:
    const FlowTrace& trace_;
    std::size_t planned_ = 0;
  };

  std::vector<double> arrival_;
  std::vector<std::uint64_t> size_;
};

}  // namespace remy_plus
