#include "remy_plus/fifo/port.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "remy_plus/core/random.hpp"

namespace remy_plus {
namespace {

struct Expected {
  std::uint32_t sequence;
  double arrives;
  std::size_t queue;
};

// The same port as an event loop: one packet in service, the others in a queue.
class NaivePort {
 public:
  NaivePort(double rate, double rtt, std::size_t buffer) : rate_(rate), rtt_(rtt), buffer_(buffer) {}

  bool accept(double now, std::uint32_t sequence) {
    serve(now);
    if (busy_ && queue_.size() >= buffer_) return false;
    queue_.push_back(sequence);
    if (!busy_) start(now);
    return true;
  }

  void serve(double now) {
    while (busy_ && done_ < now) {
      busy_ = false;
      if (!queue_.empty()) start(done_);
    }
  }

  std::vector<Expected> started;

 private:
  void start(double time) {
    busy_ = true;
    done_ = time + 1 / rate_;
    const std::uint32_t sequence = queue_.front();
    queue_.pop_front();
    started.push_back({sequence, done_ + rtt_, queue_.size()});
  }

  double rate_, rtt_;
  std::size_t buffer_;
  std::deque<std::uint32_t> queue_;
  bool busy_ = false;
  double done_ = 0;
};

Network network(double rate, double rtt, double buffer) {
  Network made;
  made.link_rate = rate;
  made.rtt = rtt;
  made.buffer = buffer;
  return made;
}

class Buffers : public testing::TestWithParam<int> {};

TEST_P(Buffers, AgreeWithAnEventLoop) {
  constexpr double rate = 1.7, rtt = 9;
  const auto buffer = static_cast<std::size_t>(GetParam());
  std::vector<Packet> ring(16);  // small, so that it grows
  Port port(network(rate, rtt, GetParam()), {}, ring, metered_signals | queue_signals);
  NaivePort naive(rate, rtt, buffer);
  Stream random(1, 0, Component::loss, 0);
  std::vector<Expected> found;
  double now = 0;
  const auto deliver_until = [&](double time) {
    while (port.next_arrival() <= time) {
      const double arrives = port.next_arrival();
      const Packet& packet = port.deliver();
      found.push_back({packet.sequence, arrives, packet.queue});
    }
  };
  for (std::uint32_t i = 0; i < 20000; ++i) {
    now += random.exponential(i / 2000 % 2 ? 0.45 : 0.9);  // now above capacity, now below
    deliver_until(now);
    ASSERT_EQ(port.accept(now, false, i, 0, 0, false), naive.accept(now, i)) << i;
  }
  naive.serve(1e9);
  deliver_until(1e9);
  ASSERT_EQ(found.size(), naive.started.size());
  ASSERT_EQ(found.size(), port.accepted());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].sequence, naive.started[i].sequence);
    ASSERT_DOUBLE_EQ(found[i].arrives, naive.started[i].arrives);
    ASSERT_EQ(found[i].queue, naive.started[i].queue) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Port, Buffers, testing::Values(0, 1, 3, 40, 100000));

TEST(Port, LostPacketsTakeServiceAndDoNotArrive) {
  std::vector<Packet> ring(16);
  Port port(network(2, 10, never), {}, ring, metered_signals | queue_signals);
  for (std::uint32_t i = 0; i < 40; ++i) port.accept(0, i > 0, i, 0, 0, i % 2 == 0);
  for (std::uint32_t i = 1; i < 40; i += 2) {
    EXPECT_DOUBLE_EQ(port.next_arrival(), (i + 1) * 0.5 + 10);
    const Packet& packet = port.deliver();
    EXPECT_EQ(packet.sequence, i);
    EXPECT_EQ(packet.queue, 39 - i);
  }
  EXPECT_EQ(port.next_arrival(), never);
}

TEST(Port, WaitingEndsWithTheTrial) {
  std::vector<Packet> ring(16);
  Port port(network(1, 0, never), {}, ring, metered_signals | queue_signals);
  for (std::uint32_t i = 0; i < 5; ++i) port.accept(0, i > 0, i, 0, 0, false);
  EXPECT_DOUBLE_EQ(port.waiting(100), 0 + 1 + 2 + 3 + 4);
  EXPECT_DOUBLE_EQ(port.waiting(2.5), 0 + 1 + 2 + 2.5 + 2.5);
}

}  // namespace
}  // namespace remy_plus
