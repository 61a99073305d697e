// The host that sends: flows begin and end as the network's workload says, and each sender's go by TCP or by a policy.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "plan.hpp"

namespace lcca_linux {

// What one sender does with the flows that it is given, one after another. Times are µs since the trial began.
class Source {
 public:
  virtual ~Source() = default;

  // Makes ready for the flow that comes next, on a channel of its own; whether it is.
  virtual void prepare(std::size_t channel) = 0;
  virtual bool ready() = 0;
  // It begins; `length` packets, or 0 for one that ends from outside.
  virtual void begin(std::size_t channel, std::uint64_t length, double now) = 0;
  virtual void end(double now) = 0;

  // What is due is done; when the next thing will be.
  virtual double act(double now) = 0;
  // A socket of it can be read or written.
  virtual void hear(int socket, std::uint32_t events, double now) = 0;
  // All of the flow's length has arrived.
  virtual bool complete() const = 0;
  // Adds what it knows to the row of the flow that just ended, or stands open at the trial's end.
  virtual void note(Row& row) const = 0;
};

class Senders {
 public:
  // `flows`: those that are on now, for the link.
  Senders(const Plan& plan, std::atomic<int>& flows);
  ~Senders();
  Senders(const Senders&) = delete;
  Senders& operator=(const Senders&) = delete;

  // Sets up connections, then begins the trial and tells when (ns), and goes on to its end or until it is stopped.
  void run(const std::atomic<bool>& stopped, std::atomic<std::int64_t>& begin);

  std::vector<Row>& rows() { return rows_; }
  const std::vector<double>& first_on() const { return first_on_; }

 private:
  static constexpr std::size_t none = SIZE_MAX;
  struct Sender {
    std::unique_ptr<Source> source;
    double switches = 0;  // µs
    std::size_t row = none;
    std::size_t flows = 0;
  };

  void wait_for_connections(const std::atomic<bool>& stopped);
  void step(double now);
  void switch_on(std::size_t i, double now);
  void switch_off(std::size_t i, double now, bool finished);
  void wait(double until);
  void share();
  double now() const;

  const Plan& plan_;
  std::atomic<int>& flows_;
  Ports ports_;
  int poller_;
  std::int64_t begin_ = 0;
  std::vector<Sender> senders_;
  std::unique_ptr<remy_plus::Traffic> traffic_;
  std::vector<Row> rows_;
  std::vector<double> first_on_;
};

}  // namespace lcca_linux
