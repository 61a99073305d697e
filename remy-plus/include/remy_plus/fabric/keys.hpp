// Keys of hashes and draws: each purpose has its own, so that one more draw of one changes nothing of another.
#pragma once

#include <cstdint>

#include "remy_plus/core/random.hpp"

namespace remy_plus::fabric {

// Part of every result: never renumber.
enum Purpose : std::uint64_t { data_way = 11, ack_way = 12, marking = 13, spraying = 14, trimming = 15 };

inline std::uint64_t key_of(std::uint64_t seed, Purpose purpose, std::uint64_t number) {
  return mix64(mix64(seed ^ mix64(purpose)) ^ mix64(number + 1));
}

// What a node chooses by among equal ways.
inline std::uint64_t hash_at(std::uint64_t key, int node) {
  return mix64(key ^ mix64(static_cast<std::uint64_t>(node) + 1));
}

}  // namespace remy_plus::fabric
