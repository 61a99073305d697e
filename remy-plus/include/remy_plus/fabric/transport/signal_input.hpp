// How laws for fabrics see a signal of the network: what carries it, and its form in units of the sender's line.
#pragma once

#include "remy_plus/policies/fabric_law.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus::fabric {

struct SignalInput {
  Signal carried;
  int form;
  int rates, rtts;  // the power of the line's rate (packets/µs) and of the base RTT (µs) that its unit has
  bool averaged;    // over a base RTT here, as HPCC averages what two stamps say of a link

  static SignalInput of(Signal signal) {
    const SignalRow& row = signal_table[signal];
    const FabricForm form = fabric_form(signal);
    const int power = power_of_time(signal);
    const bool queue = form == FabricForm::queueing && power == 0;  // packets
    const Signal carried = row.carried == signal_count ? signal : row.carried;
    return {carried, static_cast<int>(form), power < 0 || queue ? -1 : 0, power > 0 || queue ? -1 : 0,
            carried == link || carried == mark || row.smoothing == Smoothing::fast};
  }

  // With the line's rate in packets/µs and the base RTT in µs.
  double form_of(double value, double rate, double base) const {
    return lcca_fabric_form(form, value / (rates ? rate : 1) / (rtts ? base : 1));
  }
};

}  // namespace remy_plus::fabric
