// What packets under way carry beside themselves; a packet names its own by number.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "remy_plus/core/large_pages.hpp"

namespace remy_plus::fabric {

// Threads of a run take and give back at the same time: each has a stock of numbers of its own, and exchanges a batch
// of them with the others where it has too few or too many. What a number names stays where it is.
template <class T>
class Pool {
 public:
  void divide(std::size_t threads) { stocks_.resize(threads); }

  // What it holds is what was there before.
  std::uint64_t take(std::size_t thread) {
    std::vector<std::uint64_t>& own = stocks_[thread].numbers;
    if (own.empty()) [[unlikely]]
      fetch(own);
    const std::uint64_t number = own.back();
    own.pop_back();
    return number;
  }
  void give_back(std::size_t thread, std::uint64_t number) {
    std::vector<std::uint64_t>& own = stocks_[thread].numbers;
    own.push_back(number);
    if (own.size() == 2 * batch) [[unlikely]]
      leave(own);
  }

  T& operator[](std::uint64_t number) {
    const int block = std::bit_width(number) - 1;
    return blocks_[static_cast<std::size_t>(block)][number ^ std::uint64_t{1} << block].value;
  }
  const T& operator[](std::uint64_t number) const { return const_cast<Pool&>(*this)[number]; }

 private:
  static constexpr std::size_t batch = 64;  // a power of two

  // In lines of the cache of its own; processors fetch two that lie side by side.
  struct alignas(sizeof(T) > 64 ? 128 : 64) Entry {
    T value;
  };
  struct alignas(64) Stock {
    std::vector<std::uint64_t> numbers;
  };

  [[gnu::noinline, gnu::cold]] void fetch(std::vector<std::uint64_t>& own) {
    const std::lock_guard lock(mutex_);
    if (!left_.empty()) {
      own.assign(left_.end() - batch, left_.end());
      left_.resize(left_.size() - batch);
      return;
    }
    if (std::has_single_bit(new_)) blocks_[static_cast<std::size_t>(std::bit_width(new_) - 1)] = Block(new_);
    for (std::uint64_t i = batch; i-- > 0;) own.push_back(new_ + i);
    new_ += batch;
  }

  [[gnu::noinline, gnu::cold]] void leave(std::vector<std::uint64_t>& own) {
    const std::lock_guard lock(mutex_);
    left_.insert(left_.end(), own.end() - batch, own.end());
    own.resize(own.size() - batch);
  }

  using Block = std::vector<Entry, LargePages<Entry>>;

  std::array<Block, 64> blocks_;  // of the numbers from 2^i to before 2^(i + 1)
  std::vector<Stock> stocks_ = std::vector<Stock>(1);
  std::mutex mutex_;  // of what follows
  std::vector<std::uint64_t> left_;
  std::uint64_t new_ = batch;  // that was never taken
};

}  // namespace remy_plus::fabric
