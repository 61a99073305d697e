#include "trial.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "clock.hpp"
#include "link.hpp"
#include "namespaces.hpp"
#include "receivers.hpp"
#include "senders.hpp"

namespace lcca_linux {

namespace {

constexpr int link_priority = 20, host_priority = 10;

// Threads wait for one another; all give up when one fails.
class Meeting {
 public:
  explicit Meeting(int members) : members_(members) {}

  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const int round = round_;
    if (++here_ == members_) {
      here_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round || failed_; });
    if (failed_) throw GivenUp{};
  }

  // Of the thread whose exception is the current one.
  void fail() {
    const std::lock_guard lock(mutex_);
    try {
      throw;
    } catch (const GivenUp&) {
    } catch (...) {
      if (!failed_) failure_ = std::current_exception();
      failed_ = true;
    }
    changed_.notify_all();
  }

  std::exception_ptr failure() const { return failure_; }

 private:
  struct GivenUp {};

  const int members_;
  int here_ = 0, round_ = 0;
  bool failed_ = false;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

class Trial {
 public:
  explicit Trial(const Plan& plan) : plan_(plan) {}

  Result run(const std::function<void()>& keep_going) {
    std::array<std::thread, 3> threads{start([this] { be_link(); }), start([this] { be_receivers(); }),
                                       start([this] { be_senders(); })};
    std::exception_ptr interrupted;
    while (running_.load() > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      try {
        if (!interrupted) keep_going();
      } catch (...) {
        interrupted = std::current_exception();
        stopped_ = true;
      }
    }
    for (std::thread& each : threads) each.join();
    if (interrupted) std::rethrow_exception(interrupted);
    if (meeting_.failure()) std::rethrow_exception(meeting_.failure());
    return collect();
  }

 private:
  template <class Body>
  std::thread start(Body body) {
    ++running_;
    return std::thread([this, body] {
      try {
        body();
      } catch (...) {
        meeting_.fail();
        stopped_ = true;
      }
      --running_;
    });
  }

  // --- the threads

  void be_link() {
    enter_network_namespace();
    meeting_.arrive_and_wait();  // hosts have theirs
    run_ip("link add s1 type veth peer name s0 netns " + std::to_string(sender_thread_) +
           "\nlink add r1 type veth peer name r0 netns " + std::to_string(receiver_thread_) + "\n");
    run_ip("link set s1 up mtu " + mtu() + "\nlink set r1 up mtu " + mtu() + "\n");
    const int to_sender = packet_socket("s1"), to_receiver = packet_socket("r1");
    link_.emplace(plan_, to_sender, to_receiver, begin_, flows_);
    meeting_.arrive_and_wait();  // there are devices
    meeting_.arrive_and_wait();  // and hosts have set them up
    real_time_ = plan_.options.real_time && take_priority(link_priority);
    link_->run(stopped_);
    missed_ = link_->missed();
    close(to_sender);
    close(to_receiver);
  }

  void be_receivers() {
    set_up(receiver_thread_, "r0", 2, 1);
    receivers_ = std::make_unique<Receivers>(plan_);
    meeting_.arrive_and_wait();
    if (plan_.options.real_time) take_priority(host_priority);
    receivers_->run(stopped_, begin_);
  }

  void be_senders() {
    set_up(sender_thread_, "s0", 1, 2);
    meeting_.arrive_and_wait();
    if (plan_.options.real_time) take_priority(host_priority);
    senders_ = std::make_unique<Senders>(plan_, flows_);
    senders_->run(stopped_, begin_);
    stopped_ = true;
  }

  std::string mtu() const { return std::to_string(plan_.options.packet_bytes + (plan_.header ? plan_.wire.bytes : 0)); }

  // Gives the calling thread a host: a namespace with a device on which all packets go to its peer's address.
  void set_up(pid_t& thread, const std::string& device, int own, int peer) {
    enter_network_namespace();
    thread = static_cast<pid_t>(syscall(SYS_gettid));
    meeting_.arrive_and_wait();
    meeting_.arrive_and_wait();  // there are devices
    for (const char* file : {"/proc/sys/net/ipv6/conf/all/disable_ipv6", "/proc/sys/net/ipv4/tcp_no_metrics_save"})
      std::ofstream(file) << 1;
    std::ofstream("/proc/sys/net/ipv4/tcp_rmem") << "4096 1048576 67108864";
    std::ofstream("/proc/sys/net/ipv4/tcp_wmem") << "4096 1048576 67108864";
    stop_offloads(device.c_str());
    const auto mac = [](int host) { return "02:00:00:00:00:0" + std::to_string(host); };
    const auto address = [](int host) { return "10.0.0." + std::to_string(host); };
    const std::string quick = own == 2 && plan_.options.quick_acks ? " quickack 1" : "";
    run_ip("link set " + device + " address " + mac(own) + " mtu " + mtu() +
           (plan_.options.single_segments ? " gso_max_segs 1" : "") + "\nlink set " + device + " up\naddr add " +
           address(own) + "/32 dev " + device + "\nroute add " + address(peer) + "/32 dev " + device + quick +
           "\nneigh add " + address(peer) + " lladdr " + mac(peer) + " dev " + device + "\n");
  }

  // --- the record

  Result collect() {
    Result result;
    const std::int64_t begin = begin_.load();
    double trips = 0, trip_sum = 0, delays = 0, delay_sum = 0;
    for (Row& row : senders_->rows()) {
      const Passage& passed = link_->passage(row.channel);
      const Arrived arrived = receivers_->arrived(row.channel);
      const bool kernel = std::holds_alternative<KernelControl>(plan_.policy(row.sender));
      row.sent = passed.sent;
      row.dropped = passed.dropped;
      row.lost = passed.lost;
      row.samples = passed.samples;
      // What has come while its ACK can be home before the trial ends; of TCP without what came twice.
      row.delivered = std::min(arrived.bytes / (kernel ? plan_.tcp_payload() : plan_.udp_payload()), passed.samples);
      row.delays = passed.delays;
      if (passed.samples > 0)
        row.delay_sum = passed.delay_sum * static_cast<double>(row.delivered) / static_cast<double>(passed.samples);
      if (arrived.last > 0) row.last_arrival = plan_.us(arrived.last - begin);
      if (row.length > 0 && row.finished) row.end = std::max(row.start, row.last_arrival);
      result.totals.sent += row.sent;
      result.totals.delivered += row.delivered;
      trips += static_cast<double>(row.trips);
      trip_sum += row.trip_sum;
      if (row.trips > 0) {
        delays += static_cast<double>(passed.samples);
        delay_sum += passed.delay_sum;
      }
    }
    result.first_on = senders_->first_on();
    link_->fill(result.totals);
    result.totals.events = result.totals.sent;
    if (trips > 0 && delays > 0) result.host_delay_mean = trip_sum / trips - delay_sum / delays;
    result.flows = std::move(senders_->rows());
    if (plan_.options.keep_delays) fill_delays(result);
    result.lateness = link_->lateness();
    result.missed = missed_;
    result.real_time = real_time_;
    return result;
  }

  static void fill_delays(Result& result) {
    std::vector<float> all;
    for (Row& row : result.flows) {
      std::sort(row.delays.begin(), row.delays.end());
      row.delay_p50 = at(row.delays, 0.5);
      row.delay_p99 = at(row.delays, 0.99);
      all.insert(all.end(), row.delays.begin(), row.delays.end());
    }
    std::sort(all.begin(), all.end());
    constexpr std::array<double, 5> quantiles{0.5, 0.9, 0.95, 0.99, 0.999};
    for (std::size_t i = 0; i < quantiles.size(); ++i) result.totals.delay_quantiles[i] = at(all, quantiles[i]);
  }

  static double at(const std::vector<float>& sorted, double quantile) {
    if (sorted.empty()) return std::nan("");
    return double{sorted[static_cast<std::size_t>(quantile * static_cast<double>(sorted.size() - 1))]};
  }

  const Plan& plan_;
  Meeting meeting_{3};
  std::atomic<int> running_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<std::int64_t> begin_{0};
  std::atomic<int> flows_{0};
  pid_t sender_thread_ = 0, receiver_thread_ = 0;
  std::optional<Link> link_;
  std::unique_ptr<Receivers> receivers_;
  std::unique_ptr<Senders> senders_;
  std::uint64_t missed_ = 0;
  bool real_time_ = false;
};

}  // namespace

Result run_trial(const Plan& plan, const std::function<void()>& keep_going) { return Trial(plan).run(keep_going); }

}  // namespace lcca_linux
