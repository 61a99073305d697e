// Checks of numbers that users give.
#pragma once

#include <sstream>
#include <stdexcept>

namespace remy_plus::fabric {

inline constexpr double longest_us = 1e9;  // of times that users give

// Throws std::invalid_argument for a value outside of a range; one that is no number is in none.
inline void require_range(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  std::ostringstream text;
  text << name << ": must be from " << least << " to " << most << ", got " << value;
  throw std::invalid_argument(text.str());
}

}  // namespace remy_plus::fabric
