// Memory of what a large simulation goes through all the time. With pages of 4 KiB a processor misses where most of it
// lies (its TLB names 8 MiB at once); here it is in pages of 2 MiB, where the system has them.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace remy_plus {

// Of the whole process, for any thread. It keeps small blocks for later ones.
std::pmr::memory_resource& large_pages();

// An allocator.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class Other>
  LargePages(LargePages<Other>) {}

  T* allocate(std::size_t count) { return static_cast<T*>(large_pages().allocate(count * sizeof(T), alignof(T))); }
  void deallocate(T* items, std::size_t count) { large_pages().deallocate(items, count * sizeof(T), alignof(T)); }

  friend bool operator==(LargePages, LargePages) { return true; }
};

}  // namespace remy_plus
