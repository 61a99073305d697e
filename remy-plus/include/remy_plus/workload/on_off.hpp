// Senders that come and go by themselves: off for exponential times, on for exponential times or lengths.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/core/random.hpp"
#include "remy_plus/core/require.hpp"

namespace remy_plus {

// One stream per sender.
class SenderStreams {
 public:
  SenderStreams(std::uint64_t seed, const Network& network, Component component, std::size_t senders) {
    for (std::size_t i = 0; i < senders; ++i) streams_.emplace_back(seed, network.id, component, i);
  }
  Stream& operator[](std::size_t sender) { return streams_[sender]; }

 private:
  std::vector<Stream> streams_;
};

class OnOff : public Workload {
 public:
  OnOff(double mean_on, double mean_off) : mean_on_(mean_on), mean_off_(mean_off) {
    require(std::isfinite(mean_on) && mean_on > 0, "mean_on", "> 0", mean_on);
    require(std::isfinite(mean_off) && mean_off >= 0, "mean_off", ">= 0", mean_off);
  }

 protected:
  class OnOffTraffic : public Traffic {
   public:
    OnOffTraffic(const OnOff& means, Component on, std::uint64_t seed, const Network& network, std::size_t senders)
        : mean_on_(means.mean_on_),
          mean_off_(means.mean_off_),
          first_(seed, network, Component::first_on, senders),
          on_(seed, network, on, senders),
          off_(seed, network, Component::off_time, senders) {}
    double first(std::size_t sender) override { return first_[sender].exponential(mean_off_); }
    double next_on(std::size_t sender, double now) override { return now + off_[sender].exponential(mean_off_); }

   protected:
    double draw_on(std::size_t sender) { return on_[sender].exponential(mean_on_); }

   private:
    double mean_on_, mean_off_;
    SenderStreams first_, on_, off_;
  };

  double mean_on_;   // µs or packets
  double mean_off_;  // µs
};

// On for a time.
class TimeSwitched : public OnOff {
 public:
  using OnOff::OnOff;
  std::unique_ptr<Traffic> begin(std::uint64_t seed, const Network& network, std::size_t senders,
                                 double) const override {
    return std::make_unique<Run>(*this, Component::on_time, seed, network, senders);
  }

 private:
  struct Run : OnOffTraffic {
    using OnOffTraffic::OnOffTraffic;
    double next_off(std::size_t sender, double now) override { return now + draw_on(sender); }
  };
};

// On for a number of packets.
class ByteSwitched : public OnOff {
 public:
  ByteSwitched(double mean_on, double mean_off) : OnOff(mean_on, mean_off) {
    // Flows of one packet would follow each other without end at one instant.
    require(mean_off > 0, "mean_off", "> 0 when byte-switched", mean_off);
  }
  std::unique_ptr<Traffic> begin(std::uint64_t seed, const Network& network, std::size_t senders,
                                 double) const override {
    return std::make_unique<Run>(*this, Component::flow_length, seed, network, senders);
  }

 private:
  struct Run : OnOffTraffic {
    using OnOffTraffic::OnOffTraffic;
    std::uint64_t length(std::size_t sender, std::uint32_t) override {
      const double draw = std::min(draw_on(sender), 1e15);
      return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(draw)), 1);
    }
  };
};

}  // namespace remy_plus
