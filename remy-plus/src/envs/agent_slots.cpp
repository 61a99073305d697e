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

constexpr std::size_t first_packets = 128;  // of a ring: small, so that many environments stay in the caches
constexpr int most_empty_trials = 1000;

std::uint64_t draw(std::uint64_t seed, std::uint64_t env, std::uint64_t trial, std::uint64_t what) {
  std::uint64_t key = 0x2545f4914f6cdd1dull;
  for (const std::uint64_t part : {seed, env, trial, what}) key = mix64(key ^ mix64(part + 0x9e3779b97f4a7c15ull));
  return key;
}

}  // namespace

AgentSlots::AgentSlots(AgentSlotsOptions options) : options_(std::move(options)), environments_(options_.slots.size()) {
  options_.rules.check();
  if (options_.rules.others && in_calling_thread(*options_.rules.others)) options_.jobs = 1;
  if (options_.slots.empty()) throw std::invalid_argument("at least one environment is needed");
  first_.assign(1, 0);
  for (std::size_t g = 0; g < environments_.size(); ++g) {
    const std::uint32_t n = options_.slots[g];
    if (n < 1 || n > UINT16_MAX)
      throw std::invalid_argument("an environment needs 1 to 65535 slots, got " + std::to_string(n));
    environments_[g].space.ring.resize(first_packets);
    environments_[g].reports.resize(n);
    first_.push_back(first_.back() + n);
  }
  const std::size_t slots = first_.back(), inputs = options_.rules.agent.inputs();
  rows_.observation.assign(slots * inputs, -1);
  rows_.last.assign(slots * inputs, 0);
  rows_.reward.assign(slots, 0);
  rows_.elapsed.assign(slots, 0);
  rows_.rivals.assign(slots, 0);
  rows_.ended.assign(slots, 0);
  rows_.acting.assign(slots, 0);
  rows_.ready.reserve(slots);
  training_network.assign(environments(), 0);
  trial_seed.assign(environments(), 0);
  trials.assign(environments(), 0);
  packets.assign(environments(), 0);
  over.assign(environments(), 1);
}

AgentSlots::~AgentSlots() {
  if (pool_ && owner_ != getpid()) (void)pool_.release();  // after a fork the threads are the parent's
}

bool AgentSlots::fits(const TrainingNetwork& training_network, std::uint32_t slots) const {
  const Network& network = *training_network.network;
  if (network.workload->open()) throw std::invalid_argument("agents need senders, not open flows");
  const auto senders = static_cast<std::uint32_t>(network.senders);
  const bool wanted = options_.all_senders ? senders == slots : senders >= slots;
  return wanted && (options_.rules.others || network.all_senders() == slots);
}

void AgentSlots::set_networks(std::vector<TrainingNetwork> networks) {
  std::vector<std::vector<std::uint32_t>> candidates(environments());
  for (const TrainingNetwork& c : networks) {
    validate(*c.network);
    if (!(c.base_delay > 0)) throw std::invalid_argument("base delays must be > 0 µs");
  }
  for (std::size_t g = 0; g < environments(); ++g) {
    if (g > 0 && options_.slots[g] == options_.slots[g - 1]) {
      candidates[g] = candidates[g - 1];
      continue;
    }
    for (std::size_t c = 0; c < networks.size(); ++c)
      if (fits(networks[c], options_.slots[g])) candidates[g].push_back(static_cast<std::uint32_t>(c));
    if (candidates[g].empty())
      throw std::invalid_argument("no network has senders for an environment of " + std::to_string(options_.slots[g]) +
                                  " slots" + (options_.rules.others ? "" : " and no others"));
  }
  networks_ = std::move(networks);
  for (std::size_t g = 0; g < environments(); ++g) environments_[g].candidates = std::move(candidates[g]);
}

void AgentSlots::reset(std::uint64_t seed) {
  if (networks_.empty()) throw std::invalid_argument("no networks to play on");
  seed_ = seed;
  std::fill(trials.begin(), trials.end(), 0);
  std::fill(packets.begin(), packets.end(), 0);
  share_out([this](std::size_t g) {
    std::fill(environments_[g].reports.begin(), environments_[g].reports.end(), SlotReport{});
    begin_next(g);
    play(g);
    report(g);
  });
  gather();
}

void AgentSlots::start(std::size_t env, std::size_t training_network, std::uint64_t seed) {
  if (env >= environments() || training_network >= networks_.size() ||
      !fits(networks_[training_network], options_.slots[env]))
    throw std::invalid_argument("start() names an environment or network that is not there or does not fit");
  std::fill(environments_[env].reports.begin(), environments_[env].reports.end(), SlotReport{});
  begin(env, training_network, seed);
  play(env);
  report(env);
  gather();
}

void AgentSlots::stop(std::size_t env) {
  if (env >= environments()) throw std::invalid_argument("stop() names an environment that is not there");
  over[env] = 1;
  gather();
}

void AgentSlots::begin(std::size_t env, std::size_t chosen, std::uint64_t seed) {
  Environment& environment = environments_[env];
  const TrainingNetwork& c = networks_[chosen];
  training_network[env] = static_cast<std::uint32_t>(chosen);
  trial_seed[env] = seed;
  ++trials[env];
  over[env] = 1;                // until it has begun
  environment.episode.reset();  // before the next one borrows the same storage
  environment.episode = new_episode(options_.rules, {c.network, {c.network->link_rate, c.base_delay}, seed},
                                    environment.space, environment.reports);
  over[env] = 0;
}

void AgentSlots::begin_next(std::size_t env) {
  const std::uint64_t trial = trials[env];
  const auto& candidates = environments_[env].candidates;
  begin(env, candidates[draw(seed_, env, trial, 1) % candidates.size()], draw(seed_, env, trial, 2));
}

// Plays an environment to its next decision, over the ends of trials.
void AgentSlots::play(std::size_t env) {
  Environment& environment = environments_[env];
  for (int empty = 0; empty < most_empty_trials; ++empty) {
    if (environment.episode->advance()) return;
    finish(env);
    if (!options_.endless) return;
    begin_next(env);
  }
  throw std::runtime_error("in 1000 trials no flow began: are the trials too short, or mean_off too long?");
}

void AgentSlots::finish(std::size_t env) {
  Environment& environment = environments_[env];
  over[env] = 1;
  packets[env] += environment.episode->totals().delivered;
  if (!options_.keep_records) return;
  environment.flows = environment.space.flows;
  environment.totals = environment.episode->totals();
}

void AgentSlots::check(std::span<const float> actions) const {
  const ActionMap& map = options_.rules.agent.actions;
  const std::size_t rows = options_.whole_rows ? slots() : rows_.ready.size();
  if (actions.size() != rows * map.numbers())
    throw std::invalid_argument("actions must have " + std::to_string(rows) + " rows of " +
                                std::to_string(map.numbers()) + " numbers");
  map.check(actions);
}

void AgentSlots::step(std::span<const float> actions) {
  check(actions);
  const std::size_t numbers = options_.rules.agent.actions.numbers();
  each_environment([&](std::size_t g) {
    const std::size_t first = options_.whole_rows ? first_[g] : environments_[g].first_action;
    step(g, actions.subspan(first * numbers));
  });
}

void AgentSlots::each_environment(const std::function<void(std::size_t)>& work) {
  try {
    share_out(work);
  } catch (...) {
    gather();
    throw;
  }
  gather();
}

void AgentSlots::step(std::size_t env, std::span<const float> actions) {
  if (!over[env]) {
    act(env, actions);
    play(env);
  }
  report(env);
}

void AgentSlots::act(std::size_t env, std::span<const float> actions) {
  const std::size_t numbers = options_.rules.agent.actions.numbers();
  Environment& environment = environments_[env];
  std::size_t row = 0;
  for (const std::uint32_t slot : environment.episode->ready())
    environment.episode->act(slot, actions.data() + (options_.whole_rows ? slot : row++) * numbers);
}

// Fills in the rows of an environment.
void AgentSlots::report(std::size_t env) {
  const std::size_t inputs = options_.rules.agent.inputs();
  Environment& environment = environments_[env];
  if (options_.whole_rows || over[env])
    for (std::size_t slot = 0; slot < environment.reports.size(); ++slot) {
      const std::size_t row = first_[env] + slot;
      report_slot(env, slot);
      rows_.acting[row] = 0;
      if (over[env] || !environment.episode->on(slot))
        std::fill_n(rows_.observation.begin() + static_cast<std::ptrdiff_t>(row * inputs), inputs, -1.0f);
    }
  if (over[env]) return;
  for (const std::uint32_t slot : environment.episode->ready()) {
    const std::size_t row = first_[env] + slot;
    if (!options_.whole_rows) report_slot(env, slot);
    rows_.acting[row] = 1;
    const std::vector<float>& view = environment.episode->view(slot);
    std::copy(view.begin(), view.end(), rows_.observation.begin() + static_cast<std::ptrdiff_t>(row * inputs));
  }
}

void AgentSlots::report_slot(std::size_t env, std::size_t slot) {
  const std::size_t row = first_[env] + slot;
  SlotReport& report = environments_[env].reports[slot];
  rows_.reward[row] = report.reward;
  rows_.elapsed[row] = report.elapsed;
  rows_.rivals[row] = over[env] ? 0 : environments_[env].episode->flows_on();
  rows_.ended[row] = static_cast<std::uint8_t>(report.ending);
  if (report.ending != Ending::none)
    std::copy(report.last.begin(), report.last.end(),
              rows_.last.begin() + static_cast<std::ptrdiff_t>(row * report.last.size()));
  report.reward = report.elapsed = 0;
  report.ending = Ending::none;
}

// Lists the ready slots.
void AgentSlots::gather() {
  rows_.ready.clear();
  for (std::size_t g = 0; g < environments(); ++g) {
    environments_[g].first_action = rows_.ready.size();
    if (over[g]) continue;
    for (const std::uint32_t slot : environments_[g].episode->ready()) rows_.ready.push_back(first_[g] + slot);
  }
}

void AgentSlots::share_out(const std::function<void(std::size_t)>& work) {
  if (options_.jobs > 1 && environments() > 1 && (!pool_ || owner_ != getpid())) {
    (void)pool_.release();
    pool_ = std::make_unique<ThreadPool>(options_.jobs);
    owner_ = getpid();
  }
  if (pool_) return pool_->run(environments(), work);
  for (std::size_t g = 0; g < environments(); ++g) work(g);
}

std::size_t AgentSlots::env_of(std::size_t slot) const {
  if (slot >= slots()) throw std::invalid_argument("no such slot");
  const auto after = std::upper_bound(first_.begin(), first_.end(), static_cast<std::uint32_t>(slot));
  return static_cast<std::size_t>(after - first_.begin()) - 1;
}

const Sender& AgentSlots::sender(std::size_t slot) const {
  const std::size_t env = env_of(slot);
  if (!environments_[env].episode) throw std::invalid_argument("this environment has not begun");
  return environments_[env].episode->sender(slot - first_[env]);
}

double AgentSlots::now(std::size_t env) const {
  if (env >= environments()) throw std::invalid_argument("no such environment");
  return environments_[env].episode ? environments_[env].episode->now() : 0;
}

}  // namespace remy_plus
