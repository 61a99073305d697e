// A first-in, first-out queue in one block of memory that doubles when it is full.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "remy_plus/core/large_pages.hpp"
#include "remy_plus/fabric/parts/fetching.hpp"

namespace remy_plus::fabric {

template <class T>
class Ring {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  T& front() { return items_[begin_ & mask()]; }
  const T& front() const { return items_[begin_ & mask()]; }
  const T& operator[](std::size_t i) const { return items_[(begin_ + static_cast<std::uint32_t>(i)) & mask()]; }

  void push(const T& item) {
    if (end_ - begin_ == mask() + 1) grow();
    items_[end_++ & mask()] = item;
  }
  void pop() { ++begin_; }
  T take_back() { return items_[--end_ & mask()]; }
  void clear() { begin_ = end_ = 0; }
  // Of one that was cleared or never used: the lines of the next items that are pushed.
  void fetch_to_write(std::size_t count) const {
    const std::size_t last = std::min<std::size_t>(count, mask() + 1);
    for (std::size_t i = 0; i < last; i += line / sizeof(T)) fabric::fetch_to_write(&items_[i]);
  }

 private:
  // Seldom; apart, so that push() is short enough to be inlined wherever packets go.
  [[gnu::noinline, gnu::cold]] void grow() {
    const std::uint32_t held = end_ - begin_, capacity = held ? 2 * held : 8;
    Items items(static_cast<T*>(large_pages().allocate(Free::bytes(capacity), line)), {capacity - 1});
    for (std::uint32_t i = 0; i < held; ++i) items[i] = items_[(begin_ + i) & mask()];
    items_ = std::move(items);
    begin_ = 0;
    end_ = held;
  }

  std::uint32_t mask() const { return items_.get_deleter().mask; }

  // Two threads may have rings that lie side by side: each has lines of the cache of its own.
  static constexpr std::size_t line = 64;
  static_assert(sizeof(T) <= line);
  struct Free {
    static std::size_t bytes(std::size_t capacity) { return (capacity * sizeof(T) + line - 1) / line * line; }
    void operator()(T* items) const { large_pages().deallocate(items, bytes(std::size_t{mask} + 1), line); }

    std::uint32_t mask = -1;  // the capacity less one, which is a power of two or 0
  };
  using Items = std::unique_ptr<T[], Free>;

  Items items_;
  std::uint32_t begin_ = 0, end_ = 0;  // count on and on
};

}  // namespace remy_plus::fabric
