#include "namespaces.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace lcca_linux {

namespace {

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void write_line(const char* file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw std::runtime_error(std::string(file) + ": cannot be written");
}

}  // namespace

bool privileged() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (syscall(SYS_capget, &header, data.data()) != 0) return false;
  const auto has = [&](int capability) { return data[0].effective >> capability & 1; };
  return has(CAP_SYS_ADMIN) && has(CAP_NET_ADMIN) && has(CAP_NET_RAW);
}

void enter_user_namespace() {
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(CLONE_NEWUSER) != 0)
    throw std::runtime_error(std::string("no user namespace (") + std::strerror(errno) +
                             "): run as root, or allow them (sysctl kernel.unprivileged_userns_clone, in containers "
                             "--cap-add SYS_ADMIN or --security-opt seccomp=unconfined)");
  write_line("/proc/self/setgroups", "deny");
  write_line("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
  write_line("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
}

void enter_network_namespace() {
  if (unshare(CLONE_NEWNET) != 0) fail("no network namespace");
  run_ip("link set lo up\n");
}

void run_ip(const std::string& lines) {
  std::array<int, 2> in{}, out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) fail("pipe");
  const pid_t child = vfork();
  if (child < 0) fail("ip");
  if (child == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(out[1], 2);
    execlp("ip", "ip", "-batch", "-", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  const bool written = write(in[1], lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
  close(in[1]);
  std::string said;
  std::array<char, 512> part{};
  for (ssize_t got = 0; (got = read(out[0], part.data(), part.size())) > 0;) said.append(part.data(), got);
  close(out[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw std::runtime_error("ip is not installed: get the package iproute2");
  if (!written || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("ip: " + said.substr(0, 400));
}

void stop_offloads(const char* device) {
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) fail("socket");
  for (const std::uint32_t command : {ETHTOOL_STXCSUM, ETHTOOL_SSG, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO}) {
    ethtool_value value{command, 0};
    ifreq request{};
    std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    ioctl(any, SIOCETHTOOL, &request);  // what a device cannot change it does not do
  }
  close(any);
}

int packet_socket(const char* device) {
  const int made = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) fail("packet socket");
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(ETH_P_IP);
  where.sll_ifindex = static_cast<int>(if_nametoindex(device));
  const int yes = 1, bytes = 1 << 24;
  setsockopt(made, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes);
  setsockopt(made, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
  if (setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
    setsockopt(made, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  if (setsockopt(made, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
    setsockopt(made, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  if (bind(made, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) fail(device);
  return made;
}

bool take_priority(int priority) {
  prctl(PR_SET_TIMERSLACK, 1);
  const sched_param wanted{priority};
  return sched_setscheduler(0, SCHED_FIFO, &wanted) == 0;
}

}  // namespace lcca_linux
