// What a selective sender makes of its ACKs and NACKs without a header: packets that were trimmed, and ways with marks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus::fabric {

class Answers {
 public:
  // An answer to a packet with this entropy; `span`: of time that shares are averaged over.
  void add(std::uint8_t entropy, bool nack, Echo echo, Time now, Time span) {
    const double kept = std::max(0.0, 1 - static_cast<double>(now - at_) / static_cast<double>(span));
    at_ = now;
    answers_ = answers_ * kept + 1;
    nacks_ = nacks_ * kept + nack;
    const std::uint64_t way = std::uint64_t{1} << (entropy & 63);
    std::uint64_t &heard = heard_[entropy >> 6], &marked = marked_[entropy >> 6];
    ways_ += !(heard & way);
    marks_ += (echo != Echo::good) - static_cast<int>((marked & way) != 0);
    heard |= way;
    marked = echo == Echo::good ? marked & ~way : marked | way;
  }

  // 0 before the first answer.
  double share(Signal signal) const {
    if (ways_ == 0) return 0;
    return signal == trims ? nacks_ / answers_ : static_cast<double>(marks_) / ways_;
  }

 private:
  double answers_ = 0, nacks_ = 0;                   // older ones count less
  std::array<std::uint64_t, 4> heard_{}, marked_{};  // a bit for each entropy: answered so far; its latest answer
  int ways_ = 0, marks_ = 0;                         // bits of these
  Time at_ = 0;
};

}  // namespace remy_plus::fabric
