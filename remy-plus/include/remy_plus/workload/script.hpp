// Senders that come and go at given times.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "remy_plus/core/workload.hpp"

namespace remy_plus {

// Switch times (on, off, on, …) per sender, µs, none before the one that it follows; senders beyond the last stay off.
class Script : public Workload {
 public:
  explicit Script(std::vector<std::vector<double>> times) : times_(std::move(times)) {
    for (std::size_t sender = 0; sender < times_.size(); ++sender) {
      double before = 0;
      for (const double time : times_[sender]) {
        if (!(time >= before))
          throw std::invalid_argument("script: sender " + std::to_string(sender) + " switches at " +
                                      std::to_string(time) + " µs, which must not be before " + std::to_string(before));
        before = time;
      }
    }
  }
  std::unique_ptr<Traffic> begin(std::uint64_t, const Network&, std::size_t senders, double) const override {
    return std::make_unique<Run>(times_, senders);
  }

 private:
  class Run : public Traffic {
   public:
    Run(const std::vector<std::vector<double>>& times, std::size_t senders) : times_(times), turn_(senders) {}
    double first(std::size_t sender) override { return next(sender); }
    double next_on(std::size_t sender, double) override { return next(sender); }
    double next_off(std::size_t sender, double) override { return next(sender); }

   private:
    double next(std::size_t i) {
      return i < times_.size() && turn_[i] < times_[i].size() ? times_[i][turn_[i]++] : never;
    }
    const std::vector<std::vector<double>>& times_;
    std::vector<std::size_t> turn_;
  };

  std::vector<std::vector<double>> times_;
};

}  // namespace remy_plus
