// SPDX-License-Identifier: GPL-2.0-only
#include "buffers/scoreboard.hpp"

#include <algorithm>
#include <iterator>

#include "buffers/work.hpp"

namespace lcca_ns3 {

ns3::TypeId Scoreboard::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("lcca_ns3::Scoreboard").SetParent<ns3::Object>();
  return id;
}

void Scoreboard::begin(SequenceNumber32 first) {
  known_ = true;
  open.clear();
  covered = lost_below = lost_end = search_from = first;
}

void Scoreboard::rebuild(const Segments& segments, SequenceNumber32 first) {
  begin(first);
  for (Place place = segments.begin(); place != segments.end(); ++place) {
    ++buffer_work().visited;
    if (!(*place)->IsSacked()) open.emplace_hint(open.end(), covered, place);
    cover(place);
  }
  lost_end = covered;
}

void Scoreboard::discard(const Segments& segments, SequenceNumber32 first) {
  open.erase(open.begin(), open.lower_bound(first));
  for (SequenceNumber32* edge : {&covered, &lost_below, &lost_end, &search_from}) *edge = std::max(*edge, first);
  const bool whole = covered == first || segments.empty() || segments.front()->IsSacked();
  if (!whole && (open.empty() || open.begin()->first != first)) open_first(segments, first);
}

void Scoreboard::lose_first(const Segments& segments, SequenceNumber32 first) {
  if (covered == first) cover(segments.begin());
  open_first(segments, first);
  search_from = first;
}

// What is left of a lost segment begins later, so the first one may be lost whatever `lost_end` said.
void Scoreboard::open_first(const Segments& segments, SequenceNumber32 first) {
  open.insert_or_assign(first, segments.begin());
  lost_end = std::max(lost_end, first + 1);
}

Scoreboard::Place Scoreboard::next(const Segments& segments, SequenceNumber32 first) const {
  return covered == first ? segments.begin() : std::next(last_);
}

void Scoreboard::cover(Place place) {
  last_ = place;
  covered += bytes_of(*place);
}

}  // namespace lcca_ns3
