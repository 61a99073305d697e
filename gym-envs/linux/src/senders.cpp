#include "senders.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <stdexcept>
#include <system_error>

#include "clock.hpp"
#include "remy_plus/core/random.hpp"
#include "sources.hpp"

namespace lcca_linux {

namespace {

constexpr double never = remy_plus::never;
constexpr double most_late = 1000;  // µs of real time
// The engine's components are below 100, ns-3's below 200.
constexpr auto spread = static_cast<remy_plus::Component>(200);

}  // namespace

int bound_socket(int type, std::size_t channel) {
  if (channel >= Ports::most)
    throw std::runtime_error("more than " + std::to_string(Ports::most) + " flows: shorten the trial");
  const int made = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int yes = 1, bytes = 1 << 24;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (type == SOCK_DGRAM) {
    setsockopt(made, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    setsockopt(made, SOL_SOCKET, SO_NO_CHECK, &yes, sizeof yes);  // the link writes into packets
  }
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_port = htons(static_cast<std::uint16_t>(Ports::first + channel));
  if (made < 0 || bind(made, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
    throw std::system_error(errno, std::generic_category(), "sender");
  return made;
}

void connect_to_receiver(int socket) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(Ports::receiver);
  inet_pton(AF_INET, "10.0.0.2", &to.sin_addr);
  if (connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno != EINPROGRESS)
    throw std::system_error(errno, std::generic_category(), "sender");
}

void watch(int poller, int socket, std::size_t sender, std::uint32_t events, bool again) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::uint64_t{sender} << 32 | static_cast<std::uint32_t>(socket);
  epoll_ctl(poller, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
}

Senders::Senders(const Plan& plan, std::atomic<int>& flows)
    : plan_(plan),
      flows_(flows),
      ports_{plan.senders()},
      poller_(epoll_create1(EPOLL_CLOEXEC)),
      senders_(plan.senders()),
      first_on_(plan.senders(), never) {
  traffic_ = plan.network.workload->begin(plan.seed, plan.network, plan.senders(), plan.duration);
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    remy_plus::Stream draws(plan.seed, plan.network.id, spread, i);
    senders_[i].switches = traffic_->first(i) + draws.uniform() * plan.options.start_spread;
    const ControlPlan& control = plan.policy(i);
    if (const auto* kernel = std::get_if<KernelControl>(&control))
      senders_[i].source = kernel_source(plan, i, *kernel, poller_);
    else
      senders_[i].source = policy_source(plan, i, std::get<remy_plus::Policy>(control), poller_, begin_);
    senders_[i].source->prepare(ports_.channel(i, 0));
  }
}

Senders::~Senders() { close(poller_); }

double Senders::now() const { return plan_.us(clock_ns() - begin_); }

void Senders::run(const std::atomic<bool>& stopped, std::atomic<std::int64_t>& begin) {
  wait_for_connections(stopped);
  begin_ = clock_ns() + 5'000'000;
  begin.store(begin_);
  for (double at = now(); !stopped.load(std::memory_order_relaxed) && at < plan_.duration; at = now()) step(at);
  for (std::size_t i = 0; i < senders_.size(); ++i)
    if (senders_[i].row != none) switch_off(i, plan_.duration, false);
  share();
}

void Senders::wait_for_connections(const std::atomic<bool>& stopped) {
  const std::int64_t latest = clock_ns() + 5'000'000'000 + plan_.ns(4 * plan_.network.rtt);
  const auto ready = [&] { return std::ranges::all_of(senders_, [](Sender& each) { return each.source->ready(); }); };
  while (!stopped.load() && !ready()) {
    if (clock_ns() > latest) throw std::runtime_error("a connection was not set up in time");
    std::array<epoll_event, 64> events{};
    const int count = epoll_wait(poller_, events.data(), events.size(), 5);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t data = events[static_cast<std::size_t>(i)].data.u64;
      senders_.at(data >> 32)
          .source->hear(static_cast<int>(data & UINT32_MAX), events[static_cast<std::size_t>(i)].events, 0);
    }
  }
}

// Does what is due, and waits for what comes next.
void Senders::step(double at) {
  double next = plan_.duration;
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    Sender& sender = senders_[i];
    if (sender.switches <= at) sender.row == none ? switch_on(i, at) : switch_off(i, at, true);
    if (sender.row != none) next = std::min(next, sender.source->act(at));
    if (sender.row != none && sender.source->complete()) switch_off(i, at, true);
    next = std::min(next, sender.switches);
  }
  wait(next);
}

void Senders::wait(double until) {
  const auto left = plan_.ns(std::min(until - now(), 1e9)) - spin_ns;
  const timespec longest = timespec_of(std::clamp<std::int64_t>(left, 0, 20'000'000));
  std::array<epoll_event, 64> events{};
  const int count = epoll_pwait2(poller_, events.data(), events.size(), &longest, nullptr);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    senders_.at(event.data.u64 >> 32).source->hear(static_cast<int>(event.data.u64 & UINT32_MAX), event.events, now());
  }
}

void Senders::switch_on(std::size_t i, double at) {
  Sender& sender = senders_[i];
  if (!sender.source->ready()) return;  // its connection is late, and so is the flow
  // A little late, as all is in real time, it counts from when it should have begun.
  const double due = at - sender.switches < most_late / plan_.options.time_scale ? sender.switches : at;
  const std::size_t n = sender.flows++;
  ++flows_;
  sender.row = rows_.size();
  Row& row = rows_.emplace_back();
  row.sender = static_cast<std::uint32_t>(i);
  row.start = due;
  row.channel = ports_.channel(i, n);
  row.length = traffic_->length(i, static_cast<std::uint32_t>(n));
  first_on_[i] = std::min(first_on_[i], due);
  sender.switches = traffic_->next_off(i, due);
  sender.source->begin(row.channel, row.length, at);
  sender.source->prepare(ports_.channel(i, n + 1));
}

void Senders::switch_off(std::size_t i, double at, bool finished) {
  Sender& sender = senders_[i];
  Row& row = rows_[sender.row];
  sender.source->end(at);
  sender.source->note(row);
  row.end = finished && row.length == 0 ? std::min(sender.switches, plan_.duration) : at;
  row.finished = finished;
  --flows_;
  sender.row = none;
  sender.switches = traffic_->next_on(i, row.end);
}

// ∫ dt / senders that are on, of each flow.
void Senders::share() {
  std::vector<std::pair<double, std::ptrdiff_t>> changes;  // when, and by how much the number of flows changes
  for (const Row& row : rows_) {
    changes.emplace_back(row.start, 1);
    changes.emplace_back(row.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::vector<double> times, totals;  // of the integral
  double total = 0, before = 0;
  std::ptrdiff_t on = 0;
  for (const auto& [at, change] : changes) {
    if (on > 0) total += (at - before) / static_cast<double>(on);
    on += change;
    before = at;
    times.push_back(at);
    totals.push_back(total);
  }
  const auto until = [&](double at) {
    return totals[static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), at) - times.begin())];
  };
  for (Row& row : rows_) row.share = until(row.end) - until(row.start);
}

}  // namespace lcca_linux
