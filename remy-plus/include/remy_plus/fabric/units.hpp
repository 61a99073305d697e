// Time and rates of a fabric. Time is whole picoseconds: at 100 Gb/s a byte takes 80 of them, so that serialisation is
// exact at the rates that switches have.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace remy_plus::fabric {

using Time = std::int64_t;  // ps
inline constexpr Time never = std::numeric_limits<Time>::max();
inline constexpr Time nanosecond = 1000;
inline constexpr Time microsecond = 1000 * nanosecond;

inline constexpr int largest_frame = 16384;  // bytes on the wire

// How long frames take on a link, for every length: looked up, since a division for every packet and hop costs more.
class Speed {
 public:
  // `whole_ns`: times are cut to whole nanoseconds, as some simulators do.
  Speed(double gbps, bool whole_ns) : gbps_(gbps), times_(largest_frame + 1) {
    for (int bytes = 0; bytes <= largest_frame; ++bytes) times_[bytes] = time(bytes, whole_ns);
  }

  double gbps() const { return gbps_; }
  Time of(int bytes) const { return times_[static_cast<std::size_t>(bytes)]; }

 private:
  Time time(int bytes, bool whole_ns) const {
    const double exact = bytes * 8000.0 / gbps_;  // ps
    return whole_ns ? static_cast<Time>(std::floor(exact / nanosecond)) * nanosecond
                    : static_cast<Time>(std::llround(exact));
  }

  double gbps_;
  std::vector<Time> times_;
};

// How long `bytes` take at a rate that a sender chose.
inline Time time_at(double gbps, int bytes, bool whole_ns) {
  const double exact = bytes * 8000.0 / gbps;
  return whole_ns ? static_cast<Time>(exact / nanosecond) * nanosecond : static_cast<Time>(exact + 0.5);
}

}  // namespace remy_plus::fabric
