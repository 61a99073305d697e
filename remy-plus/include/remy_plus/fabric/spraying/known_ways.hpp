// What a sender that goes by a law (policies/path_law.hpp) knows of its ways, one for each entropy, and which it sends
// by.
//
// Of each way it averages what answers say: marks, losses, queueing and signals of a header. A way's score is the
// weighted sum of how far these lie from those of all ways, the less the longer ago the last answer came, a bias, and
// how much longer than others it has not answered:
//
//   score = bias + 1 / (1 + age / memory) · Σ weight (average of the way − average of all)
//           + silence · (wait − RTT of all)
//
// with ages and waits in base RTTs; a way waits since the latest of its packets left that something came back of, if
// others followed it, or since its first one. Ways take turns, and at its turn a way has 2^-score of a packet, from
// 1/64 to 1. All by basic arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/spraying/entropies.hpp"
#include "remy_plus/fabric/units.hpp"
#include "remy_plus/policies/fabric_law.h"
#include "remy_plus/policies/path_law.hpp"

namespace remy_plus::fabric {

// What an answer says of the packet's way, beside its Echo.
struct WayNews {
  Time sent = never;                              // the packet; never: not known
  double delay = -1;                              // queueing, base RTTs; below 0: not known
  std::uint32_t known = 0;                        // one bit for each signal
  std::array<double, most_path_signals> forms{};  // of the law's signals
};

class KnownWays {
 public:
  KnownWays(const PathLaw& law, const Entropies& order, Time base_rtt)
      : order_(order),
        bias_(law.terms[path_bias]),
        memory_(lcca_exp2(lcca_clamp(law.terms[path_memory], -8, 24)) * static_cast<double>(base_rtt)),
        fresh_(lcca_exp2(lcca_clamp(law.terms[path_gain], -12, 0))),
        silence_(law.terms[path_silence]),
        base_rtt_(static_cast<double>(base_rtt)),
        weights_({law.terms[path_mark], law.terms[path_loss], law.terms[path_delay]}),
        ways_(static_cast<std::size_t>(order.count())) {
    weights_.insert(weights_.end(), law.weights.begin(), law.weights.end());
    means_.resize(weights_.size());
    averages_.resize(weights_.size() * ways_.size());
  }

  std::uint8_t next(Time now) {
    for (int turns = most_rounds * order_.count(); turns > 0; --turns) {
      const std::uint8_t entropy = order_.step();
      Way& way = ways_[entropy];
      way.due += lcca_min(1, lcca_exp2(-lcca_clamp(score(entropy, now), 0, least_share)));
      if (way.due < 1) continue;
      way.due -= 1;
      return leave(entropy, now);
    }
    return leave(order_.step(), now);
  }

  void hear(std::uint8_t entropy, Echo echo, const WayNews& news, Time now) {
    const std::size_t number = order_.own(entropy);
    Way& way = ways_[number];
    const double step = 1 - (1 - fresh_) * belief(way, now);
    const auto add = [&](std::size_t feature, double value) { average(way, number, feature, value, step); };
    add(1, echo == Echo::trimmed ? 1 : echo == Echo::timeout ? 4 : 0);
    if (echo != Echo::timeout) {
      add(0, echo == Echo::good ? 0 : 1);
      if (news.sent != never) come_back(way, news.sent, now);
    }
    if (news.delay >= 0) add(2, lcca_min(news.delay, 4));
    for (std::size_t i = 0; i + of_all < weights_.size(); ++i)
      if (news.known >> i & 1) add(of_all + i, news.forms[i]);
    way.heard = now;
  }

 private:
  static constexpr std::size_t of_all = 3;  // features of every law: marks, losses, queueing
  static constexpr int most_rounds = 4;
  static constexpr double least_share = 6;   // 2^-6 of a packet a turn: no way is forgotten
  static constexpr double mean_of = 32;      // answers
  static constexpr double longest_wait = 8;  // base RTTs

  struct Way {
    Time heard = never;       // the last answer
    Time left = -never;       // the last packet
    Time waits = never;       // since then; never: something has come back of its last packet
    double due = 0;           // packets
    std::uint32_t known = 0;  // one bit for each feature
  };

  std::uint8_t leave(std::uint8_t entropy, Time now) {
    Way& way = ways_[entropy];
    way.left = now;
    if (way.waits == never) way.waits = now;
    return entropy;
  }

  // Something comes back of a packet that left at `sent`: those before it do not matter any more.
  void come_back(Way& way, Time sent, Time now) {
    if (way.waits == never) return;
    way.waits = way.left > sent ? std::max(way.waits, sent) : never;
    const double rtt = static_cast<double>(now - sent) / base_rtt_;
    rtt_ = rtt_ > 0 ? rtt_ + (rtt - rtt_) / mean_of : rtt;
  }

  double belief(const Way& way, Time now) const {
    return way.heard == never ? 0 : 1 / (1 + static_cast<double>(now - way.heard) / memory_);
  }

  double score(std::size_t number, Time now) const {
    const Way& way = ways_[number];
    const double* averages = averages_.data() + number * weights_.size();
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      if (way.known >> i & 1) sum += weights_[i] * (averages[i] - means_[i]);
    const double wait = way.waits == never ? 0 : static_cast<double>(now - way.waits) / base_rtt_;
    return bias_ + belief(way, now) * sum + (rtt_ > 0 ? silence_ * lcca_clamp(wait - rtt_, 0, longest_wait) : 0);
  }

  void average(Way& way, std::size_t number, std::size_t feature, double value, double step) {
    double& average = averages_[number * weights_.size() + feature];
    average = way.known >> feature & 1 ? average + step * (value - average) : value;
    way.known |= 1u << feature;
    means_[feature] = met_ >> feature & 1 ? means_[feature] + (value - means_[feature]) / mean_of : value;
    met_ |= 1u << feature;
  }

  Entropies order_;
  double bias_;
  double memory_;  // ps
  double fresh_;   // weight of an answer where the last one is still believed
  double silence_, base_rtt_;
  std::vector<double> weights_;   // (features,)
  std::vector<double> means_;     // (features,) of all answers
  std::vector<double> averages_;  // (ways, features)
  std::vector<Way> ways_;
  std::uint32_t met_ = 0;
  double rtt_ = 0;  // base RTTs, of all; 0: not known yet
};

}  // namespace remy_plus::fabric
