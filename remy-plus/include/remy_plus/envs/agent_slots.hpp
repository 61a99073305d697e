// Many environments at once, stepped by threads: the batch of a training environment. A slot is one sender that the
// agent steers; the flows that come on at it are its episodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "remy_plus/core/thread_pool.hpp"
#include "remy_plus/envs/episode.hpp"

namespace remy_plus {

// A network that environments may be played on.
struct TrainingNetwork {
  std::shared_ptr<const Network> network;
  double base_delay;  // µs of a packet and its acknowledgement that meet no queue
};

struct AgentSlotsOptions {
  EpisodeRules rules;
  std::vector<std::uint32_t> slots;  // per environment
  bool all_senders = true;           // an environment of n slots takes networks of n senders, else of n or more
  bool whole_rows = false;  // every slot has a row in every step, acting or not; else those that have to decide
  bool endless = true;      // an environment that is over goes on with its next trial; else it waits for start()
  bool keep_records = false;
  unsigned jobs = 1;
};

// One array per key for the whole batch; a slot's row is at its number. Rows of slots that had no row in the latest
// step are stale.
struct Rows {
  std::vector<float> observation;   // slots × inputs; −1 where no flow is on
  std::vector<float> last;          // slots × inputs, at the end of the flow, where one ended
  std::vector<float> reward;        // since the slot's previous row
  std::vector<float> elapsed;       // base delays that the reward is for: from the slot's last action on
  std::vector<std::uint8_t> ended;  // Ending of a flow since the slot's previous row
  std::vector<std::uint8_t> acting;
  std::vector<std::uint32_t> rivals;  // flows that are on in the slot's environment, its own too
  std::vector<std::uint32_t> ready;   // the slots that have to decide, in order
};

class AgentSlots {
 public:
  explicit AgentSlots(AgentSlotsOptions options);
  ~AgentSlots();

  // What environments are played on from their next trial on. Senders that the agent does not steer need a policy.
  void set_networks(std::vector<TrainingNetwork> networks);
  // All environments anew: environment g's trial t has a network and a seed that depend on (seed, g, t) alone.
  void reset(std::uint64_t seed);
  // One environment anew, with this trial.
  void start(std::size_t env, std::size_t training_network, std::uint64_t seed);
  // Leaves an environment's trial; it waits for start().
  void stop(std::size_t env);
  // Decides for the ready slots, and plays on. `actions` has a row per ready slot, or per slot with whole rows.
  void step(std::span<const float> actions);

  // --- each environment by itself: threads may play others in the meantime

  // Calls work(env) for all of them, by all threads.
  void each_environment(const std::function<void(std::size_t)>& work);
  // Its slots that have to decide, in order, counted from its first.
  const std::vector<std::uint32_t>& ready(std::size_t env) const { return environments_[env].episode->ready(); }
  // Decides for these, and plays on; within each_environment(). Actions are not checked.
  void step(std::size_t env, std::span<const float> actions);

  std::size_t networks() const { return networks_.size(); }
  std::size_t environments() const { return environments_.size(); }
  std::size_t slots() const { return rows_.reward.size(); }
  const Rows& rows() const { return rows_; }
  const AgentSlotsOptions& options() const { return options_; }
  std::uint32_t first_slot(std::size_t env) const { return first_[env]; }

  // Per environment: the trial that is played, how many were begun, packets delivered in those that came to their end,
  // and whether it is over.
  std::vector<std::uint32_t> training_network;
  std::vector<std::uint64_t> trial_seed;
  std::vector<std::uint64_t> trials;
  std::vector<std::uint64_t> packets;
  std::vector<std::uint8_t> over;

  // A slot as the engine has it.
  const Sender& sender(std::size_t slot) const;
  double now(std::size_t env) const;
  // The latest trial that came to its end, with keep_records.
  const std::vector<Flow>& flows(std::size_t env) const { return environments_[env].flows; }
  const TrialTotals& totals(std::size_t env) const { return environments_[env].totals; }

 private:
  struct Environment {
    Workspace space;
    std::unique_ptr<Episode> episode;
    std::vector<SlotReport> reports;
    std::vector<std::uint32_t> candidates;  // networks
    std::vector<Flow> flows;
    TrialTotals totals;
    std::size_t first_action = 0;  // row
  };

  void begin(std::size_t env, std::size_t training_network, std::uint64_t seed);
  void begin_next(std::size_t env);
  void play(std::size_t env);
  void finish(std::size_t env);
  // `actions` begin at those of the environment: of its ready slots, or with whole rows of all.
  void act(std::size_t env, std::span<const float> actions);
  void report(std::size_t env);
  void report_slot(std::size_t env, std::size_t slot);
  void gather();
  void check(std::span<const float> actions) const;
  bool fits(const TrainingNetwork& training_network, std::uint32_t slots) const;
  void share_out(const std::function<void(std::size_t)>& work);
  std::size_t env_of(std::size_t slot) const;

  AgentSlotsOptions options_;
  std::vector<TrainingNetwork> networks_;
  std::vector<Environment> environments_;
  std::vector<std::uint32_t> first_;  // environments + 1, slots
  std::uint64_t seed_ = 0;
  Rows rows_;
  std::unique_ptr<ThreadPool> pool_;
  int owner_ = 0;  // process that the pool's threads live in
};

}  // namespace remy_plus
