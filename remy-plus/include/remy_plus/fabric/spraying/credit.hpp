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
  std::int64_t granted = 0;  // quanta so far
  int header = 0;            // bytes that a packet costs besides, where it arrives
  bool speculating = true;   // nothing was heard of the receiver yet

  // What is left of the most that it may have; 0 of what is overdrawn. A law's signal `credit`.
  double share() const { return most > 0 ? static_cast<double>(std::max<std::int64_t>(bytes, 0)) / most : 0; }

  // The first answer of the receiver ends what may be sent without its consent; what was overdrawn stays so.
  void hear(bool ends) {
    if (speculating && ends) bytes = std::min<std::int64_t>(bytes, 0);
    speculating = false;
  }
};

// What packets of laws without stamps and headers carry in the 8 bytes of the time when they were sent: that time, and
// data packets the credit that their flow would have in all, in quanta; both wrap. In ACKs a Standing may have its
// place.
class Asking {
 public:
  static std::uint64_t of(Time sent, std::int64_t wanted) {
    return static_cast<std::uint64_t>(wanted) << time_bits | (static_cast<std::uint64_t>(sent) & latest);
  }
  static Time sent_at(std::uint64_t asking, Time now) {
    return now - static_cast<Time>((static_cast<std::uint64_t>(now) - asking) & latest);
  }
  // What stands beside the time.
  static std::uint64_t rest(std::uint64_t asking) { return asking >> time_bits; }
  // Of numbers that it may stand for, the one next to what was granted.
  static std::int64_t wanted(std::uint64_t asking, std::int64_t granted) {
    const std::uint64_t more = (asking >> time_bits) - static_cast<std::uint64_t>(granted);
    return granted + (static_cast<std::int64_t>(more << time_bits) >> time_bits);
  }

 private:
  static constexpr int time_bits = 40;  // 1.1 s; 24 are left: 4 GB in quanta of 256 bytes
  static constexpr std::uint64_t latest = (std::uint64_t{1} << time_bits) - 1;
};

// Of a receiver: what a flow wants and has got, in quanta.
struct Granting {
  std::int64_t wanted = 0, granted = 0;
  bool waits = false;  // for a grant
  bool idles = false;  // has a turn among those that have what they want
  bool over = false;   // all has arrived
};

// One for each link of a host: flows that want more get a grant in turn, at a little less than the link's rate.
class Granter {
 public:
  void start(const GrantParameters& parameters, double gbps, int frame_bytes, std::int64_t spare_bytes) {
    p_ = &parameters;
    quantum_ = parameters.pulls ? frame_bytes : parameters.quantum_bytes;
    per_quantum_ = static_cast<Time>(quantum_ * 8000 / (parameters.credit_rate * gbps));
    spare_ = static_cast<std::int64_t>(static_cast<double>(spare_bytes) / quantum_);
  }

  Time next() const { return next_; }
  double quantum() const { return quantum_; }

  // A flow wants as much as `wanted` in all; `anew`: it gets a turn even if that is no more than before.
  void want(std::uint32_t flow, Granting& granting, std::int64_t wanted, bool anew, Time now) {
    if (wanted <= granting.wanted && !anew) return;
    granting.wanted = std::max(granting.wanted, wanted);
    if (granting.waits || granting.over) return;
    granting.waits = true;
    waiting_.push(flow);
    next_ = std::min(next_, std::max(now, free_at_));
  }

  // At next(): grants to the next flow that wants more or, while nobody does, to one that has what it wants, so that it
  // finds credit when it starts again. As grant(flow, granting); `of` is a flow's Granting.
  template <class Of, class Grant>
  void act(Time now, const Of& of, const Grant& grant) {
    next_ = never;
    const bool wanted = !waiting_.empty();
    Ring<std::uint32_t>& turns = wanted ? waiting_ : satisfied_;
    if (turns.empty()) return;
    const std::uint32_t flow = turns.front();
    turns.pop();
    Granting& granting = of(flow);
    const std::int64_t left = wanted ? std::max<std::int64_t>(granting.wanted - granting.granted, 0) : most_quanta();
    const std::int64_t quanta = std::min(left, most_quanta());
    granting.granted += quanta;
    if (!granting.over) grant(flow, granting);
    if (wanted) {
      granting.waits = granting.wanted > granting.granted && !granting.over;
      if (granting.waits)
        waiting_.push(flow);
      else if (!p_->pulls)
        idle(flow, granting);
    } else {
      granting.idles = false;
      if (!granting.over && granting.granted < granting.wanted + spare_) idle(flow, granting);
    }
    free_at_ = now + (quanta > 0 ? quanta : least_quanta()) * per_quantum_;
    next_ = waiting_.empty() && satisfied_.empty() ? never : free_at_;
  }

 private:
  // Of receivers like those of uet-htsim a flow has as many turns as it was satisfied.
  void idle(std::uint32_t flow, Granting& granting) {
    if (granting.idles && p_->asks) return;
    granting.idles = true;
    satisfied_.push(flow);
  }

  std::int64_t most_quanta() const { return p_->pulls ? 1 : p_->grant_quanta; }
  std::int64_t least_quanta() const { return p_->pulls ? 1 : 4; }  // whose time an empty grant takes

  const GrantParameters* p_ = nullptr;
  double quantum_ = 256;
  Time per_quantum_ = 0, free_at_ = 0, next_ = never;
  std::int64_t spare_ = 0;  // quanta beyond what it wants that a satisfied flow gets
  Ring<std::uint32_t> waiting_, satisfied_;
};

}  // namespace remy_plus::fabric
