// Many games at once, stepped by threads: the batch of a training environment. A lane is one sender that the agent
// steers; the flows that come on at it are its episodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "remy_plus/core/thread_pool.hpp"
#include "remy_plus/envs/episode.hpp"

namespace remy_plus {

// A network that games may be played on.
struct Course {
  std::shared_ptr<const Network> network;
  double base_delay;  // µs of a packet and its acknowledgement that meet no queue
};

struct LanesOptions {
  GameRules rules;
  std::vector<std::uint32_t> lanes;  // per game
  bool all_senders = true;           // a game of n lanes takes networks of n senders, else of n or more
  bool whole_rows = false;  // every lane has a row in every step, acting or not; else those that have to decide
  bool endless = true;      // a game that is over goes on with its next trial; else it waits for start()
  bool keep_records = false;
  unsigned jobs = 1;
};

// One array per key for the whole batch; a lane's row is at its number. Rows of lanes that had no row in the latest
// step are stale.
struct Rows {
  std::vector<float> observation;   // lanes × inputs; −1 where no flow is on
  std::vector<float> last;          // lanes × inputs, at the end of the flow, where one ended
  std::vector<float> reward;        // since the lane's previous row
  std::vector<float> elapsed;       // base delays that the reward is for: from the lane's last action on
  std::vector<std::uint8_t> ended;  // Ending of a flow since the lane's previous row
  std::vector<std::uint8_t> acting;
  std::vector<std::uint32_t> rivals;  // flows that are on in the lane's game, its own too
  std::vector<std::uint32_t> ready;   // the lanes that have to decide, in order
};

class Lanes {
 public:
  explicit Lanes(LanesOptions options);
  ~Lanes();

  // What games are played on from their next trial on. Senders that the agent does not steer need a policy.
  void set_courses(std::vector<Course> courses);
  // All games anew: game g's trial t has a network and a seed that depend on (seed, g, t) alone.
  void reset(std::uint64_t seed);
  // One game anew, with this trial.
  void start(std::size_t game, std::size_t course, std::uint64_t seed);
  // Leaves a game's trial; it waits for start().
  void stop(std::size_t game);
  // Decides for the ready lanes, and plays on. `actions` has a row per ready lane, or per lane with whole rows.
  void step(std::span<const float> actions);

  std::size_t games() const { return seats_.size(); }
  std::size_t lanes() const { return rows_.reward.size(); }
  const Rows& rows() const { return rows_; }
  const LanesOptions& options() const { return options_; }
  std::uint32_t first_lane(std::size_t game) const { return first_[game]; }

  // Per game: the trial that is played, how many were begun, packets delivered in those that came to their end, and
  // whether it is over.
  std::vector<std::uint32_t> course;
  std::vector<std::uint64_t> trial_seed;
  std::vector<std::uint64_t> trials;
  std::vector<std::uint64_t> packets;
  std::vector<std::uint8_t> over;

  // A lane as the engine has it.
  const Sender& sender(std::size_t lane) const;
  double now(std::size_t game) const;
  // The latest trial that came to its end, with keep_records.
  const std::vector<Flow>& flows(std::size_t game) const { return seats_[game].flows; }
  const TrialTotals& totals(std::size_t game) const { return seats_[game].totals; }

 private:
  struct Seat {
    Workspace space;
    std::unique_ptr<Game> game;
    std::vector<Told> told;
    std::vector<std::uint32_t> candidates;  // courses
    std::vector<Flow> flows;
    TrialTotals totals;
    std::size_t first_action = 0;  // row
  };

  void begin(std::size_t game, std::size_t course, std::uint64_t seed);
  void begin_next(std::size_t game);
  void play(std::size_t game);
  void finish(std::size_t game);
  void act(std::size_t game, std::span<const float> actions);
  void tell(std::size_t game);
  void tell_lane(std::size_t game, std::size_t lane);
  void gather();
  void check(std::span<const float> actions) const;
  bool fits(const Course& course, std::uint32_t lanes) const;
  void share_out(const std::function<void(std::size_t)>& work);
  std::size_t game_of(std::size_t lane) const;

  LanesOptions options_;
  std::vector<Course> courses_;
  std::vector<Seat> seats_;
  std::vector<std::uint32_t> first_;  // games + 1, lanes
  std::uint64_t seed_ = 0;
  Rows rows_;
  std::unique_ptr<Team> team_;
  int owner_ = 0;  // process that the team's threads live in
};

}  // namespace remy_plus
