#include "remy_plus/core/thread_pool.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace remy_plus;

// Goes down as what was thrown leaves its scope: its catch is next.
struct DownAtLeaving {
  std::latch& latch;
  ~DownAtLeaving() { latch.count_down(); }
};

TEST(ThreadPool, FirstExceptionIsThrownAgain) {
  ThreadPool pool(2);
  for (const std::size_t first : {0, 1}) {  // this thread's, the other one's
    std::latch both(2), thrown(1);
    const auto work = [&](std::size_t i) {
      both.arrive_and_wait();
      if (i == first) {
        const DownAtLeaving leaving{thrown};
        throw std::runtime_error("first");
      }
      thrown.wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the other one has been caught by then
      throw std::runtime_error("second");
    };
    try {
      pool.run(2, work);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("first"));
    }
  }
}

// What was thrown in one round is not thrown in the next.
TEST(ThreadPool, RoundAfterAnExceptionIsWhole) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.run(2, [](std::size_t) { throw std::runtime_error("both"); }), std::runtime_error);
  std::vector<int> done(100, 0);
  pool.run(done.size(), [&](std::size_t i) { ++done[i]; });
  EXPECT_EQ(done, std::vector<int>(100, 1));
}

}  // namespace
