#include "remy_plus/envs/rollouts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace remy_plus {
namespace {

constexpr double half_log_two_pi = 0.9189385332046727;

template <class T>
void append(std::vector<T>& to, std::span<const T> values) {
  to.insert(to.end(), values.begin(), values.end());
}

// Rows from one on, of columns that have `width` numbers in each.
template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, std::size_t first, std::size_t width = 1) {
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first * width), from.end());
}

}  // namespace

Rollouts::Rollouts(AgentSlots& slots, std::vector<float> privileges, std::uint64_t seed)
    : slots_(slots),
      privileges_(std::move(privileges)),
      inputs_(slots.options().rules.agent.inputs()),
      numbers_(slots.options().rules.agent.actions.numbers()),
      own_(privileges_.size() / std::max<std::size_t>(slots.networks(), 1)),
      width_(privileges_.empty() ? inputs_ : 2 * inputs_ + 1 + own_),
      environments_(slots.environments()),
      waiting_(slots.slots()),
      seen_(slots.slots() * width_),
      action_(slots.slots() * numbers_) {
  if (slots.options().whole_rows || !slots.options().endless)
    throw std::invalid_argument("rollouts need slots without whole rows that go on");
  if (privileges_.size() != own_ * slots.networks())
    throw std::invalid_argument("one row of privileges per network is needed");
  for (std::size_t g = 0; g < environments_.size(); ++g) {
    environments_[g].random = Stream(seed, 0, Component::exploration, g);
    environments_[g].sum.resize(inputs_);
  }
}

void Rollouts::begin() {
  for (Environment& environment : environments_) {
    environment.rows.clear();
    environment.played = 0;
  }
  for (Waiting& waiting : waiting_) waiting.previous = -1;
}

void Rollouts::require(const Actor& actor) const {
  const NeuralNet& net = actor.policy.net();
  const ActionMap& map = slots_.options().rules.agent.actions;
  const bool table = map.steering == Steering::table;
  if (net.memory) throw std::invalid_argument("rollouts are of networks without memory");
  if (net.inputs() != inputs_ || net.outputs() != (table ? map.table.size() : numbers_))
    throw std::invalid_argument("the network is not of these slots' agent");
  if (actor.deviations.size() != (table ? 0 : numbers_))
    throw std::invalid_argument("one deviation per number is needed, and none for a table");
  for (const float deviation : actor.deviations)
    if (!(deviation >= std::numeric_limits<float>::min() && std::isfinite(deviation)))
      throw std::invalid_argument("deviations must be finite and > 0");
  if (privileges_.size() != own_ * slots_.networks())
    throw std::invalid_argument("the slots have other networks than at first");
  if (failed_) throw std::invalid_argument("rollouts that failed cannot go on");
}

void Rollouts::play(std::uint64_t rows, const Mlp& policy, std::span<const float> deviations) {
  const Actor actor{policy, deviations};
  require(actor);
  failed_ = true;
  slots_.each_environment([&](std::size_t g) {
    environments_[g].played = environments_[g].rows.rows();
    play(g, static_cast<std::size_t>((rows + g) / environments_.size()), actor);
  });
  failed_ = false;
}

void Rollouts::play(std::size_t env, std::size_t rows, const Actor& actor) {
  Environment& environment = environments_[env];
  if (slots_.over[env]) throw std::invalid_argument("an environment of the rollouts was stopped or not begun");
  environment.scratch.resize(actor.policy.net().scratch_size());
  environment.chances.resize(actor.policy.net().outputs());
  while (environment.rows.rows() < rows) {
    environment.ready.clear();
    for (const std::uint32_t own : slots_.ready(env)) environment.ready.push_back(slots_.first_slot(env) + own);
    take_outcomes(env);
    see(env);
    decide(env, actor);
    slots_.step(env, environment.action);
  }
}

void Rollouts::take_outcomes(std::size_t env) {
  Environment& environment = environments_[env];
  Experience& rows = environment.rows;
  const Rows& now = slots_.rows();
  for (const std::uint32_t slot : environment.ready)
    if (waiting_[slot].any) {
      environment.rewards += now.reward[slot];
      environment.time += now.elapsed[slot];
    }
  for (const std::uint32_t slot : environment.ready) {
    Waiting& waiting = waiting_[slot];
    if (!waiting.any) continue;
    const auto row = static_cast<std::int32_t>(rows.rows());
    const float reward = now.reward[slot], elapsed = now.elapsed[slot];
    const bool ended = now.ended[slot] != 0;
    const double rate = (environment.rewards - waiting.rewards) / std::max(environment.time - waiting.time, 1e-9);
    append<float>(rows.seen, seen(slot));
    append<float>(rows.action, {action_.data() + slot * numbers_, numbers_});
    rows.log_probability.push_back(waiting.log_probability);
    rows.reward.push_back(reward);
    rows.elapsed.push_back(elapsed);
    rows.common.push_back(ended ? reward : static_cast<float>(elapsed * rate));
    rows.ended.push_back(now.ended[slot]);
    rows.slot.push_back(static_cast<std::int32_t>(slot));
    rows.network.push_back(waiting.network);
    rows.next.push_back(-1);
    if (waiting.previous >= 0) rows.next[static_cast<std::size_t>(waiting.previous)] = row;
    waiting.previous = ended ? -1 : row;
    if (!ended) continue;
    append<float>(rows.after, {now.last.data() + slot * inputs_, inputs_});
    append<float>(rows.after, seen(slot).subspan(inputs_));
    rows.after_of.push_back(row);
  }
}

// Takes what the ready slots see now into the sums of their network.
void Rollouts::see(std::size_t env) {
  Environment& environment = environments_[env];
  for (const std::uint32_t slot : environment.ready) {
    const float *now = slots_.rows().observation.data() + slot * inputs_, *before = seen(slot).data();
    for (std::size_t i = 0; i < inputs_; ++i) environment.sum[i] += static_cast<double>(now[i]) - before[i];
    environment.many += waiting_[slot].any ? 0 : 1;
  }
}

void Rollouts::decide(std::size_t env, const Actor& actor) {
  Environment& environment = environments_[env];
  const auto network = static_cast<std::size_t>(slots_.training_network[env]);
  environment.action.clear();
  for (const std::uint32_t slot : environment.ready) {
    const std::span<float> seen = this->seen(slot);
    std::copy_n(slots_.rows().observation.data() + slot * inputs_, inputs_, seen.data());
    if (width_ > inputs_) {
      float* rest = seen.data() + inputs_;
      *rest++ = static_cast<float>(quick_log2(1.0 + slots_.rows().rivals[slot]));
      for (const double sum : environment.sum) *rest++ = static_cast<float>(sum / environment.many);
      std::copy_n(privileges_.data() + network * own_, own_, rest);
    }
    float* action = action_.data() + slot * numbers_;
    Waiting& waiting = waiting_[slot];
    waiting.any = true;
    waiting.log_probability = act(environment, actor, seen.data(), action);
    waiting.rewards = environment.rewards;
    waiting.time = environment.time;
    waiting.network = static_cast<std::int32_t>(network);
    append<float>(environment.action, {action, numbers_});
  }
}

// Marsaglia and Bray's polar method (SIAM Review 1964), in arithmetic that is the same everywhere.
double Rollouts::normal(Environment& environment) const {
  if (environment.spare) {
    const double kept = *environment.spare;
    environment.spare.reset();
    return kept;
  }
  for (;;) {
    const double u = 2 * environment.random.uniform() - 1, v = 2 * environment.random.uniform() - 1;
    const double square = u * u + v * v;
    if (square >= 1 || square < 1e-300) continue;
    const double factor = std::sqrt(-2 * portable_log(square) / square);
    environment.spare = v * factor;
    return u * factor;
  }
}

// Decides, and returns the logarithm of the probability.
float Rollouts::act(Environment& environment, const Actor& actor, const float* view, float* action) const {
  const std::span<const float> said = actor.policy.net().run(view, nullptr, environment.scratch.data());
  for (const float x : said)
    if (!std::isfinite(x)) throw std::overflow_error("a network's output is no finite number");
  if (!actor.deviations.empty()) {
    double log_probability = 0;
    for (std::size_t i = 0; i < numbers_; ++i) {
      const double noise = normal(environment), deviation = actor.deviations[i];
      action[i] = static_cast<float>(said[i] + deviation * noise);
      if (!std::isfinite(action[i])) throw std::overflow_error("an action is no finite number");
      log_probability -= noise * noise / 2 + portable_log(deviation) + half_log_two_pi;
    }
    return static_cast<float>(log_probability);
  }
  const float most = *std::max_element(said.begin(), said.end());
  double sum = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    environment.chances[i] = portable_exp2(log2_of_e * std::max(said[i] - most, -40.0f));
    sum += environment.chances[i];
  }
  double left = sum * environment.random.uniform();
  std::size_t chosen = 0;
  while (chosen + 1 < said.size() && (left -= environment.chances[chosen]) > 0) ++chosen;
  *action = static_cast<float>(chosen);
  return static_cast<float>(said[chosen] - most - portable_log(sum));
}

Experience Rollouts::experience(bool latest) const {
  Experience all;
  for (std::size_t g = 0; g < environments_.size(); ++g) {
    const Experience& own = environments_[g].rows;
    const std::size_t from = latest ? environments_[g].played : 0;
    const auto first = static_cast<std::int32_t>(all.rows());
    append(all.seen, own.seen, from, width_);
    append(all.action, own.action, from, numbers_);
    append(all.log_probability, own.log_probability, from);
    append(all.reward, own.reward, from);
    append(all.elapsed, own.elapsed, from);
    append(all.common, own.common, from);
    append(all.ended, own.ended, from);
    append(all.slot, own.slot, from);
    append(all.network, own.network, from);
    if (latest) continue;
    for (const std::int32_t row : own.next) all.next.push_back(row < 0 ? row : first + row);
    append(all.after, own.after, 0);
    for (const std::int32_t row : own.after_of) all.after_of.push_back(first + row);
    for (std::size_t slot = slots_.first_slot(g); slot < slots_.first_slot(g + 1); ++slot) {
      if (waiting_[slot].previous < 0) continue;
      append<float>(all.after, {seen_.data() + slot * width_, width_});
      all.after_of.push_back(first + waiting_[slot].previous);
    }
  }
  return all;
}

std::vector<float> advantages(std::span<const float> surprise, std::span<const float> goes_on,
                              std::span<const std::int32_t> next) {
  std::vector<float> found(surprise.begin(), surprise.end());
  for (std::size_t i = found.size(); i-- > 0;)
    if (next[i] >= 0) found[i] += goes_on[i] * found[static_cast<std::size_t>(next[i])];
  return found;
}

}  // namespace remy_plus
