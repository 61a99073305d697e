#include "remy_plus/fabric/events/recovery.hpp"

#include <algorithm>

namespace remy_plus::fabric {

namespace {

std::uint64_t delivered(const Flow& flow) { return flow.bytes_before(flow.expected); }

}  // namespace

Recovery::Recovery(const std::vector<Time>& begins) : begins_(begins) {
  std::sort(begins_.begin(), begins_.end());
  for (const Time begin : begins) {
    Event& event = events_.emplace_back();
    event.begin = begin;
    event.next = event.before_at = std::max<Time>(begin - span, 0);
    next_ = std::min(next_, event.next);
  }
}

bool Recovery::begins_within(Time from, Time to) const {
  const auto found = std::lower_bound(begins_.begin(), begins_.end(), from);
  return found != begins_.end() && *found < to;
}

void Recovery::look(std::span<const Flow> flows, Time now) {
  next_ = never;
  for (Event& event : events_) {
    if (event.next == now && now < event.begin) {
      for (const Flow& flow : flows) event.before.push_back(delivered(flow));
      event.next = event.begin;
    } else if (event.next == now && now == event.begin) {
      begin(event, flows, now);
    } else if (event.next == now) {
      follow(event, flows, now);
    }
    next_ = std::min(next_, event.next);
  }
}

void Recovery::begin(Event& event, std::span<const Flow> flows, Time now) {
  for (std::uint32_t i = 0; i < event.before.size(); ++i) {
    const Flow& flow = flows[i];
    if (flow.start > now || flow.ended != never) continue;
    const auto bytes = static_cast<double>(delivered(flow) - event.before[i]);
    const double usual = bytes * static_cast<double>(step) / static_cast<double>(now - event.before_at);
    event.shares.push_back({i, delivered(flow), usual});
    event.usual += usual;
  }
  event.before = {};
  event.most_at = event.looked = now;
  event.took = event.usual > 0 ? never : 0;
  event.next = event.usual > 0 ? now + step : never;
}

void Recovery::follow(Event& event, std::span<const Flow> flows, Time now) {
  if (event.most_at < event.looked && begins_within(event.looked, now)) return settle(event, never);
  double got = event.ended;
  Time last_end = 0;
  std::erase_if(event.shares, [&](Share& share) {
    const Flow& flow = flows[share.flow];
    const auto bytes = static_cast<double>(delivered(flow) - share.delivered);
    share.delivered = delivered(flow);
    const bool ended = flow.ended != never;
    got += ended ? std::max(bytes, share.usual) : bytes;
    if (!ended) return false;
    event.ended += share.usual;
    last_end = std::max(last_end, flow.ended);
    return true;
  });
  event.looked = now;
  event.deficit += enough * event.usual - got;
  if (event.deficit > event.most) {
    event.most = event.deficit;
    event.most_at = now;
  }
  event.next = now + step;
  if (event.shares.empty()) settle(event, last_end);
}

void Recovery::settle(Event& event, Time last_end) {
  event.took = std::min(event.most_at, last_end) - event.begin;
  event.next = never;
  event.shares = {};
}

void Recovery::end(std::span<const Flow> flows) {
  for (Event& event : events_) {
    if (event.took != never) continue;
    const bool falls_behind = event.most_at == event.looked && event.looked > event.begin;
    Time last_end = 0;
    for (const Share& share : event.shares) last_end = std::max(last_end, flows[share.flow].ended);
    if (!falls_behind)
      settle(event, never);
    else if (last_end != never)
      event.took = last_end - event.begin;
  }
}

}  // namespace remy_plus::fabric
