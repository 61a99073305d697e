// The policy that is a law for fabrics (fabric_law.h). The fabric runs it (fabric/transport/by_law.hpp): senders of the
// one-bottleneck engine have no line rate, base RTT or bytes left.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "remy_plus/policies/control.hpp"
#include "remy_plus/policies/fabric_law.h"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus {

struct FabricLaw {
  std::shared_ptr<const lcca_fabric_law> law;
  std::vector<Signal> signals;
  SignalMask wanted = 0;

  FabricLaw(const lcca_fabric_law& of, std::vector<Signal> seen)
      : law(std::make_shared<const lcca_fabric_law>(of)), signals(std::move(seen)) {
    if (signals.size() > lcca_fabric_most_signals || of.signals != static_cast<int>(signals.size()))
      throw std::invalid_argument("a law for fabrics has at most 8 signals, and coefficients for each");
    for (const Signal s : signals) wanted |= bit(s);
  }

  void start(Control&, const Memory&, RuleHits&) const { throw std::logic_error("a law for fabrics runs on fabrics"); }
  void feedback(Control&, const Memory&, const Ack&, RuleHits&) const {}
  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }
};

// Which of lcca_fabric_form's a signal has.
enum class FabricForm : std::uint8_t { queueing, rate, share, flows, count };

inline FabricForm fabric_form(Signal signal) {
  const SignalRow& row = signal_table[signal];
  if (signal == flows || signal == receiver_flows) return FabricForm::flows;
  if (row.form == Form::utilisation || row.unit == "packets/µs") return FabricForm::rate;
  if (row.form == Form::rare || row.form == Form::even) return FabricForm::share;
  return row.unit.empty() || row.form == Form::ratio ? FabricForm::count : FabricForm::queueing;
}

}  // namespace remy_plus
