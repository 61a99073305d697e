#include "receivers.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "clock.hpp"
#include "wire.hpp"

namespace lcca_linux {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::system_error(errno, std::generic_category(), what);
}

void watch(int poller, int socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket;
  require(epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) == 0, "epoll");
}

}  // namespace

Receivers::Receivers(const Plan& plan) : plan_(plan), poller_(epoll_create1(EPOLL_CLOEXEC)) {
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(Ports::receiver);
  const auto* where = reinterpret_cast<const sockaddr*>(&any);
  const int bytes = 1 << 24;
  udp_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  setsockopt(udp_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  require(udp_ >= 0 && bind(udp_, where, sizeof any) == 0, "receiver");
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  require(listener_ >= 0 && bind(listener_, where, sizeof any) == 0 && listen(listener_, 4096) == 0, "receiver");
  if (plan.header) header_.emplace(*plan.header, plan.wire);
  watch(poller_, udp_);
  watch(poller_, listener_);
}

Receivers::~Receivers() {
  for (const auto& [connection, channel] : connections_) close(connection);
  for (const int each : {listener_, udp_, poller_}) close(each);
}

void Receivers::run(const std::atomic<bool>& stopped, const std::atomic<std::int64_t>& begin) {
  std::array<epoll_event, 64> events{};
  while (!stopped.load(std::memory_order_relaxed)) {
    const int count = epoll_wait(poller_, events.data(), events.size(), 20);
    begin_ = begin.load(std::memory_order_relaxed);
    for (int i = 0; i < count; ++i) {
      const int which = events[static_cast<std::size_t>(i)].data.fd;
      if (which == udp_)
        answer();
      else if (which == listener_)
        accept_all();
      else
        read_all(which);
    }
  }
}

void Receivers::count(std::size_t channel, std::uint64_t bytes) {
  const std::int64_t now = clock_ns();
  if (begin_ == 0 || now > begin_ + plan_.ns(plan_.duration)) return;
  if (arrived_.size() <= channel) arrived_.resize(channel + 1);
  arrived_[channel].bytes += bytes;
  arrived_[channel].last = now;
}

void Receivers::answer() {
  std::array<std::uint8_t, 2048> packet;
  std::array<std::uint8_t, 2048> answer;
  sockaddr_in from{};
  socklen_t size = sizeof from;
  for (ssize_t got = 0; (got = recvfrom(udp_, packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from),
                                        &size)) >= static_cast<ssize_t>(sizeof(DataHeader));) {
    const auto& data = *reinterpret_cast<const DataHeader*>(packet.data());
    const std::size_t channel = ntohs(from.sin_port) - Ports::first;
    const std::int64_t now = clock_ns();
    const bool reflected = header_ && reflects(channel, data.number, plan_.us(now - begin_));
    const AckHeader ack{data.number, reflected, data.sent_at, now};
    std::memcpy(answer.data(), &ack, sizeof ack);
    std::size_t bytes = sizeof ack;
    if (reflected) {
      std::memcpy(answer.data() + bytes, packet.data() + sizeof(DataHeader), plan_.wire.room());
      bytes += plan_.wire.room();
    }
    sendto(udp_, answer.data(), bytes, 0, reinterpret_cast<const sockaddr*>(&from), size);
    count(channel, static_cast<std::uint64_t>(got));
  }
}

bool Receivers::reflects(std::size_t channel, std::uint32_t number, double now) {
  const Ports ports{plan_.senders()};
  header_->depart({plan_.seed, plan_.network.id, ports.sender(channel), number});
  if (reflectors_.size() <= channel) reflectors_.resize(channel + 1);
  return header_->carried.there && reflectors_[channel].reflects(*plan_.header, now);
}

void Receivers::accept_all() {
  sockaddr_in from{};
  socklen_t size = sizeof from;
  for (int made = 0;
       (made = accept4(listener_, reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    connections_[made] = ntohs(from.sin_port) - Ports::first;
    watch(poller_, made);
  }
}

void Receivers::read_all(int connection) {
  const std::size_t channel = connections_.at(connection);
  ssize_t got = 0;
  while ((got = recv(connection, nullptr, 1 << 20, MSG_TRUNC | MSG_DONTWAIT)) > 0)
    count(channel, static_cast<std::uint64_t>(got));
  if (plan_.options.quick_acks) {  // the route asks for them too; the kernel leaves that mode by itself
    const int yes = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  close(connection);  // it ended, or was broken off
  connections_.erase(connection);
}

}  // namespace lcca_linux
