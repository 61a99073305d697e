// Rounds of flows that wait for one another, as in a closed loop: the flows of one begin some time after another has
// ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

class Rounds {
 public:
  // Hosts hear of an end after `notice` at the earliest. Throws std::invalid_argument where a flow waits for a round
  // that does not come before its own, or that no flow belongs to.
  Rounds(const std::vector<FlowStart>& flows, Time notice) : flows_(flows), notice_(notice) {
    for (std::uint32_t i = 0; i < flows.size(); ++i) {
      require(i);
      if (flows[i].round >= 0) ++at(flows[i].round).left;
      if (flows[i].after >= 0) at(flows[i].after).waiting.push_back(i);
    }
    for (const Round& round : rounds_)
      if (round.left == 0) throw std::invalid_argument("rounds: every one needs a flow");
  }

  static bool wanted(const std::vector<FlowStart>& flows) {
    return std::any_of(flows.begin(), flows.end(), [](const FlowStart& flow) { return flow.after >= 0; });
  }

  void end(std::uint32_t flow, Time now) {
    if (flows_[flow].round < 0) return;
    Round& round = at(flows_[flow].round);
    round.ended = std::max(round.ended, now);
    if (--round.left == 0) complete_.push_back(flows_[flow].round);
  }

  // Hands over the flows that waited for rounds that have ended since the last call, and when they begin.
  template <class Begin>
  void release(const Begin& begin) {
    for (const int ended : complete_)
      for (const std::uint32_t flow : at(ended).waiting) begin(flow, start(flows_[flow], at(ended).ended));
    complete_.clear();
  }

 private:
  struct Round {
    std::uint32_t left = 0;  // flows that have not ended
    Time ended = 0;          // when the last one did
    std::vector<std::uint32_t> waiting;
  };

  void require(std::uint32_t number) const {
    const FlowStart& flow = flows_[number];
    const bool possible = flow.round < static_cast<int>(flows_.size()) && flow.off >= 0 && flow.off <= latest_start &&
                          (flow.after < 0 || flow.after < flow.round);
    if (!possible)
      throw std::invalid_argument("flow " + std::to_string(number) + ": must wait for a round before its own");
  }

  Round& at(int number) {
    if (rounds_.size() <= static_cast<std::size_t>(number)) rounds_.resize(static_cast<std::size_t>(number) + 1);
    return rounds_[static_cast<std::size_t>(number)];
  }

  Time start(const FlowStart& flow, Time ended) const {
    const Time off = std::max(flow.off, notice_);
    return std::max(flow.start, ended > never - off ? never : ended + off);
  }

  std::vector<FlowStart> flows_;
  Time notice_;
  std::vector<Round> rounds_;
  std::vector<int> complete_;
};

}  // namespace remy_plus::fabric
