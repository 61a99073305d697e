// The host that receives: it acknowledges each packet of a policy, and reads what TCP brings.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plan.hpp"
#include "remy_plus/headers/reader.hpp"

namespace lcca_linux {

// What has arrived of a flow.
struct Arrived {
  std::uint64_t bytes = 0;  // of payload
  std::int64_t last = 0;    // ns
};

class Receivers {
 public:
  // Listens in the calling thread's namespace. `begin` and `end` are ns; what comes outside is read but not counted.
  explicit Receivers(const Plan& plan);
  ~Receivers();
  Receivers(const Receivers&) = delete;
  Receivers& operator=(const Receivers&) = delete;

  void run(const std::atomic<bool>& stopped, const std::atomic<std::int64_t>& begin);

  Arrived arrived(std::size_t channel) const { return channel < arrived_.size() ? arrived_[channel] : Arrived{}; }

 private:
  void answer();
  void accept_all();
  void read_all(int connection);
  bool reflects(std::size_t channel, std::uint32_t number, double now);
  void count(std::size_t channel, std::uint64_t bytes);

  const Plan& plan_;
  int poller_, udp_, listener_;
  std::int64_t begin_ = 0;
  std::unordered_map<int, std::size_t> connections_;  // channels
  std::vector<Arrived> arrived_;
  std::optional<Header> header_;
  std::vector<remy_plus::Reflector> reflectors_;  // by channel
};

}  // namespace lcca_linux
