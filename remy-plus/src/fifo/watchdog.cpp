#include "remy_plus/fifo/watchdog.hpp"

#include <sstream>
#include <stdexcept>

namespace remy_plus {

void Watchdog::check(double now, std::int64_t events, const std::vector<Sender>& senders) {
  if (stop_ && *stop_) throw Stopped{};
  if (now - went_on_ > duration_ * 0x1p-40) {
    went_on_ = now;
    went_on_events_ = events;
  } else if (events - went_on_events_ > most_at_once) {
    stands_still(now);
  }
  for (const Sender& s : senders)
    if (s.sent > INT32_MAX) throw std::length_error("a sender passed 2^31 packets: make the trial shorter");
}

void Watchdog::stands_still(double now) const {
  std::ostringstream text;
  text << "network " << network_.id << ": time stands still at " << now << " µs: with link_rate " << network_.link_rate
       << " packets/µs and rtt " << network_.rtt
       << " µs packets come and go in no time; lower the rates, or raise the rtt";
  throw std::runtime_error(text.str());
}

void Watchdog::too_many_flows(double now) const {
  std::ostringstream text;
  text << "network " << network_.id << ": over 4 million flows by " << now << " of " << duration_
       << " µs: raise mean_on or mean_off, lower the arrival rate, or make the trial shorter";
  throw std::runtime_error(text.str());
}

}  // namespace remy_plus
