// The one clock of a trial: CLOCK_REALTIME, in which the kernel says when a packet came.
#pragma once

#include <cstdint>
#include <ctime>

namespace lcca_linux {

inline std::int64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

inline timespec timespec_of(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }

// Threads are awake this long before what they wait for: the kernel wakes them late by about as much.
inline constexpr std::int64_t spin_ns = 30'000;

}  // namespace lcca_linux
