// TCP of the kernel. The connection of the next flow is set up while the one before goes on.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "sources.hpp"

namespace lcca_linux {

namespace {

class KernelSource final : public Source {
 public:
  KernelSource(const Plan& plan, std::size_t sender, std::string control, int poller)
      : plan_(plan), sender_(sender), control_(std::move(control)), poller_(poller) {}
  ~KernelSource() override {
    for (const int each : {flow_, next_})
      if (each >= 0) close(each);
  }

  void prepare(std::size_t channel) override {
    next_ = bound_socket(SOCK_STREAM, channel);
    const int few = 128 * 1024;
    setsockopt(next_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &few, sizeof few);
    if (setsockopt(next_, IPPROTO_TCP, TCP_CONGESTION, control_.data(), static_cast<socklen_t>(control_.size())) != 0)
      throw std::runtime_error("the kernel has no congestion control " + control_ +
                               " (those that it has: sysctl net.ipv4.tcp_available_congestion_control)");
    connected_ = false;
    connect_to_receiver(next_);
    watch(poller_, next_, sender_, EPOLLOUT);
  }

  bool ready() override { return connected_; }

  void begin(std::size_t, std::uint64_t length, double) override {
    flow_ = std::exchange(next_, -1);
    complete_ = false;
    left_ = length > 0 ? length * plan_.tcp_payload() : UINT64_MAX;
    watch(poller_, flow_, sender_, EPOLLOUT, true);
  }

  void end(double) override {
    const linger at_once{complete_ ? 0 : 1, 0};  // broken off: what is not sent yet is forgotten
    setsockopt(flow_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(std::exchange(flow_, -1));
  }

  double act(double) override { return remy_plus::never; }

  void hear(int socket, std::uint32_t events, double) override {
    if (socket == next_ && events & (EPOLLERR | EPOLLHUP)) throw std::runtime_error("a connection could not be set up");
    if (socket == next_) {
      connected_ = true;
      watch(poller_, next_, sender_, 0, true);
    } else if (socket == flow_ && left_ > 0) {
      write_some();
    } else if (socket == flow_) {
      std::array<char, 8> nothing;
      complete_ = recv(flow_, nothing.data(), nothing.size(), MSG_DONTWAIT) == 0 || (events & EPOLLERR);
    }
  }

  bool complete() const override { return complete_; }
  void note(Row&) const override {}

 private:
  void write_some() {
    static const std::array<char, 65536> zeros{};
    const ssize_t wrote = send(flow_, zeros.data(), std::min<std::uint64_t>(left_, zeros.size()), MSG_NOSIGNAL);
    if (wrote > 0 && left_ != UINT64_MAX) left_ -= static_cast<std::uint64_t>(wrote);
    if (left_ > 0) return;
    shutdown(flow_, SHUT_WR);  // the receiver closes when it has all
    watch(poller_, flow_, sender_, EPOLLIN, true);
  }

  const Plan& plan_;
  std::size_t sender_;
  std::string control_;
  int poller_, flow_ = -1, next_ = -1;
  bool connected_ = false, complete_ = false;
  std::uint64_t left_ = 0;  // bytes to write
};

}  // namespace

std::unique_ptr<Source> kernel_source(const Plan& plan, std::size_t sender, const KernelControl& control, int poller) {
  return std::make_unique<KernelSource>(plan, sender, control.name, poller);
}

}  // namespace lcca_linux
