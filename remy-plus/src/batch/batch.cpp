#include "remy_plus/batch/batch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "remy_plus/batch/observers.hpp"
#include "remy_plus/fifo/simulation.hpp"

namespace remy_plus {
namespace {

std::size_t rules(const Policy& policy) {
  return std::visit([](const auto& p) { return p.rules(); }, policy);
}

// One thread's storage and partial sums.
struct Worker {
  Workspace space;
  DelayObserver delays;
  PhaseObserver phases;
  std::vector<RuleHits> rule_hits;
  std::vector<std::uint64_t> census;
};

class Batch {
 public:
  Batch(const std::vector<Policy>& policies, const std::vector<Network>& networks, const std::vector<Trial>& trials,
        const BatchOptions& options)
      : policies_(policies), networks_(networks), trials_(trials), options_(options) {
    validate(options.model);
    if (!options.headers.empty() && options.headers.size() != policies.size())
      throw std::invalid_argument("headers must have one entry per policy");
    if (!(options.duration > 0) || options.duration == never)
      throw std::invalid_argument("duration must be > 0 µs and finite");
    for (const Network& network : networks) validate(network);
    result_.trials.resize(trials.size());
    result_.sender_begin.assign(trials.size() + 1, 0);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (trials[i].policy >= policies.size() || trials[i].network >= networks.size())
        throw std::invalid_argument("a trial names a policy or network that is not there");
      result_.sender_begin[i + 1] =
          result_.sender_begin[i] + static_cast<std::size_t>(networks[trials[i].network].senders);
    }
    result_.senders.resize(result_.sender_begin.back());
    if (!options.phase_round_trips.empty()) {
      if (options.phase_round_trips.size() != networks.size())
        throw std::invalid_argument("phase_round_trips must have one entry per network");
      result_.phases.resize(result_.sender_begin.back());
    }
    if (options.keep_flows) flows_.resize(trials.size());
    if (options.keep_links) links_.resize(trials.size());
    if (options.keep_rule_hits) reserve_rule_hits();
  }

  BatchResult run(const std::function<bool()>& keep_going) {
    const std::size_t jobs = std::min<std::size_t>(options_.jobs, most_threads_);
    if (std::any_of(policies_.begin(), policies_.end(), in_calling_thread)) return run_here();
    std::vector<Worker> workers(std::max<std::size_t>(1, std::min(jobs, trials_.size())));
    std::vector<std::thread> threads;
    try {
      for (Worker& worker : workers) threads.emplace_back([this, &worker] { work(worker); });
    } catch (const std::system_error&) {  // no more threads to be had: fewer do as well
      if (threads.empty()) throw;
      workers.resize(threads.size());
    }
    wait(threads.size(), keep_going);
    for (std::thread& thread : threads) thread.join();
    return merged(workers);
  }

 private:
  static constexpr std::size_t most_threads_ = 256;

  BatchResult run_here() {
    std::vector<Worker> workers(1);
    work(workers.front());
    return merged(workers);
  }

  BatchResult merged(const std::vector<Worker>& workers) {
    if (failure_) std::rethrow_exception(failure_);
    if (stop_) throw Interrupted{};
    merge(workers);
    return std::move(result_);
  }

  void reserve_rule_hits() {
    const std::size_t each = policies_.empty() ? 0 : rules(policies_.front());
    for (const Policy& policy : policies_)
      if (rules(policy) != each) throw std::invalid_argument("keep_rule_hits needs policies with equally many rules");
    result_.trial_rule_hits.resize(trials_.size() * each);
  }

  const Stamping* header(std::size_t policy) const {
    return options_.headers.empty() ? nullptr : options_.headers[policy].get();
  }

  static const RuleHits& rule_hits_of_trial(const Worker& worker) { return worker.space.rule_hits; }

  void wait(std::size_t count, const std::function<bool()>& keep_going) {
    std::unique_lock lock(mutex_);
    while (finished_ < count) {
      if (changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return finished_ == count; })) return;
      lock.unlock();
      if (!stop_ && !keep_going()) stop_ = true;
      lock.lock();
    }
  }

  void work(Worker& worker) {
    try {
      worker.space.stop = &stop_;
      worker.rule_hits.resize(policies_.size());
      for (std::size_t p = 0; p < policies_.size(); ++p) worker.rule_hits[p].assign(rules(policies_[p]), 0);
      if (options_.census) worker.census.assign(options_.census->axes.size() << 16, 0);
      for (std::size_t i = next_++; i < trials_.size() && !stop_; i = next_++) run_trial(worker, i);
    } catch (const Stopped&) {
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      stop_ = true;
    }
    const std::lock_guard lock(mutex_);
    ++finished_;
    changed_.notify_all();
  }

  void run_trial(Worker& worker, std::size_t i) {
    const Trial& trial = trials_[i];
    std::visit([&](const auto& policy) { simulate(worker, i, trial, of_trial(policy)); }, policies_[trial.policy]);
    auto& rule_hits = worker.rule_hits[trial.policy];
    for (std::size_t r = 0; r < rule_hits.size(); ++r) rule_hits[r] += worker.space.rule_hits[r];
    total_senders(worker.space, i);
    if (options_.keep_rule_hits)
      std::copy(rule_hits_of_trial(worker).begin(), rule_hits_of_trial(worker).end(),
                result_.trial_rule_hits.begin() + static_cast<std::ptrdiff_t>(i * rule_hits_of_trial(worker).size()));
    if (options_.keep_flows) flows_[i] = worker.space.flows;
    if (options_.keep_links) links_[i] = worker.space.links;
  }

  template <class P>
  void simulate(Worker& worker, std::size_t i, const Trial& trial, const P& policy) {
    const auto run = [&](auto& observer) {
      result_.trials[i] = run_simulation(networks_[trial.network], options_.model, policy, trial.seed,
                                         options_.duration, worker.space, observer, header(trial.policy));
    };
    if constexpr (std::is_same_v<P, RuleTable>) {
      if (options_.census) {
        CensusObserver observer(*options_.census, policy, worker.census);
        return run(observer);
      }
    }
    Recorder recorder;
    const double round_trip = options_.phase_round_trips.empty() ? 0.0 : options_.phase_round_trips[trial.network];
    if (round_trip > 0) {
      worker.phases.begin(networks_[trial.network], trial.seed, options_.duration, round_trip);
      recorder.phases = &worker.phases;
    }
    if (options_.keep_delays) {
      worker.delays.clear();
      recorder.delays = &worker.delays;
    }
    if (recorder.delays || recorder.phases) {
      run(recorder);
      if (recorder.delays) worker.delays.fill(result_.trials[i], worker.space.flows);
      if (recorder.phases)
        std::copy(worker.phases.senders().begin(), worker.phases.senders().end(),
                  result_.phases.begin() + static_cast<std::ptrdiff_t>(result_.sender_begin[i]));
      return;
    }
    NoObserver observer;
    run(observer);
  }

  void total_senders(const Workspace& space, std::size_t i) {
    SenderTotals* rows = &result_.senders[result_.sender_begin[i]];
    const std::size_t count = result_.sender_begin[i + 1] - result_.sender_begin[i];
    for (std::size_t s = 0; s < count; ++s) rows[s].first_on = space.senders[s].first_on;
    for (const Flow& flow : space.flows) {
      SenderTotals& row = rows[std::min<std::size_t>(flow.sender, count - 1)];  // open flows share one row
      row.sent += flow.sent;
      row.delivered += flow.delivered;
      row.lost += flow.lost;
      row.dropped += flow.dropped;
      row.acks_dropped += flow.acks_dropped;
      row.delay_sum += flow.delay_sum;
      row.share += flow.share;
      ++row.flows;
      row.stalled += flow.stalled;
    }
  }

  void merge(const std::vector<Worker>& workers) {
    result_.rule_hits = workers.front().rule_hits;
    result_.census = workers.front().census;
    for (std::size_t w = 1; w < workers.size(); ++w) {
      for (std::size_t p = 0; p < policies_.size(); ++p)
        for (std::size_t r = 0; r < result_.rule_hits[p].size(); ++r)
          result_.rule_hits[p][r] += workers[w].rule_hits[p][r];
      for (std::size_t c = 0; c < result_.census.size(); ++c) result_.census[c] += workers[w].census[c];
    }
    join(flows_, result_.flows, result_.flow_begin);
    join(links_, result_.links, result_.link_begin);
  }

  template <class Row>
  static void join(const std::vector<std::vector<Row>>& parts, std::vector<Row>& rows,
                   std::vector<std::size_t>& begin) {
    begin.assign(parts.size() + 1, 0);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      begin[i + 1] = begin[i] + parts[i].size();
      rows.insert(rows.end(), parts[i].begin(), parts[i].end());
    }
  }

  const std::vector<Policy>& policies_;
  const std::vector<Network>& networks_;
  const std::vector<Trial>& trials_;
  const BatchOptions& options_;
  BatchResult result_;
  std::vector<std::vector<Flow>> flows_;
  std::vector<std::vector<LinkTotals>> links_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t finished_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

BatchResult run_batch(const std::vector<Policy>& policies, const std::vector<Network>& networks,
                      const std::vector<Trial>& trials, const BatchOptions& options,
                      const std::function<bool()>& keep_going) {
  return Batch(policies, networks, trials, options).run(keep_going);
}

}  // namespace remy_plus
