// Rollouts of a network that decides with noise: what a learner by policy gradients needs of every decision. Each
// environment plays by itself, so that threads change nothing, and neither does how a rollout is cut into calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "remy_plus/core/random.hpp"
#include "remy_plus/envs/agent_slots.hpp"
#include "remy_plus/policies/mlp.hpp"

namespace remy_plus {

// Decisions with their outcomes, each environment's in their order.
struct Experience {
  std::vector<float> seen;             // rows × width
  std::vector<float> action;           // rows × numbers
  std::vector<float> log_probability;  // of the action when it was decided
  std::vector<float> reward;           // until the flow's next decision, or its end
  std::vector<float> elapsed;          // that time, in base delays
  std::vector<float> common;  // what it would be at the mean rate of all flows of its network; its own at a flow's end
  std::vector<std::uint8_t> ended;
  std::vector<std::int32_t> slot, network;
  std::vector<std::int32_t> next;      // row of the flow's next decision; below 0: it has none here
  std::vector<float> after;            // of these rows alone, × width: what was seen then
  std::vector<std::int32_t> after_of;  // which they are

  std::size_t rows() const { return reward.size(); }
  // Keeps its memory.
  void clear() {
    for (auto* column : {&seen, &action, &log_probability, &reward, &elapsed, &common, &after}) column->clear();
    for (auto* column : {&slot, &network, &next, &after_of}) column->clear();
    ended.clear();
  }
};

class Rollouts {
 public:
  // `privileges` are numbers of each network. Where there are any, what is seen is the flow's view; then the network as
  // a whole: log2(1 + flows that are on), and the mean of what they saw last; then its privileges. Else the view alone.
  // The slots are reset, and without whole rows; after another reset they need other rollouts.
  Rollouts(AgentSlots& slots, std::vector<float> privileges, std::uint64_t seed);

  std::size_t width() const { return width_; }
  std::size_t numbers() const { return numbers_; }
  // What was played so far is no more; decisions whose outcome is not known yet wait for it.
  void begin();
  // Plays on until there are so many rows since begin(), or a few more where several flows decide at once. Actions are
  // the network's with normal noise of these deviations, one for each number; of a table without any, one entry by
  // chance. Throws std::invalid_argument for what does not fit the slots, std::overflow_error for actions that are no
  // finite numbers; after that the rollouts are over.
  void play(std::uint64_t rows, const Mlp& actor, std::span<const float> deviations);
  // All rows since begin(); or those of the latest play() alone, without `next` and `after`.
  Experience experience(bool latest) const;

 private:
  struct alignas(64) Environment {
    Experience rows;
    std::size_t played = 0;  // rows before the latest play()
    Stream random;
    std::optional<double> spare;                  // of a pair of normal numbers
    double rewards = 0, time = 0;                 // of all flows so far
    std::vector<double> sum;                      // of what slots saw last
    double many = 0;                              // slots that are in it
    std::vector<std::uint32_t> ready;             // slots
    std::vector<float> scratch, chances, action;  // storage
  };
  // Of a slot: its decision whose outcome is not known yet.
  struct Waiting {
    bool any = false;
    float log_probability = 0;
    double rewards = 0, time = 0;  // of its environment until then
    std::int32_t network = 0, previous = -1;
  };
  struct Actor {
    const Mlp& policy;
    std::span<const float> deviations;
  };

  void require(const Actor& actor) const;
  void play(std::size_t env, std::size_t rows, const Actor& actor);
  void take_outcomes(std::size_t env);
  void see(std::size_t env);
  void decide(std::size_t env, const Actor& actor);
  double normal(Environment& environment) const;
  float act(Environment& environment, const Actor& actor, const float* view, float* action) const;
  std::span<float> seen(std::size_t slot) { return {seen_.data() + slot * width_, width_}; }

  AgentSlots& slots_;
  std::vector<float> privileges_;
  std::size_t inputs_, numbers_, own_, width_;  // own_: privileges of a network
  std::vector<Environment> environments_;
  std::vector<Waiting> waiting_;  // (slots,)
  std::vector<float> seen_;       // slots × width, as it was decided
  std::vector<float> action_;     // slots × numbers
  bool failed_ = false;
};

// Advantages: each row's surprise, and the discounted one of its flow's next row on top of it.
std::vector<float> advantages(std::span<const float> surprise, std::span<const float> goes_on,
                              std::span<const std::int32_t> next);

}  // namespace remy_plus
