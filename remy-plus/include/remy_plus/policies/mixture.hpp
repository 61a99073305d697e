// Two policies in one trial: some senders, the adopters, have one of them, all others the other one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "remy_plus/core/random.hpp"
#include "remy_plus/policies/control.hpp"
#include "remy_plus/signals/memory.hpp"

namespace remy_plus {

struct Population;  // policy.hpp

class Mixture {
 public:
  // Throws std::invalid_argument naming what is wrong.
  Mixture(Population adopters, Population others, double share);

  double share() const { return share_; }
  const Population& of(bool adopts) const;

  // As Control::adopts says.
  void start(Control& control, const Memory& memory, RuleHits& rule_hits) const;
  void feedback(Control& control, const Memory& memory, const Ack& ack, RuleHits& rule_hits) const;
  void unblock(Control& control, const Memory& memory, RuleHits& rule_hits) const;
  std::size_t rules() const;  // of the larger table; look-ups of both are counted together

  SignalMask wanted = 0;

 private:
  double share_;
  std::shared_ptr<const std::array<Population, 2>> populations_;  // others, adopters
};

// Of those from `first` to before `last`, whether each is chosen: a share of them, rounded up or down at random so that
// its mean is right. With a larger share the same ones are, and more.
inline std::vector<std::uint8_t> chosen(std::uint64_t seed, std::uint64_t network, Component component,
                                        std::size_t first, std::size_t last, double share) {
  const std::size_t n = last - first;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < n; ++i) order.emplace_back(Stream(seed, network, component, first + i).uniform(), i);
  std::sort(order.begin(), order.end());
  const double up = 1 - Stream(seed, network, component, first, 1).uniform();  // from 0 to below 1
  const auto count = std::min(n, static_cast<std::size_t>(std::floor(share * static_cast<double>(n) + up)));
  std::vector<std::uint8_t> found(n, 0);
  for (std::size_t i = 0; i < count; ++i) found[order[i].second] = 1;
  return found;
}

}  // namespace remy_plus
