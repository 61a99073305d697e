#include "remy_plus/core/large_pages.hpp"

#include <mutex>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace remy_plus {

namespace {

constexpr std::size_t page = std::size_t{1} << 21;

// Whole pages.
class Pages : public std::pmr::memory_resource {
  static std::size_t whole(std::size_t bytes) { return (bytes + page - 1) / page * page; }

  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* const found = ::operator new(whole(bytes), std::align_val_t(page));
#ifdef MADV_HUGEPAGE
    madvise(found, whole(bytes), MADV_HUGEPAGE);  // where it fails, pages are small
#endif
    return found;
  }
  void do_deallocate(void* at, std::size_t, std::size_t) override { ::operator delete(at, std::align_val_t(page)); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

// Blocks of less than a page are cut from pages, larger ones have their own.
class LargeMemory : public std::pmr::memory_resource {
  static constexpr std::size_t most = page / 2;  // bytes of a block that is cut

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes > most) return pages_.allocate(bytes, alignment);
    const std::lock_guard lock(mutex_);
    return blocks_.allocate(bytes, alignment);
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
    if (bytes > most) return pages_.deallocate(at, bytes, alignment);
    const std::lock_guard lock(mutex_);
    blocks_.deallocate(at, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  Pages pages_;
  std::pmr::monotonic_buffer_resource cut_{page, &pages_};
  // One for all threads: what a thread gives back, and what it leaves as it ends, serves the others.
  std::pmr::unsynchronized_pool_resource blocks_{{.max_blocks_per_chunk = 0, .largest_required_pool_block = most},
                                                 &cut_};
  std::mutex mutex_;
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
