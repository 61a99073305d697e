#include "remy_plus/envs/agent_slots.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "remy_plus/core/random.hpp"

namespace remy_plus {
namespace {

constexpr std::size_t first_packets = 128;  // of a ring: small, so that many games stay in the caches
constexpr int most_empty_trials = 1000;

std::uint64_t draw(std::uint64_t seed, std::uint64_t game, std::uint64_t trial, std::uint64_t what) {
  std::uint64_t key = 0x2545f4914f6cdd1dull;
  for (const std::uint64_t part : {seed, game, trial, what}) key = mix64(key ^ mix64(part + 0x9e3779b97f4a7c15ull));
  return key;
}

}  // namespace

Lanes::Lanes(LanesOptions options) : options_(std::move(options)), seats_(options_.lanes.size()) {
  options_.rules.check();
  if (options_.lanes.empty()) throw std::invalid_argument("at least one game is needed");
  first_.assign(1, 0);
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    const std::uint32_t n = options_.lanes[g];
    if (n < 1 || n > UINT16_MAX) throw std::invalid_argument("a game needs 1 to 65535 lanes, got " + std::to_string(n));
    seats_[g].space.ring.resize(first_packets);
    seats_[g].told.resize(n);
    first_.push_back(first_.back() + n);
  }
  const std::size_t lanes = first_.back(), inputs = options_.rules.agent.inputs();
  rows_.observation.assign(lanes * inputs, -1);
  rows_.last.assign(lanes * inputs, 0);
  rows_.reward.assign(lanes, 0);
  rows_.elapsed.assign(lanes, 0);
  rows_.rivals.assign(lanes, 0);
  rows_.ended.assign(lanes, 0);
  rows_.acting.assign(lanes, 0);
  rows_.ready.reserve(lanes);
  course.assign(games(), 0);
  trial_seed.assign(games(), 0);
  trials.assign(games(), 0);
  packets.assign(games(), 0);
  over.assign(games(), 1);
}

Lanes::~Lanes() {
  if (team_ && owner_ != getpid()) (void)team_.release();  // after a fork the threads are the parent's
}

bool Lanes::fits(const Course& course, std::uint32_t lanes) const {
  const Network& network = *course.network;
  if (network.switched == Switching::open) throw std::invalid_argument("agents need senders, not open flows");
  const std::size_t all = network.layout ? network.layout->ways.size() : static_cast<std::size_t>(network.senders);
  const auto senders = static_cast<std::uint32_t>(network.senders);
  const bool wanted = options_.all_senders ? senders == lanes : senders >= lanes;
  return wanted && (options_.rules.others || all == lanes);
}

void Lanes::set_courses(std::vector<Course> courses) {
  std::vector<std::vector<std::uint32_t>> candidates(games());
  for (const Course& c : courses) {
    validate(*c.network);
    if (!(c.base_delay > 0)) throw std::invalid_argument("base delays must be > 0 µs");
  }
  for (std::size_t g = 0; g < games(); ++g) {
    if (g > 0 && options_.lanes[g] == options_.lanes[g - 1]) {
      candidates[g] = candidates[g - 1];
      continue;
    }
    for (std::size_t c = 0; c < courses.size(); ++c)
      if (fits(courses[c], options_.lanes[g])) candidates[g].push_back(static_cast<std::uint32_t>(c));
    if (candidates[g].empty())
      throw std::invalid_argument("no network has senders for a game of " + std::to_string(options_.lanes[g]) +
                                  " lanes" + (options_.rules.others ? "" : " and no others"));
  }
  courses_ = std::move(courses);
  for (std::size_t g = 0; g < games(); ++g) seats_[g].candidates = std::move(candidates[g]);
}

void Lanes::reset(std::uint64_t seed) {
  if (courses_.empty()) throw std::invalid_argument("no networks to play on");
  seed_ = seed;
  std::fill(trials.begin(), trials.end(), 0);
  std::fill(packets.begin(), packets.end(), 0);
  share_out([this](std::size_t g) {
    std::fill(seats_[g].told.begin(), seats_[g].told.end(), Told{});
    begin_next(g);
    play(g);
    tell(g);
  });
  gather();
}

void Lanes::start(std::size_t game, std::size_t course, std::uint64_t seed) {
  if (game >= games() || course >= courses_.size() || !fits(courses_[course], options_.lanes[game]))
    throw std::invalid_argument("start() names a game or network that is not there or does not fit");
  std::fill(seats_[game].told.begin(), seats_[game].told.end(), Told{});
  begin(game, course, seed);
  play(game);
  tell(game);
  gather();
}

void Lanes::stop(std::size_t game) {
  if (game >= games()) throw std::invalid_argument("stop() names a game that is not there");
  over[game] = 1;
  gather();
}

void Lanes::begin(std::size_t game, std::size_t chosen, std::uint64_t seed) {
  Seat& seat = seats_[game];
  const Course& c = courses_[chosen];
  course[game] = static_cast<std::uint32_t>(chosen);
  trial_seed[game] = seed;
  ++trials[game];
  over[game] = 1;     // until it has begun
  seat.game.reset();  // before the next one borrows the same storage
  seat.game = new_game(options_.rules, {c.network, {c.network->link_rate, c.base_delay}, seed}, seat.space, seat.told);
  over[game] = 0;
}

void Lanes::begin_next(std::size_t game) {
  const std::uint64_t trial = trials[game];
  const auto& candidates = seats_[game].candidates;
  begin(game, candidates[draw(seed_, game, trial, 1) % candidates.size()], draw(seed_, game, trial, 2));
}

// Plays a game to its next decision, over the ends of trials.
void Lanes::play(std::size_t game) {
  Seat& seat = seats_[game];
  for (int empty = 0; empty < most_empty_trials; ++empty) {
    if (seat.game->advance()) return;
    finish(game);
    if (!options_.endless) return;
    begin_next(game);
  }
  throw std::runtime_error("in 1000 trials no flow began: are the trials too short, or mean_off too long?");
}

void Lanes::finish(std::size_t game) {
  Seat& seat = seats_[game];
  over[game] = 1;
  packets[game] += seat.game->totals().delivered;
  if (!options_.keep_records) return;
  seat.flows = seat.space.flows;
  seat.totals = seat.game->totals();
}

void Lanes::check(std::span<const float> actions) const {
  const ActionMap& map = options_.rules.agent.actions;
  const std::size_t rows = options_.whole_rows ? lanes() : rows_.ready.size();
  if (actions.size() != rows * map.numbers())
    throw std::invalid_argument("actions must have " + std::to_string(rows) + " rows of " +
                                std::to_string(map.numbers()) + " numbers");
  const bool table = map.steering == Steering::table;
  const auto bound = static_cast<float>(map.table.size());
  for (const float a : actions)
    if (!std::isfinite(a) || (table && !(a >= 0 && a < bound)))
      throw std::invalid_argument(table ? "an action is not an index of the action table"
                                        : "an action is not a finite number");
}

void Lanes::step(std::span<const float> actions) {
  check(actions);
  share_out([this, actions](std::size_t g) {
    if (!over[g]) {
      act(g, actions);
      play(g);
    }
    tell(g);
  });
  gather();
}

void Lanes::act(std::size_t game, std::span<const float> actions) {
  const std::size_t numbers = options_.rules.agent.actions.numbers();
  Seat& seat = seats_[game];
  std::size_t row = seat.first_action;
  for (const std::uint32_t lane : seat.game->ready()) {
    const std::size_t at = options_.whole_rows ? first_[game] + lane : row++;
    seat.game->act(lane, actions.data() + at * numbers);
  }
}

// Fills in the rows of a game.
void Lanes::tell(std::size_t game) {
  const std::size_t inputs = options_.rules.agent.inputs();
  Seat& seat = seats_[game];
  if (options_.whole_rows || over[game])
    for (std::size_t lane = 0; lane < seat.told.size(); ++lane) {
      const std::size_t row = first_[game] + lane;
      tell_lane(game, lane);
      rows_.acting[row] = 0;
      if (over[game] || !seat.game->on(lane))
        std::fill_n(rows_.observation.begin() + static_cast<std::ptrdiff_t>(row * inputs), inputs, -1.0f);
    }
  if (over[game]) return;
  for (const std::uint32_t lane : seat.game->ready()) {
    const std::size_t row = first_[game] + lane;
    if (!options_.whole_rows) tell_lane(game, lane);
    rows_.acting[row] = 1;
    const std::vector<float>& view = seat.game->view(lane);
    std::copy(view.begin(), view.end(), rows_.observation.begin() + static_cast<std::ptrdiff_t>(row * inputs));
  }
}

void Lanes::tell_lane(std::size_t game, std::size_t lane) {
  const std::size_t row = first_[game] + lane;
  Told& told = seats_[game].told[lane];
  rows_.reward[row] = told.reward;
  rows_.elapsed[row] = told.elapsed;
  rows_.rivals[row] = over[game] ? 0 : seats_[game].game->flows_on();
  rows_.ended[row] = static_cast<std::uint8_t>(told.ending);
  if (told.ending != Ending::none)
    std::copy(told.last.begin(), told.last.end(),
              rows_.last.begin() + static_cast<std::ptrdiff_t>(row * told.last.size()));
  told.reward = told.elapsed = 0;
  told.ending = Ending::none;
}

// Lists the ready lanes.
void Lanes::gather() {
  rows_.ready.clear();
  for (std::size_t g = 0; g < games(); ++g) {
    seats_[g].first_action = rows_.ready.size();
    if (over[g]) continue;
    for (const std::uint32_t lane : seats_[g].game->ready()) rows_.ready.push_back(first_[g] + lane);
  }
}

void Lanes::share_out(const std::function<void(std::size_t)>& work) {
  if (options_.jobs > 1 && games() > 1 && (!team_ || owner_ != getpid())) {
    (void)team_.release();
    team_ = std::make_unique<Team>(options_.jobs);
    owner_ = getpid();
  }
  if (team_) return team_->run(games(), work);
  for (std::size_t g = 0; g < games(); ++g) work(g);
}

std::size_t Lanes::game_of(std::size_t lane) const {
  if (lane >= lanes()) throw std::invalid_argument("no such lane");
  const auto after = std::upper_bound(first_.begin(), first_.end(), static_cast<std::uint32_t>(lane));
  return static_cast<std::size_t>(after - first_.begin()) - 1;
}

const Sender& Lanes::sender(std::size_t lane) const {
  const std::size_t game = game_of(lane);
  if (!seats_[game].game) throw std::invalid_argument("this game has not begun");
  return seats_[game].game->sender(lane - first_[game]);
}

double Lanes::now(std::size_t game) const {
  if (game >= games()) throw std::invalid_argument("no such game");
  return seats_[game].game ? seats_[game].game->now() : 0;
}

}  // namespace remy_plus
