// A trial that is played from outside: it stops where an agent has to decide, and goes on when it did.
//
// Every flow of the first `slots` senders is steered by the agent; the other senders follow a policy. Nothing else
// differs from a trial of the engine: the random streams, the order of events and the arithmetic are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "remy_plus/core/network.hpp"
#include "remy_plus/core/record.hpp"
#include "remy_plus/envs/reward.hpp"
#include "remy_plus/fifo/simulation.hpp"
#include "remy_plus/headers/stamping.hpp"
#include "remy_plus/policies/agent.hpp"
#include "remy_plus/policies/policy.hpp"

namespace remy_plus {

// What all episodes of a batch have in common.
struct EpisodeRules {
  Agent agent;
  Reward reward;
  std::optional<Policy> others;  // of the senders that the agent does not steer
  Model model;
  double duration = 10000;  // µs of a trial
  // How long a flow whose decision is due waits for the others of its episode, in base delays. 0: not at all, so that
  // one slot decides at a time, just when its acknowledgement arrives. More: the episode stops when every flow that is
  // on is due or the first has waited that long; until then flows go on as they did, and then all that are due decide
  // at once.
  double patience = 0;
  std::shared_ptr<const Stamping> header = nullptr;  // of all packets; null: they bring queue and link alone

  void check() const;
};

struct Trialled {
  std::shared_ptr<const Network> network;
  Ideal ideal;
  std::uint64_t seed;
};

enum class Ending : std::uint8_t { none, flow, trial };

// What a slot has to report of the time since its last row.
struct SlotReport {
  float reward = 0;
  float elapsed = 0;             // base delays from the slot's last action to now, or to the end of its flow
  Ending ending = Ending::none;  // of the flow that the slot's last action was for
  std::vector<float> last;       // what the agent saw at that end
};

class Episode {
 public:
  virtual ~Episode() = default;

  // Plays until some slots have to decide (true), or to the end of the trial.
  virtual bool advance() = 0;
  // Slots that have to decide, in order, and what they see.
  const std::vector<std::uint32_t>& ready() const { return ready_; }
  virtual const std::vector<float>& view(std::size_t slot) const = 0;
  // The decision of one of them.
  virtual void act(std::size_t slot, const float* action) = 0;

  virtual bool on(std::size_t slot) const = 0;
  virtual std::uint32_t flows_on() const = 0;  // of the slots
  virtual const Sender& sender(std::size_t slot) = 0;
  virtual double now() const = 0;
  const TrialTotals& totals() const { return totals_; }  // once the trial is over

 protected:
  std::vector<std::uint32_t> ready_;
  TrialTotals totals_;
};

// `reports` has one entry per slot; `rules`, `space` and `reports` are borrowed.
std::unique_ptr<Episode> new_episode(const EpisodeRules& rules, const Trialled& trial, Workspace& space,
                                     std::vector<SlotReport>& reports);

}  // namespace remy_plus
