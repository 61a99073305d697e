// Policies: what turns the signals of a sender into a window and a pacing gap.
//
// A policy is a value shared by all senders and threads; what it remembers of one flow is in Control. A new policy is
// one struct with the members below, added to the variant at the end.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/headers/stamping.hpp"
#include "remy_plus/policies/control.hpp"
#include "remy_plus/policies/explicit_rate.hpp"
#include "remy_plus/policies/fabric_law.hpp"
#include "remy_plus/policies/foreign.hpp"
#include "remy_plus/policies/law.hpp"
#include "remy_plus/policies/mixture.hpp"
#include "remy_plus/policies/mlp.hpp"
#include "remy_plus/policies/pacing.hpp"
#include "remy_plus/policies/path_law.hpp"
#include "remy_plus/policies/rule_tree.hpp"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus {

// A real window is at least one packet: below that no ACK would come to move it.
inline constexpr double least_real_window = 1;

struct RuleTable {
  static constexpr bool reads_wanted_alone = true;  // it looks at no signal but those in `wanted`
  std::shared_ptr<const RuleTree> tree;
  std::vector<Action> actions;
  PacingUnit pacing;
  SignalMask wanted = 0;
  bool real = false;  // windows are real numbers; R+ and Remy round them down
  std::shared_ptr<const OwnSignals> own = nullptr;

  void start(Control& control, const Memory& memory, RuleHits& rule_hits) const { apply(control, memory, rule_hits); }
  [[gnu::always_inline]] void feedback(Control& control, const Memory& memory, const Ack&, RuleHits& rule_hits) const {
    apply(control, memory, rule_hits);
  }
  // Remy looks the rule up again where a window of 0 would block a send; R+ does not.
  [[gnu::always_inline]] void unblock(Control& control, const Memory& memory, RuleHits& rule_hits) const {
    if (pacing.absolute() && control.window == 0) apply(control, memory, rule_hits);
  }
  std::size_t rules() const { return actions.size(); }
  std::uint32_t rule(const Memory& memory) const { return tree->find(memory.signals()); }

 private:
  [[gnu::always_inline]] void apply(Control& control, const Memory& memory, RuleHits& rule_hits) const {
    const std::uint32_t at = control.rule = tree->find(memory.signals(), control.rule);
    ++rule_hits[at];
    const Action& action = actions[at];
    const double window = control.window * action.multiple + action.increment;
    control.window = real ? std::clamp(window, least_real_window, largest_window)
                          : std::clamp(static_cast<double>(static_cast<std::int64_t>(window)), 0.0, largest_window);
    control.gap = action.pacing * pacing.value(memory.signals());
  }
};

struct FixedWindow {
  double window;
  SignalMask wanted = 0;
  void start(Control& control, const Memory&, RuleHits&) const { control.window = window; }
  void feedback(Control&, const Memory&, const Ack&, RuleHits&) const {}
  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }
};

struct FixedRate {
  double gap;  // µs
  SignalMask wanted = 0;
  void start(Control& control, const Memory&, RuleHits&) const {
    control.window = 1e18;
    control.gap = gap;
  }
  void feedback(Control&, const Memory&, const Ack&, RuleHits&) const {}
  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }
};

// Additive increase, multiplicative decrease with slow start: NewReno's window (RFC 6582) without retransmission.
struct Aimd {
  double increase;  // packets per RTT
  double decrease;  // the window's factor at a loss
  double initial;   // packets
  SignalMask wanted = 0;

  void start(Control& control, const Memory&, RuleHits&) const {
    control = {};
    control.window = initial;
    control.threshold = largest_window;
  }
  void feedback(Control& control, const Memory&, const Ack& ack, RuleHits&) const {
    if (!ack.current) return;
    if (control.highest < 0) control.highest = ack.sequence - 1;
    const bool gap = ack.sequence > control.highest + 1;
    control.highest = std::max(control.highest, ack.sequence);
    if (gap && ack.sequence > control.recover) {  // at most one decrease per window
      control.threshold = std::max(control.window * decrease, 2.0);
      control.window = control.threshold;
      control.recover = ack.sent;
    } else if (ack.sequence >= control.recover) {  // no growth while the old window is under way
      control.window += control.window < control.threshold ? 1 : increase / control.window;
      control.window = std::min(control.window, largest_window);
    }
  }
  void unblock(Control&, const Memory&, RuleHits&) const {}
  std::size_t rules() const { return 0; }
};

using Policy = std::variant<RuleTable, FixedWindow, FixedRate, Aimd, ExplicitRate, Xcp, Mlp, Law, FabricLaw, PathLaw,
                            Foreign, Mixture>;

// What senders of one kind have in a mixture.
struct Population {
  Policy policy;
  std::shared_ptr<const Stamping> header;  // of its packets; null: none
  std::shared_ptr<const OwnSignals> own;   // signals of the policy's; null: none
};

inline Mixture::Mixture(Population adopters, Population others, double share)
    : share_(share),
      populations_(std::make_shared<const std::array<Population, 2>>(
          std::array<Population, 2>{std::move(others), std::move(adopters)})) {
  if (!(share >= 0 && share <= 1)) throw std::invalid_argument("the share of a mixture must be from 0 to 1");
  for (const Population& each : *populations_) {
    if (std::holds_alternative<Mixture>(each.policy)) throw std::invalid_argument("a mixture of mixtures");
    wanted |= std::visit([](const auto& p) { return p.wanted; }, each.policy);
  }
}

inline const Population& Mixture::of(bool adopts) const { return (*populations_)[adopts]; }

inline void Mixture::start(Control& control, const Memory& memory, RuleHits& rule_hits) const {
  const bool adopts = control.adopts;
  std::visit([&](const auto& p) { p.start(control, memory, rule_hits); }, of(adopts).policy);
  control.adopts = adopts;
}
inline void Mixture::feedback(Control& control, const Memory& memory, const Ack& ack, RuleHits& rule_hits) const {
  std::visit([&](const auto& p) { p.feedback(control, memory, ack, rule_hits); }, of(control.adopts).policy);
}
inline void Mixture::unblock(Control& control, const Memory& memory, RuleHits& rule_hits) const {
  std::visit([&](const auto& p) { p.unblock(control, memory, rule_hits); }, of(control.adopts).policy);
}
inline std::size_t Mixture::rules() const {
  const auto rules = [this](bool adopts) {
    return std::visit([](const auto& p) { return p.rules(); }, of(adopts).policy);
  };
  return std::max(rules(false), rules(true));
}

// Of the senders of a trial: the measured ones, and apart from them those that only load the links.
inline std::vector<std::uint8_t> adopters_of(const Mixture& mixture, const Network& network, std::uint64_t seed) {
  const auto measured = static_cast<std::size_t>(network.senders);
  const auto those = [&](std::size_t first, std::size_t last) {
    return chosen(seed, network.id, Component::adoption, first, last, mixture.share());
  };
  std::vector<std::uint8_t> found = those(0, measured);
  const std::vector<std::uint8_t> others = those(measured, network.all_senders());
  found.insert(found.end(), others.begin(), others.end());
  return found;
}

inline Stampings stampings_of(const Mixture& mixture, const Network& network, std::uint64_t seed) {
  Stampings found;
  for (const bool adopts : adopters_of(mixture, network, seed)) found.add(mixture.of(adopts).header.get());
  return found;
}

// What one trial runs. Trials share a policy, but for one that is somebody else's: it may remember what it met.
template <class P>
const P& of_trial(const P& policy) {
  return policy;
}
inline Foreign of_trial(const Foreign& policy) { return {policy.control->fresh(), policy.late, policy.wanted}; }
Mixture of_trial(const Mixture& policy);
inline Policy of_trial(const Policy& policy) {
  return std::visit([](const auto& p) { return Policy(of_trial(p)); }, policy);
}
inline Mixture of_trial(const Mixture& policy) {
  const auto fresh = [&](bool adopts) {
    const Population& own = policy.of(adopts);
    return Population{of_trial(own.policy), own.header, own.own};
  };
  return {fresh(true), fresh(false), policy.share()};
}

// Whether it is called in the thread that asked for a trial alone: others would wait for Python's lock.
inline bool in_calling_thread(const Policy& policy) {
  if (const auto* mixture = std::get_if<Mixture>(&policy))
    return in_calling_thread(mixture->of(false).policy) || in_calling_thread(mixture->of(true).policy);
  return std::holds_alternative<Foreign>(policy);
}

}  // namespace remy_plus
