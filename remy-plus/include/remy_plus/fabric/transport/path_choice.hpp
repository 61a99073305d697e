// How a transport's hosts choose the ways of packets by a law, and the header that tells them of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "remy_plus/fabric/spraying/known_ways.hpp"
#include "remy_plus/fabric/transport/signal_input.hpp"
#include "remy_plus/headers/stamping.hpp"
#include "remy_plus/policies/path_law.hpp"
#include "remy_plus/signals/seen.hpp"

namespace remy_plus::fabric {

struct PathChoice {
  PathLaw law;
  std::shared_ptr<const Stamping> header;  // null: packets have none
  std::vector<SignalInput> inputs;

  PathChoice(PathLaw of, std::shared_ptr<const Stamping> by) : law(std::move(of)), header(std::move(by)) {
    for (const Signal s : law.signals) inputs.push_back(SignalInput::of(s));
  }

  // What a packet's header says, to a sender with so fast a line.
  void see(const Seen& seen, double line_gbps, Time base_rtt, WayNews& news) const {
    const double rate = line_gbps * 125 / header->packet_bytes, base = static_cast<double>(base_rtt) / microsecond;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const SignalInput& input = inputs[i];
      if (!(seen.fresh & bit(input.carried))) continue;
      news.forms[i] = input.form_of(seen.values[input.carried], rate, base);
      news.known |= 1u << i;
    }
  }
};

}  // namespace remy_plus::fabric
