// Lines of the cache that a thread is about to write and another one has.
#pragma once

namespace remy_plus::fabric {

// A prefetch for reading, which is what compilers make of __builtin_prefetch(at, 1) for any x86-64, would leave the
// line with the other thread, too.
inline void fetch_to_write(const void* at) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace remy_plus::fabric
