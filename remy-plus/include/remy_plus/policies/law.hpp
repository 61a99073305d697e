// The policy that is a control law (law.h): what it needs of the engine.
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "remy_plus/policies/control.hpp"
#include "remy_plus/policies/law.h"
#include "remy_plus/policies/pacing.hpp"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus {

class Law {
 public:
  // Features of `signals` follow those that every law has. `rate` is what hops grant a flow, over / under as of a
  // pacing unit; both signal_count for none. `own_signals` may be null. Throws std::invalid_argument naming what is
  // wrong.
  Law(const lcca_law& law, std::vector<Signal> signals, PacingUnit rate,
      std::shared_ptr<const OwnSignals> own_signals = nullptr)
      : wanted(whole_history | rate.wanted() | (own_signals ? own_signals->wanted() : 0)),
        own(std::move(own_signals)),
        law_(prepared(law)),
        signals_(std::move(signals)),
        rate_(rate) {
    if (signals_.size() > static_cast<std::size_t>(+lcca_most_features - +lcca_features))
      throw std::invalid_argument("a law of so many signals");
    if (law.features != 0 && law.features != static_cast<int>(lcca_features + signals_.size()))
      throw std::invalid_argument("a law has three coefficients for each feature");
    for (const Signal s : signals_) wanted |= bit(s);
  }

  const lcca_law& law() const { return *law_; }
  const std::vector<Signal>& signals() const { return signals_; }
  const PacingUnit& rate() const { return rate_; }

  void start(Control& control, const Memory&, RuleHits&) const {
    auto mind = std::make_unique<FlowMind>();
    begin(control, mind->flow);
    control.mind = std::move(mind);
  }

  [[gnu::always_inline]] void feedback(Control& control, const Memory& memory, const Ack& ack, RuleHits&) const {
    if (ack.current) acknowledged(control, static_cast<FlowMind&>(*control.mind).flow, memory, ack.now);
  }

  // For who keeps the flow's state itself: the flow begins, or an ACK of it has come.
  void begin(Control& control, lcca_flow& flow) const {
    lcca_begin(law_.get(), &flow);
    steer(control, flow);
  }

  [[gnu::always_inline]] void acknowledged(Control& control, lcca_flow& flow, const Memory& memory, double now) const {
    std::array<double, lcca_most_features> features;
    if (law_->features > 0 && lcca_due(&flow, now))
      for (std::size_t i = 0; i < signals_.size(); ++i) features[i] = form_of(signals_[i], memory, own.get());
    lcca_ack(law_.get(), &flow, &memory.history(), features.data(), rate(memory), now);
    steer(control, flow);
  }

  // A signal as a feature.
  static double form_of(Signal signal, const Memory& memory, const OwnSignals* own = nullptr) {
    const SignalRow& row = form_row(signal, own);
    return lcca_form(static_cast<int>(row.form), row.scale.unit, row.scale.divisor, memory.signals()[signal]);
  }

  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }

  static constexpr bool reads_wanted_alone = true;
  SignalMask wanted;
  std::shared_ptr<const OwnSignals> own;

 private:
  static std::shared_ptr<const lcca_law> prepared(lcca_law law) {
    lcca_prepare(&law);
    return std::make_shared<const lcca_law>(law);
  }

  struct FlowMind final : Mind {
    lcca_flow flow;
  };

  // What hops grant the flow, packets/µs; 0 if that is not known yet. 1 over a number of flows: of the rate of the
  // closest ACKs.
  [[gnu::always_inline]] double rate(const Memory& memory) const {
    if (rate_.absolute()) return 0;
    const double value = rate_.value(memory.signals());
    if (rate_.over != signal_count) return value;
    const double gap = memory.history().smallest_gap;
    return gap > 0 ? value / gap : 0;
  }

  static void steer(Control& control, const lcca_flow& flow) {
    control.window = flow.window;
    control.gap = flow.gap;
  }

  std::shared_ptr<const lcca_law> law_;
  std::vector<Signal> signals_;
  PacingUnit rate_;
};

}  // namespace remy_plus
