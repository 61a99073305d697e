// A first-in, first-out queue in one block of memory that doubles when it is full.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace remy_plus::fabric {

template <class T>
class Ring {
 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  T& front() { return items_[begin_ & mask_]; }
  const T& front() const { return items_[begin_ & mask_]; }
  const T& operator[](std::size_t i) const { return items_[(begin_ + i) & mask_]; }

  void push(const T& item) {
    if (size() == capacity_) grow();
    items_[end_++ & mask_] = item;
  }
  void pop() { ++begin_; }
  T take_back() { return items_[--end_ & mask_]; }

 private:
  // Seldom; apart, so that push() is short enough to be inlined wherever packets go.
  [[gnu::noinline, gnu::cold]] void grow() {
    const std::size_t held = size(), capacity = capacity_ ? 2 * capacity_ : 8;
    auto items = std::make_unique<T[]>(capacity);
    for (std::size_t i = 0; i < held; ++i) items[i] = std::move(items_[(begin_ + i) & mask_]);
    items_ = std::move(items);
    begin_ = 0;
    end_ = held;
    capacity_ = capacity;
    mask_ = capacity - 1;
  }

  std::unique_ptr<T[]> items_;
  std::size_t begin_ = 0, end_ = 0, capacity_ = 0, mask_ = 0;
};

}  // namespace remy_plus::fabric
