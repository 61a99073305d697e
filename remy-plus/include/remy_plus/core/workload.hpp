// The contract of workloads: when flows begin and end, and how long they are. Networks name one; the event loops of all
// simulators ask it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

namespace remy_plus {

inline constexpr double never = std::numeric_limits<double>::infinity();

struct Network;

// What one trial asks of its workload, with what that has drawn so far. Times are µs since the trial began. Each
// sender's calls come in the order of its flows, and depend on nothing that a policy does but `now`.
class Traffic {
 public:
  virtual ~Traffic() = default;
  virtual double first(std::size_t sender) = 0;                           // when its first flow begins
  virtual double next_on(std::size_t sender, double now) = 0;             // the next flow, if one ended now
  virtual double next_off(std::size_t, double /*now*/) { return never; }  // the end of the flow that began now
  virtual std::uint64_t length(std::size_t, std::uint32_t) { return 0; }  // packets of flow n of the trial; 0: no end
};

class Workload {
 public:
  virtual ~Workload() = default;
  // Whether flows begin whatever the others do, each at a sender of its own that leaves when its last packet has
  // arrived: then sender 0 of the traffic stands for the arrivals, one after another. Else flows are those of a
  // network's senders, and end with next_off() or when nothing of their length is under way any more.
  virtual bool open() const { return false; }
  // Throws std::invalid_argument if the workload does not suit a network.
  virtual void check(const Network&) const {}
  virtual std::unique_ptr<Traffic> begin(std::uint64_t seed, const Network& network, std::size_t senders,
                                         double duration) const = 0;
};

}  // namespace remy_plus
