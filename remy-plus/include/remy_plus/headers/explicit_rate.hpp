// Hops that tell senders what to do: RCP's fair rate and XCP's change of the window. Units: packets, µs.
//
// Both work in intervals of about a mean RTT of the packets that pass. No timer is needed: what passed since is taken
// into account when the next packet asks, one interval after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace remy_plus {

// What a hop's operator sets.
struct RateGains {
  double alpha = 0;     // of spare capacity
  double beta = 0;      // of the queue
  double portion = 0;   // of the capacity that RCP aims at; of the traffic that XCP shuffles
  double interval = 0;  // µs between RCP's updates; 0, or more than the mean RTT: the mean RTT, as for XCP

  bool operator==(const RateGains&) const = default;
};

// RCP: those of its authors' ns-2 release. XCP: Katabi et al., SIGCOMM 2002, section 3.5.
inline constexpr RateGains rcp_gains{0.4, 1, 0.95, 0};
inline constexpr RateGains xcp_gains{0.4, 0.226, 0.1, 0};

// What a packet says of its sender. An RTT of 0 is not known yet.
struct Told {
  double window = 0;      // packets
  double rtt = 0;         // µs
  double bytes_left = 0;  // of the flow, that it has not sent yet; on fabrics alone
};

// What window (packets) and gap (µs) of a sender together allow in a round trip.
inline Told told_by(double window, double gap, double rtt) {
  const double paced = gap > 0 && rtt > 0 ? std::max(rtt / gap, 1.0) : window;
  return {std::min(window, paced), rtt, 0};
}

// Intervals of a hop, and what passed in the one that runs.
class Intervals {
 public:
  Intervals(double capacity, double rtt, double longest)
      : capacity_(capacity),
        service_(1 / capacity),
        rtt_(std::max(rtt, service_)),
        longest_(longest),
        length_(choose()),
        end_(length_) {}

  double mean_rtt() const { return rtt_; }
  double length() const { return length_; }
  double arrived() const { return arrived_; }  // packets in this interval
  // At the end of the interval: only service went on since the last packet came.
  double queue() const { return std::max(0.0, queue_ - capacity_ * (end_ - last_)); }
  bool ended(double now) const { return now >= end_; }

  // `queue` waits before the packet.
  void add(double now, double size, double queue) {
    arrived_ += size;
    queue_ = queue + size;
    last_ = now;
  }
  void set_rtt(double rtt) { rtt_ = std::max(rtt, service_); }
  // The next interval begins; `skip` at once so many more in which nothing happened.
  void next(double skip = 0) {
    length_ = choose();
    end_ += length_ * (1 + skip);
    arrived_ = 0;
  }
  double empty_before(double now) const { return std::max(0.0, std::floor((now - end_) / length_) - 1); }

 private:
  double choose() const { return longest_ > 0 ? std::min(longest_, rtt_) : rtt_; }

  double capacity_;
  double service_;  // µs of a packet
  double rtt_;
  double longest_;
  double length_, end_;
  double arrived_ = 0, queue_ = 0, last_ = 0;
};

// RCP's rate R(t), the same for every flow (Dukkipati and McKeown, CCR 2006, equation 2):
//   R ← R · (1 + T/d · (α (ηC − y) − β q/d) / ηC)
// with the traffic y of the last interval T, the queue q at its end, the mean RTT d that packets tell, and the share η
// of the capacity that is aimed at. One update at most halves R, which stays between C/10⁴ and C.
class FairRate {
 public:
  FairRate(const RateGains& gains, double capacity, double rtt)
      : gains_(gains), capacity_(capacity), intervals_(capacity, rtt, gains.interval), rate_(capacity) {}

  void arrive(double now, double size, double queue, const Told* told) {
    advance(now);
    intervals_.add(now, size, queue);
    if (told && told->rtt > 0)
      intervals_.set_rtt(intervals_.mean_rtt() + rtt_gain_ * (told->rtt - intervals_.mean_rtt()));
  }

  // packets/µs at `now`.
  double read(double now) {
    advance(now);
    return rate_;
  }

 private:
  static constexpr double rtt_gain_ = 0.02;  // of a packet's RTT in the mean, as in the ns-2 release

  void advance(double now) {
    while (intervals_.ended(now)) {
      const bool still = intervals_.arrived() == 0 && intervals_.queue() == 0 && rate_ == capacity_;
      update();
      intervals_.next(still ? intervals_.empty_before(now) : 0);
    }
  }

  void update() {
    const double d = intervals_.mean_rtt(), t = intervals_.length(), aim = gains_.portion * capacity_;
    const double spare = aim - intervals_.arrived() / t;
    const double factor = 1 + t / d * (gains_.alpha * spare - gains_.beta * intervals_.queue() / d) / aim;
    rate_ = std::clamp(rate_ * std::max(factor, 0.5), 1e-4 * capacity_, capacity_);
  }

  RateGains gains_;
  double capacity_;
  Intervals intervals_;
  double rate_;
};

// XCP's change of a sender's window (SIGCOMM 2002, sections 3.5.1 and 3.5.2), told as the packets that its
// acknowledgement allows to send: 1 keeps the window. The aggregate feedback φ = α d S − β Q of an interval of d, a
// mean RTT, is shared among its packets with shuffling h = max(0, γ y − |φ|):
//   positive p = ξp rtt² s/cwnd, ξp = (h + max(φ, 0)) / (d Σ rtt s/cwnd)
//   negative n = ξn rtt s, ξn = (h + max(−φ, 0)) / (d Σ s)
// with the sums of the interval before. No more than an interval's feedback is given in it, as in its ns-2 release.
class XcpFeedback {
 public:
  static constexpr double least = 1.0 / 1024;  // 0 is "not known yet"

  XcpFeedback(const RateGains& gains, double capacity, double rtt)
      : gains_(gains), capacity_(capacity), intervals_(capacity, rtt, 0) {}

  void arrive(double now, double size, double queue, const Told* told) {
    advance(now);
    intervals_.add(now, size, queue);
    least_queue_ = std::min(least_queue_, queue);
    if (!known(told)) return;
    const double share = told->rtt * size / told->window;
    sizes_ += size;
    shares_ += share;
    rtts_ += told->rtt * share;
  }

  double read(double now, double size, const Told* told) {
    advance(now);
    if (!known(told)) return 1;
    const double raise = std::min(raise_ * told->rtt * told->rtt * size / told->window, left_up_ * told->rtt);
    const double lower = std::min(lower_ * told->rtt * size, left_down_ * told->rtt);
    left_up_ -= raise / told->rtt;
    left_down_ -= lower / told->rtt;
    return std::max(1 + raise - lower, least);
  }

 private:
  static bool known(const Told* told) { return told && told->rtt > 0 && told->window > 0; }

  void advance(double now) {
    while (intervals_.ended(now)) {
      const bool still = intervals_.arrived() == 0 && intervals_.queue() == 0;
      update();
      intervals_.next(still ? intervals_.empty_before(now) : 0);
      sizes_ = shares_ = rtts_ = 0;
      least_queue_ = HUGE_VAL;
    }
  }

  void update() {
    if (shares_ > 0) intervals_.set_rtt(rtts_ / shares_);  // weighted by what a flow's packets stand for
    const double d = intervals_.mean_rtt(), t = intervals_.length();
    const double traffic = intervals_.arrived() * d / t;  // in a mean RTT
    const double waiting = std::isfinite(least_queue_) ? least_queue_ : intervals_.queue();
    const double change = gains_.alpha * (capacity_ * d - traffic) - gains_.beta * waiting;
    const double shuffled = std::max(0.0, gains_.portion * traffic - std::abs(change));
    const double up = shuffled + std::max(change, 0.0), down = shuffled + std::max(-change, 0.0);
    raise_ = shares_ > 0 ? up / (t * shares_) : 0;
    lower_ = sizes_ > 0 ? down / (t * sizes_) : 0;
    left_up_ = up / t;
    left_down_ = down / t;
  }

  RateGains gains_;
  double capacity_;
  Intervals intervals_;
  double sizes_ = 0, shares_ = 0, rtts_ = 0;  // sums over this interval's packets
  double least_queue_ = HUGE_VAL;
  double raise_ = 0, lower_ = 0;        // ξp, ξn
  double left_up_ = 0, left_down_ = 0;  // Σ p/rtt, Σ n/rtt that may still be given, packets/µs
};

// How many senders there are, by the gaps that their packets say: one that sends a packet every g has T/g of them in
// an interval T, so that the gaps of all packets of T together are T times the number of senders. One register for
// the sum that runs, one for the last; no flow is told from another.
class SenderCount {
 public:
  explicit SenderCount(double interval) : interval_(interval), end_(interval) {}

  // A packet is put into the queue; `gap` in µs, 0 if its sender does not know it yet.
  void arrive(double now, double gap) {
    advance(now);
    sum_ += gap;
  }

  // Of the interval last completed.
  double read(double now) {
    advance(now);
    return last_ / interval_;
  }

 private:
  void advance(double now) {
    if (now < end_) return;
    const double passed = std::floor((now - end_) / interval_);  // whole intervals since without a packet
    last_ = passed > 0 ? 0 : sum_;
    sum_ = 0;
    end_ += interval_ * (1 + passed);
  }

  double interval_, end_;
  double sum_ = 0, last_ = 0;
};

}  // namespace remy_plus
