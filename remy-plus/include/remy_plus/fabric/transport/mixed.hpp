// Hosts of two transports in one run: all flows of a host have the same one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "remy_plus/fabric/transport.hpp"

namespace remy_plus::fabric {

class Mixed final : public Transport {
 public:
  // `adopts`: per host, whether it has `adopted` and not `other`. Throws std::invalid_argument for transports that do
  // not run side by side.
  Mixed(const Frame& frame, std::unique_ptr<Transport> adopted, std::unique_ptr<Transport> other,
        std::vector<std::uint8_t> adopts)
      : Transport(frame), two_{std::move(other), std::move(adopted)}, adopts_(std::move(adopts)) {
    for (const auto& each : two_)
      if (each->hosts() != Hosts::windowed || each->telemetry() == Telemetry::fair_rate)
        throw std::invalid_argument(
            "two transports run side by side whose hosts and switches are of one kind: not homa, rcp and those of "
            "Ultra Ethernet");
  }

  const Transport& of(std::uint32_t number) const override { return *two_[own_[number]]; }
  std::vector<const Transport*> parts() const override { return {two_[0].get(), two_[1].get()}; }

  Told told(std::uint32_t number) const override { return of(number).told(number); }
  void start(std::uint32_t number, Flow& flow) override { at(number).start(number, flow); }
  void go_on(std::uint32_t number, Flow& flow, std::uint32_t before) override {
    at(number).go_on(number, flow, before);
  }
  void on_ack(std::uint32_t number, Flow& flow, const Ack& ack) override { at(number).on_ack(number, flow, ack); }
  void on_timer(std::uint32_t number, Flow& flow, Time now) override { at(number).on_timer(number, flow, now); }
  void lose(std::uint32_t number, Flow& flow, bool timeout, Time now) override {
    at(number).lose(number, flow, timeout, now);
  }
  bool hears_answers() const override { return two_[0]->hears_answers() || two_[1]->hears_answers(); }
  void on_answer(std::uint32_t number, std::uint8_t entropy, bool nack, Echo echo, Time now) override {
    if (at(number).hears_answers()) at(number).on_answer(number, entropy, nack, echo, now);
  }
  void reserve(std::size_t flows) override {
    for (const auto& each : two_) each->reserve(flows);
  }
  bool divide(const std::vector<std::uint32_t>& part) override {
    return std::ranges::all_of(two_, [&](const auto& each) { return each->divide(part); });
  }
  void plan(std::span<const Flow> flows, const Settings& settings) override {
    for (const Flow& flow : flows) own_.push_back(adopts_.at(flow.src));
    for (const auto& each : two_) each->plan(flows, settings);
  }

 private:
  Transport& at(std::uint32_t number) { return *two_[own_[number]]; }

  std::unique_ptr<Transport> two_[2];
  std::vector<std::uint8_t> adopts_;  // per host
  std::vector<std::uint8_t> own_;     // per flow
};

}  // namespace remy_plus::fabric
