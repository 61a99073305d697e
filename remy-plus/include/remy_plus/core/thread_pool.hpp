// A pool of threads that does many short rounds of work without starting threads anew.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace remy_plus {

// Between two looks: a neighbour on the same core goes on.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class ThreadPool {
 public:
  // `size` threads, the calling one included; fewer where no more can be had. Where rounds follow one another closely,
  // threads look for the next one, or for the end of one, for as long as `patience` before they sleep.
  explicit ThreadPool(unsigned size, std::chrono::microseconds patience = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const { return threads_.size() + 1; }

  // Calls work(i) for every i below `count`, in blocks and in any order, and returns when all are done. A thread has
  // the same blocks first in every round of as many, and then those that others have not begun. The first exception is
  // thrown again; work that had not begun is left out then.
  void run(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  void serve(std::size_t thread);
  void take_blocks(std::size_t thread, std::unique_lock<std::mutex>& lock);
  template <class Ready>
  void look_for(const Ready& ready) const;

  std::chrono::microseconds patience_;
  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0, block_ = 1;
  std::vector<std::uint8_t> begun_blocks_;
  std::atomic<std::size_t> round_ = 0, busy_ = 0;  // written with the lock, looked at without
  std::atomic<bool> closing_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace remy_plus
