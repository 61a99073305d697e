#include "remy_plus/core/large_pages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace remy_plus {

namespace {

constexpr std::size_t page = std::size_t{1} << 21;

// Blocks of at most half a page are cut from pages: a power of two each, kept for later ones of the same size when it
// is given back. Larger ones have pages of their own.
class LargeMemory : public std::pmr::memory_resource {
  static constexpr std::size_t least = 128;  // bytes, and the alignment of all

  struct Free {
    Free* next;
  };

  static bool cut(std::size_t bytes) { return bytes <= page / 2; }
  static std::size_t whole(std::size_t bytes) { return (bytes + page - 1) / page * page; }
  Free*& free(std::size_t size) { return free_[static_cast<std::size_t>(std::countr_zero(size))]; }

  static void* pages(std::size_t bytes) {
    void* const found = ::operator new(bytes, std::align_val_t(page));
#ifdef MADV_HUGEPAGE
    madvise(found, bytes, MADV_HUGEPAGE);  // where it fails, pages are small
#endif
    return found;
  }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (alignment > least) throw std::bad_alloc();
    if (!cut(bytes)) return pages(whole(bytes));
    const std::size_t size = std::bit_ceil(std::max(bytes, least));
    const std::lock_guard lock(mutex_);
    if (Free*& first = free(size)) return std::exchange(first, first->next);
    if (left_ < size) {
      for (; left_ > 0; left_ -= std::bit_floor(left_)) keep(end_ - left_, std::bit_floor(left_));
      end_ = static_cast<char*>(pages(page)) + page;
      left_ = page;
    }
    return end_ - std::exchange(left_, left_ - size);
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t) override {
    if (!cut(bytes)) return ::operator delete(at, std::align_val_t(page));
    const std::lock_guard lock(mutex_);
    keep(at, std::bit_ceil(std::max(bytes, least)));
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  void keep(void* at, std::size_t size) { free(size) = new (at) Free{free(size)}; }

  std::mutex mutex_;
  std::array<Free*, 22> free_{};  // of each power of two
  char* end_ = nullptr;           // of the page that is being cut
  std::size_t left_ = 0;          // bytes of it
};

}  // namespace

// Never destroyed: threads that end late may still give back. Sanitizers are to see every block.
std::pmr::memory_resource& large_pages() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return *std::pmr::new_delete_resource();
#else
  static auto* const memory = new LargeMemory;
  return *memory;
#endif
}

}  // namespace remy_plus
