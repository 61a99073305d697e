// How a sender chooses the entropy of each packet, by which switches choose its way, and what it learns from ACKs
// (Ultra Ethernet 1.0; facts of uet-htsim).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/ring.hpp"
#include "remy_plus/fabric/settings.hpp"
#include "remy_plus/fabric/spraying/entropies.hpp"
#include "remy_plus/fabric/spraying/known_ways.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

class Balancer {
 public:
  // Again: it stays as it is. With a law that goes by in place of `how`; it may be null.
  void start(Spraying how, int entropies, std::uint64_t key, const PathLaw* law, Time base_rtt) {
    if (key_ == key) return;
    how_ = how;
    key_ = key;
    order_ = Entropies(entropies, key);
    if (law) {
      known_ = std::make_unique<KnownWays>(*law, order_, base_rtt);
    } else if (how == Spraying::bitmap || how == Spraying::mixed) {
      penalties_.assign(static_cast<std::size_t>(entropies), 0);
    }
  }

  std::uint8_t next(Time now) {
    if (known_) [[unlikely]]
      return known_->next(now);
    switch (how_) {
      case Spraying::flow:
        return 0;
      case Spraying::oblivious:
        return order_.step();
      case Spraying::bitmap:
        return unpenalised();
      case Spraying::reps:
        return recycled(now);
      case Spraying::mixed:
        break;
    }
    if (good_.empty()) return unpenalised();
    const std::uint8_t entropy = good_.front();
    good_.pop();
    return entropy;
  }

  // What became of a packet that was sent at `sent`; never: that is not known.
  void hear(std::uint8_t entropy, Echo echo, Time sent, Time now) {
    if (known_) [[unlikely]]
      return known_->hear(entropy, echo, {sent}, now);
    if (!penalties_.empty() && echo != Echo::good) {
      std::uint8_t& penalty = penalties_[order_.own(entropy)];
      penalty = static_cast<std::uint8_t>(std::min<int>(penalty + weight(echo), most_penalty));
    }
    if (how_ == Spraying::mixed && echo == Echo::good) good_.push(entropy);
    if (how_ == Spraying::reps) keep(entropy, echo, now);
  }

  // The same with all that an answer says, where a law chooses.
  void hear(std::uint8_t entropy, Echo echo, const WayNews& news, Time now) {
    if (known_) known_->hear(entropy, echo, news, now);
  }

  void release() {
    penalties_ = {};
    good_ = {};
    known_ = nullptr;
  }

 private:
  static constexpr int most_penalty = 15;
  static constexpr Time freeze = 10'000 * microsecond;
  static constexpr int wander = 16;  // packets after a freeze

  static int weight(Echo echo) { return echo == Echo::marked ? 1 : echo == Echo::trimmed ? 4 : most_penalty; }

  // The next without a penalty; the first that is passed over loses one.
  std::uint8_t unpenalised() {
    if (penalties_[order_.current()] > 0) {
      --penalties_[order_.current()];
      order_.advance();
      for (int i = 1; i < order_.count() && penalties_[order_.current()] > 0; ++i) order_.advance();
    }
    return order_.step();
  }

  // REPS (Bonato et al., 2024): the oldest of the last eight that came back without a mark, once each, else any; after
  // a timeout those eight in turn for a while.
  std::uint8_t recycled(Time now) {
    if (now < frozen_until_ && kept_ > 0) return ring_[turn_++ % std::min<std::uint32_t>(kept_, ring_.size())];
    if (frozen_until_ > 0 && now >= frozen_until_) {
      frozen_until_ = 0;
      wandering_ = wander;
    }
    if (wandering_ > 0) {
      --wandering_;
      return order_.draw();
    }
    if (unused_ == 0) return order_.draw();
    return ring_[(kept_ - unused_--) % ring_.size()];
  }

  void keep(std::uint8_t entropy, Echo echo, Time now) {
    if (echo == Echo::timeout && frozen_until_ == 0) frozen_until_ = now + freeze;
    if (echo != Echo::good || now < frozen_until_) return;
    ring_[kept_++ % ring_.size()] = entropy;
    unused_ = std::min<std::uint32_t>(unused_ + 1, static_cast<std::uint32_t>(ring_.size()));
  }

  Spraying how_ = Spraying::flow;
  Entropies order_;
  int wandering_ = 0;
  std::uint64_t key_ = 0;
  std::unique_ptr<KnownWays> known_;     // of a law; null: there is none
  std::vector<std::uint8_t> penalties_;  // (entropies,)
  Ring<std::uint8_t> good_;
  std::array<std::uint8_t, 8> ring_{};
  std::uint32_t kept_ = 0, unused_ = 0, turn_ = 0;
  Time frozen_until_ = 0;
};

}  // namespace remy_plus::fabric
