// Credit that receivers grant: what senders hold of it, and who grants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "remy_plus/fabric/ring.hpp"
#include "remy_plus/fabric/transport/uet.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

// Of a sender.
struct Credit {
  std::int64_t bytes = 0, most = 0;
  std::uint32_t granted = 0;  // quanta so far
  bool speculating = true;    // nothing was heard of the receiver yet

  // The first answer of the receiver ends what may be sent without its consent.
  void hear(bool ends) {
    if (speculating && ends) bytes = 0;
    speculating = false;
  }
};

// Of a receiver: what a flow wants and has got, in quanta.
struct Granting {
  std::uint32_t wanted = 0, granted = 0;
  bool waits = false;      // in Granter::waiting_
  bool satisfied = false;  // in Granter::satisfied_
  bool over = false;       // all has arrived
};

// One for each link of a host: flows that want more get a grant in turn, at a little less than the link's rate.
class Granter {
 public:
  void start(const UetParameters& parameters, double gbps, int frame_bytes, std::int64_t spare_bytes) {
    p_ = &parameters;
    quantum_ = parameters.pulls ? frame_bytes : parameters.quantum_bytes;
    per_quantum_ = static_cast<Time>(quantum_ * 8000 / (parameters.credit_rate * gbps));
    spare_ = static_cast<std::uint32_t>(static_cast<double>(spare_bytes) / quantum_);
  }

  Time next() const { return next_; }
  double quantum() const { return quantum_; }

  // A flow wants as much as `wanted` in all.
  void want(std::uint32_t flow, Granting& granting, std::uint32_t wanted, Time now) {
    granting.wanted = std::max(granting.wanted, wanted);
    if (granting.waits || granting.over) return;
    if (granting.wanted > granting.granted) {
      granting.waits = true;
      waiting_.push(flow);
    } else if (!spares(flow, granting)) {
      return;
    }
    next_ = std::min(next_, std::max(now, free_at_));
  }

  // At next(): grants to the next flow, as grant(flow, granting); `of` is a flow's Granting.
  template <class Of, class Grant>
  void act(Time now, const Of& of, const Grant& grant) {
    std::uint32_t quanta = 0;
    while (quanta == 0 && !waiting_.empty()) {
      const std::uint32_t flow = waiting_.front();
      waiting_.pop();
      Granting& granting = of(flow);
      granting.waits = false;
      if (granting.over || granting.wanted <= granting.granted) continue;
      quanta = std::min<std::uint32_t>(most_quanta(), granting.wanted - granting.granted);
      give(flow, granting, quanta, grant);
      if (granting.wanted > granting.granted) {
        granting.waits = true;
        waiting_.push(flow);
      } else {
        spares(flow, granting);
      }
    }
    while (quanta == 0 && !satisfied_.empty()) {
      const std::uint32_t flow = satisfied_.front();
      satisfied_.pop();
      Granting& granting = of(flow);
      granting.satisfied = false;
      if (granting.over || granting.waits || granting.granted >= granting.wanted + spare_) continue;
      quanta = most_quanta();
      give(flow, granting, quanta, grant);
      spares(flow, granting);
    }
    free_at_ = now + static_cast<Time>(quanta) * per_quantum_;
    next_ = quanta > 0 && !(waiting_.empty() && satisfied_.empty()) ? free_at_ : never;
  }

 private:
  // Whether a satisfied flow may get more than it wants, while nobody waits: one that starts again finds credit.
  bool spares(std::uint32_t flow, Granting& granting) {
    if (p_->pulls || granting.granted >= granting.wanted + spare_) return false;
    if (!granting.satisfied) satisfied_.push(flow);
    granting.satisfied = true;
    return true;
  }

  std::uint32_t most_quanta() const { return p_->pulls ? 1 : static_cast<std::uint32_t>(p_->grant_quanta); }

  template <class Grant>
  static void give(std::uint32_t flow, Granting& granting, std::uint32_t quanta, const Grant& grant) {
    granting.granted += quanta;
    grant(flow, granting);
  }

  const UetParameters* p_ = nullptr;
  double quantum_ = 256;
  Time per_quantum_ = 0, free_at_ = 0, next_ = never;
  std::uint32_t spare_ = 0;  // quanta beyond what it wants that a satisfied flow gets
  Ring<std::uint32_t> waiting_, satisfied_;
};

}  // namespace remy_plus::fabric
