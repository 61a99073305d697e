// The entropies of a sender, one after the other: all in an order that is drawn anew each time.
#pragma once

#include <cstdint>

#include "remy_plus/core/random.hpp"

namespace remy_plus::fabric {

class Entropies {
 public:
  Entropies() = default;
  Entropies(int count, std::uint64_t key) : mask_(static_cast<std::uint8_t>(count - 1)), key_(key), flip_(draw()) {}

  int count() const { return mask_ + 1; }
  std::uint8_t own(std::uint8_t entropy) const { return entropy & mask_; }

  std::uint8_t draw() {
    return static_cast<std::uint8_t>(mix64(key_ + 0x9e3779b97f4a7c15ull * ++draws_) >> 56) & mask_;
  }
  std::uint8_t current() const { return static_cast<std::uint8_t>((counter_ ^ flip_) & mask_); }
  void advance() {
    if (++counter_ > mask_) {
      counter_ = 0;
      flip_ = draw();
    }
  }
  std::uint8_t step() {
    const std::uint8_t entropy = current();
    advance();
    return entropy;
  }

 private:
  std::uint8_t mask_ = 0;
  std::uint16_t counter_ = 0;
  std::uint64_t key_ = 0, draws_ = 0;
  std::uint8_t flip_ = 0;
};

}  // namespace remy_plus::fabric
