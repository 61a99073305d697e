// How long after an event what was delivered before it is delivered again.
//
// The flows that are under way as the event begins have a usual rate: their mean over a span before it. From then on
// their deficit is what they lack of 90 % of it; a flow that has ended counts with its usual rate. They have recovered
// when the deficit is largest before the next event begins: from then on they deliver 90 % or more in the mean. If it
// grows until the next event begins, it is looked at until the one after it, and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remy_plus/fabric/flow.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

class Recovery {
 public:
  static constexpr Time span = 100 * microsecond;
  static constexpr Time step = 10 * microsecond;  // between looks
  static constexpr double enough = 0.9;

  // `begins`: of the events.
  explicit Recovery(const std::vector<Time>& begins);

  Time next() const { return next_; }
  // At next(), up to which everything has happened.
  void look(std::span<const Flow> flows, Time now);
  // The run is over.
  void end(std::span<const Flow> flows);

  // After the event's begin; never: not by the end of the run; below 0: it did not begin.
  Time took(std::size_t event) const { return events_[event].took; }

 private:
  struct Share {
    std::uint32_t flow;
    std::uint64_t delivered;  // bytes
    double usual;             // bytes in a step
  };
  struct Event {
    Time begin, next;
    Time took = -1;
    std::vector<std::uint64_t> before;  // (flows,) bytes delivered a span before it
    Time before_at = 0;
    std::vector<Share> shares;     // of flows that have not ended
    double usual = 0, ended = 0;   // bytes in a step: of all, of those that have ended
    double deficit = 0, most = 0;  // bytes
    Time most_at = 0, looked = 0;
  };

  void begin(Event& event, std::span<const Flow> flows, Time now);
  void follow(Event& event, std::span<const Flow> flows, Time now);
  // All of its flows have ended, the last one then.
  static void settle(Event& event, Time last_end);
  // Whether an event begins from a moment to before another.
  bool begins_within(Time from, Time to) const;

  std::vector<Event> events_;
  std::vector<Time> begins_;  // rising
  Time next_ = never;
};

}  // namespace remy_plus::fabric
