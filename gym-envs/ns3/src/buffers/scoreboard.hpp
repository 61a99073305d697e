// SPDX-License-Identifier: GPL-2.0-only
// Where a send buffer's segments without SACK are, and how far they are known to be lost or sent again.
#pragma once

#include <list>
#include <map>

#include "ns3/object.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-tx-item.h"

namespace lcca_ns3 {

using ns3::SequenceNumber32;
using ns3::TcpTxItem;

// An object that ns-3 keeps with its send buffer and deletes with it. It says of the list of sent segments, in the
// order of sequence numbers:
// - segments below `covered` without SACK are in `open`, by their first byte; none beyond has a SACK or is lost;
// - segments below `lost_below` without SACK are lost, those from `lost_end` on are not;
// - none below `search_from` is lost, without SACK and not sent again.
// That holds while the buffer counts lost or SACKed bytes, and until `forget`.
class Scoreboard final : public ns3::Object {
 public:
  using Segments = std::list<TcpTxItem*>;
  using Place = Segments::const_iterator;
  using Open = std::map<SequenceNumber32, Place>;

  static ns3::TypeId GetTypeId();

  void forget() { known_ = false; }
  bool known() const { return known_; }

  // Nothing is lost or has a SACK.
  void begin(SequenceNumber32 first);
  // Anything may be lost or sent again.
  void rebuild(const Segments& segments, SequenceNumber32 first);
  // Segments below `first` were discarded, the last of them perhaps in part.
  void discard(const Segments& segments, SequenceNumber32 first);
  // The first segment is lost and was not sent again.
  void lose_first(const Segments& segments, SequenceNumber32 first);

  // The first segment that is not covered.
  Place next(const Segments& segments, SequenceNumber32 first) const;
  void cover(Place place);

  Open open;
  SequenceNumber32 covered{0}, lost_below{0}, lost_end{0}, search_from{0};

 private:
  void open_first(const Segments& segments, SequenceNumber32 first);

  bool known_ = false;
  Place last_;  // that is covered; of no meaning where `covered` is the first byte of all
};

inline std::uint32_t bytes_of(const TcpTxItem* item) { return item->GetPacket()->GetSize(); }

}  // namespace lcca_ns3
