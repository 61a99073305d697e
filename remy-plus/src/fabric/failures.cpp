#include "remy_plus/fabric/events/failures.hpp"

#include <stdexcept>
#include <string>

#include "remy_plus/fabric/flow.hpp"

namespace remy_plus::fabric {

namespace {

void require_change(const Change& change, int ports) {
  const auto refuse = [&](const char* text) {
    throw std::invalid_argument("event " + std::to_string(change.event) + ": " + text);
  };
  if (change.at < 0 || change.at > latest_start) refuse("must begin within 10^15 ns");
  if (change.port < 0 || change.port >= ports) refuse("needs a link that there is");
  if (change.gbps != 0 && change.gbps != as_built && !(change.gbps >= 1e-6 && change.gbps <= 1e9))
    refuse("a link needs 10^-6 to 10^9 Gb/s");
}

}  // namespace

Failures::Failures(const Events& events, const Wiring& wiring)
    : wiring_(wiring),
      events_(events),
      last_(static_cast<std::size_t>(wiring.ports())),
      by_(static_cast<std::size_t>(wiring.ports()), -1),
      known_down_(static_cast<std::size_t>(wiring.ports()), 0) {
  if (events.convergence < 0 || events.convergence > latest_start)
    throw std::invalid_argument("convergence: must be within 10^15 ns");
  Time last = 0;
  for (const Change& change : events.changes) {
    require_change(change, wiring.ports());
    if (change.at < last) throw std::invalid_argument("changes of links must rise by their times");
    last = change.at;
    if (change.event < 0 || change.event > static_cast<int>(begins_.size()))
      throw std::invalid_argument("events must be numbered by their begins");
    if (change.event == static_cast<int>(begins_.size())) begins_.push_back(change.at);
  }
  lost_.resize(begins_.size());
}

Time Failures::next_notice() const {
  return noticed_ < events_.changes.size() ? events_.changes[noticed_].at + events_.convergence : never;
}

void Failures::make() {
  const Change& made = change();
  for (const int end : {made.port, wiring_.end(made.port).peer_port}) {
    by_[static_cast<std::size_t>(end)] = made.gbps == 0 ? made.event : -1;
    last_[static_cast<std::size_t>(end)] = changed_;
  }
  ++changed_;
}

bool Failures::notice(Time now) {
  bool moved = false;
  for (; next_notice() <= now; ++noticed_) {
    const Change& heard = events_.changes[noticed_];
    if (last_[static_cast<std::size_t>(heard.port)] != noticed_) continue;
    const bool failed = heard.gbps == 0;
    for (const int end : {heard.port, wiring_.end(heard.port).peer_port}) {
      auto& known = known_down_[static_cast<std::size_t>(end)];
      moved |= failed != (known != 0);
      known = failed;
    }
    if (failed) noticed_event_ = heard.event;
  }
  return moved;
}

}  // namespace remy_plus::fabric
