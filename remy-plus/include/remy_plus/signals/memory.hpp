// What a sender remembers of its current flow: the signals, and what they are computed from.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "remy_plus/core/packet.hpp"
#include "remy_plus/signals/ack_history.h"
#include "remy_plus/signals/own_signals.hpp"
#include "remy_plus/signals/seen.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus {

// What a simulator without ports of the engine's knows: the packet's stamps, and the rate of its links.
struct StampsOnly {
  double link_rate;  // packets/µs
  double spare(const Packet& packet) const { return link_rate * std::max(0.0, 1 - packet.link); }
  double one_way_delay(const Packet& packet, double) const { return packet.arrives - packet.sent; }
};

class Memory {
 public:
  const Signals& signals() const { return signals_; }
  // Known where ack_signals are wanted, as latest_rtt() is.
  double receive_interval() const { return signals_[receive_ewma]; }
  double smallest_rtt() const { return smallest_rtt_; }
  // Kept where whole_history is wanted, or one of history_signals.
  const lcca_history& history() const { return history_; }
  double latest_rtt() const { return smallest_rtt_ * std::max(1.0, signals_[rtt_ratio]); }  // 0: not known yet

  // A new flow starts: everything is forgotten. `first` is the sequence number of its first packet.
  void reset(std::uint32_t first) {
    signals_.fill(0);
    last_sent_ = last_received_ = smallest_rtt_ = smallest_one_way_ = 0;
    expected_ = first;
  }

  // A packet of the current flow was received at `now`. `acknowledged` is the highest sequence number acknowledged
  // before it; `net` knows what the packet met on its way, `own` is null or the policy's own signals. The first packet
  // of a flow only starts the clocks (R+).
  template <class Net, class Received>
  [[gnu::always_inline]] void receive(Net& net, const Received& packet, double now, std::int64_t acknowledged,
                                      SignalMask wanted, const OwnSignals* own = nullptr) {
    const bool extras = (wanted & extra_signals) != 0;
    if (extras) note_loss(packet);
    const Seen* seen = nullptr;
    if constexpr (requires { net.look(packet); }) seen = &net.look(packet);
    const double rtt = now - packet.sent;
    if (last_sent_ == 0 || last_received_ == 0) {
      smallest_rtt_ = rtt;
      smallest_one_way_ = net.one_way_delay(packet, now);
      if (wanted & (history_signals | whole_history)) lcca_first_ack(&history_, now, packet.sent);
    } else {
      smallest_rtt_ = std::min(smallest_rtt_, rtt);
      if (wanted & (ack_signals | extra_signals)) {
        const double gap = now - last_received_;
        smooth(send_ewma, packet.sent - last_sent_);
        smooth(receive_ewma, gap);
        signals_[slow_receive_ewma] = (1 - slow_weight) * signals_[slow_receive_ewma] + slow_weight * gap;
        signals_[rtt_ratio] = rtt / smallest_rtt_;
      }
      if (plain(net)) {
        signals_[queue] = packet.queue;
        signals_[link] = packet.link;
      }
      const auto take = [this](Signal s, double value) {
        if (s == mark)
          smooth(mark, value);
        else
          signals_[s] = value;
      };
      SignalMask fresh = 0;
      if constexpr (requires { net.look(packet, take); })
        fresh = net.look(packet, take);
      else if (seen)
        fresh = receive_header(*seen, take);
      if (extras) {
        smooth_header(fresh);
        receive_extras(net, packet, now, acknowledged);
      }
      if (wanted & (history_signals | whole_history)) remember(now, packet.sent, wanted);
      if (own) [[unlikely]]
        own->compute(signals_);
    }
    last_sent_ = packet.sent;
    last_received_ = now;
  }

  void receive_plain(const Packet& packet, double now, std::int64_t acknowledged, SignalMask wanted, double link_rate,
                     const OwnSignals* own = nullptr) {
    StampsOnly net{link_rate};
    receive(net, packet, now, acknowledged, wanted, own);
  }

 private:
  void smooth(Signal signal, double sample) {
    signals_[signal] = (1 - fast_weight) * signals_[signal] + fast_weight * sample;
  }

  void note_loss(const Packet& packet) {
    const std::int64_t sequence = packet.sequence;
    smooth(loss, sequence > expected_ ? 1 : 0);
    expected_ = std::max(expected_, sequence + 1);
  }

  template <class Net>
  static bool plain(const Net& net) {
    if constexpr (requires { net.plain(); }) return net.plain();
    return true;
  }

  template <class Take>
  static SignalMask receive_header(const Seen& seen, const Take& take) {
    for (SignalMask left = seen.fresh; left != 0; left &= left - 1) {
      const auto s = static_cast<Signal>(std::countr_zero(left));
      take(s, seen.values[s]);
    }
    return seen.fresh;
  }
  // Smoothed signals take a step for each header that carries them.
  void smooth_header(SignalMask fresh) {
    if (fresh & bit(queue)) smooth(queue_ewma, signals_[queue]);
    if (fresh & bit(link)) smooth(link_ewma, signals_[link]);
    if (fresh & bit(available_capacity)) smooth(available_capacity_ewma, signals_[available_capacity]);
  }

  template <class Net, class Received>
  void receive_extras(const Net& net, const Received& packet, double now, std::int64_t acknowledged) {
    const std::int64_t ahead = static_cast<std::int64_t>(packet.sequence) - acknowledged;
    signals_[rtt_difference] = now - packet.sent - smallest_rtt_;
    signals_[queueing_delay] = signals_[receive_ewma] * static_cast<double>(ahead > 0 ? ahead : 1);
    if (plain(net)) {
      smooth(queue_ewma, packet.queue);
      smooth(link_ewma, packet.link);
      const double spare = net.spare(packet);
      signals_[available_capacity] = spare;
      smooth(available_capacity_ewma, spare);
    }
    signals_[send_ratio] = ratio(signals_[receive_ewma], signals_[send_ewma]);
    signals_[slow_receive_ratio] = ratio(signals_[receive_ewma], signals_[slow_receive_ewma]);
    const double one_way = net.one_way_delay(packet, now);
    smallest_one_way_ = std::min(smallest_one_way_, one_way);
    signals_[one_way_ratio] = one_way / smallest_one_way_;
  }

  [[gnu::always_inline]] void remember(double now, double sent, SignalMask wanted) {
    lcca_next_ack(&history_, now, sent);
    if (!(wanted & history_signals)) return;
    constexpr double ceiling = signal_ceiling - 1;
    signals_[age] = std::min(lcca_age(&history_), ceiling);
    signals_[since_queue] = std::min(lcca_since_queue(&history_), ceiling);
    signals_[queued_share] = history_.queued_share;
    signals_[slow_rtt_difference] = history_.slow;
    signals_[rtt_difference_2] = history_.over_2;
    signals_[rtt_difference_8] = history_.over_8;
    signals_[smallest_ack_gap] = history_.smallest_gap;
    signals_[smallest_gap_ratio] = lcca_smallest_gap_ratio(&history_);
    signals_[gap_ratio] = std::min(lcca_gap_ratio(&history_), ceiling);
  }

  // Packets sent at one instant make a send EWMA of 0; the ratio then stays inside the domain.
  static double ratio(double part, double whole) {
    constexpr double ceiling = signal_ceiling - 1;
    return whole * ceiling > part ? part / whole : (part > 0 ? ceiling : 0);
  }

  Signals signals_{};
  double last_sent_ = 0;
  double last_received_ = 0;
  double smallest_rtt_ = 0;
  double smallest_one_way_ = 0;
  std::int64_t expected_ = 0;
  lcca_history history_{};
};

}  // namespace remy_plus
