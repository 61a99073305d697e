#include "remy_plus/core/thread_pool.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace remy_plus {

ThreadPool::ThreadPool(unsigned size, std::chrono::microseconds patience) : patience_(patience) {
  try {
    for (unsigned i = 1; i < std::min(size, 256u); ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error&) {  // fewer do as well
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (threads_.empty() || count < 2) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::unique_lock lock(mutex_);
  work_ = &work;
  count_ = count;
  block_ = std::max<std::size_t>(1, count / (8 * (threads_.size() + 1)));
  begun_blocks_.assign((count + block_ - 1) / block_, 0);
  ++round_;
  begun_.notify_all();
  take_blocks(0, lock);
  lock.unlock();
  look_for([this] { return busy_ == 0; });
  lock.lock();
  ended_.wait(lock, [this] { return busy_ == 0; });
  work_ = nullptr;
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void ThreadPool::serve(std::size_t thread) {
  std::size_t seen = 0;
  for (;;) {
    const auto called = [&] { return closing_ || round_ != seen; };
    look_for(called);
    std::unique_lock lock(mutex_);
    begun_.wait(lock, called);
    if (closing_) return;
    seen = round_;
    take_blocks(thread, lock);
  }
}

// Without giving the core away: where others want it, it would come back milliseconds and many rounds later.
template <class Ready>
void ThreadPool::look_for(const Ready& ready) const {
  if (patience_ == patience_.zero()) return;
  const auto end = std::chrono::steady_clock::now() + patience_;
  while (!ready() && std::chrono::steady_clock::now() < end) pause();
}

void ThreadPool::take_blocks(std::size_t thread, std::unique_lock<std::mutex>& lock) {
  ++busy_;
  const std::size_t blocks = begun_blocks_.size();
  for (std::size_t i = 0; i < blocks && work_; ++i) {
    const std::size_t own = (thread * blocks / (threads_.size() + 1) + i) % blocks;
    if (std::exchange(begun_blocks_[own], 1)) continue;
    const auto& work = *work_;
    lock.unlock();
    try {
      for (std::size_t k = own * block_; k < std::min(count_, (own + 1) * block_); ++k) work(k);
      lock.lock();
    } catch (...) {
      lock.lock();
      if (!failure_) failure_ = std::current_exception();
      std::ranges::fill(begun_blocks_, std::uint8_t{1});
    }
  }
  if (--busy_ == 0) ended_.notify_all();
}

}  // namespace remy_plus
