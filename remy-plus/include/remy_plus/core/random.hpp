// Counter-based random streams: every draw is a pure function of (key, counter), so two policies on the same
// network and seed meet the same on/off times, flow lengths and losses whatever they send.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace remy_plus {

// What a stream is used for. The numbers are part of every result: never renumber.
enum class Component : std::uint64_t {
  first_on = 1,
  on_time = 2,
  off_time = 3,
  flow_length = 4,
  loss = 5,
  arrival = 6,
  selection = 7,     // which packets carry what of a header
  rounding = 8,      // of numbers in headers
  flow_ends = 9,     // who sends to whom in a fabric
  sampling = 10,     // which packets a switch of a fabric counts
  stamp_loss = 11,   // which packets a hop does not write to
  estimation = 12,   // errors of what hops write
  flow_hash = 13,    // where a hop's map has its flows
  adoption = 14,     // which senders have the first of two policies
  deployment = 15,   // which links and switches write into headers
  exploration = 16,  // noise of actions while a network learns
  jitter = 17        // how late senders note ACKs
};

// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014; variant 13 of Stafford): a bijection on 64 bits.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// Natural logarithm from basic arithmetic alone, so that its bits do not depend on the C library.
// Relative error below 2e-16 on (0, 1]; `x` must be positive and normal.
inline double portable_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double f = (mantissa - 1) / (mantissa + 1);  // |f| <= 0.1716; log m = 2 atanh f
  const double s = f * f;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * s;
  constexpr double ln2_high = 0.693147180369123816490, ln2_low = 1.90821492927058770002e-10;
  return exponent * ln2_high + (2 * f + (2 * f * series + exponent * ln2_low));
}

class Stream {
 public:
  Stream() = default;
  Stream(std::uint64_t seed, std::uint64_t network, Component component, std::uint64_t sender, std::uint64_t flow = 0) {
    key_ = golden_;  // mixed before every part, the first too: else seed and network would be interchangeable
    for (std::uint64_t part : {seed, network, static_cast<std::uint64_t>(component), sender, flow})
      key_ = mix64(key_ ^ mix64(part + golden_));
  }

  std::uint64_t next() { return mix64(key_ + golden_ * ++counter_); }
  // Uniform on (0, 1]: never 0, so its logarithm is finite.
  double uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1.0p-53; }
  double exponential(double mean) { return -mean * portable_log(uniform()); }

 private:
  static constexpr std::uint64_t golden_ = 0x9e3779b97f4a7c15ull;
  std::uint64_t key_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace remy_plus
