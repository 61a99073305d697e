// SPDX-License-Identifier: GPL-2.0-only
// Faster searches in ns-3's send buffer, with the same results. Its own go through all sent segments, some for each
// acknowledgement, so that a loss in a window of W packets takes W² steps; these look at a segment a few times. What is
// not decided here is left to ns-3's own: SACKs guessed from duplicate acknowledgements, and segments that are split or
// merged.
// The wheel of ns-3 has its assertions compiled in, and one of them compares the list of sent segments with itself at
// every step of the search for a segment to send again: 80 ms at a window of 4,000 packets.
#include <algorithm>

#include "buffers/scoreboard.hpp"
#include "buffers/stock.hpp"
#include "buffers/work.hpp"
#include "ns3/simulator.h"
#include "ns3/tcp-tx-buffer.h"

namespace ns3 {

namespace {

using lcca_ns3::buffer_work;
using lcca_ns3::bytes_of;
using lcca_ns3::of_ns3;
using lcca_ns3::Scoreboard;
using Blocks = TcpOptionSack::SackList;
using OnSack = Callback<void, TcpTxItem*>;
using Buffer = TcpTxBuffer;

const auto copy = of_ns3<TcpTxItem* (*)(Buffer*, std::uint32_t, const SequenceNumber32&)>(
    "_ZN3ns311TcpTxBuffer16CopyFromSequenceEjRKNS_14SequenceNumberIjiEE");
const auto next = of_ns3<bool (*)(const Buffer*, SequenceNumber32*, SequenceNumber32*, bool)>(
    "_ZNK3ns311TcpTxBuffer7NextSegEPNS_14SequenceNumberIjiEES3_b");
const auto update = of_ns3<std::uint32_t (*)(Buffer*, const Blocks&, const OnSack&)>(
    "_ZN3ns311TcpTxBuffer6UpdateERKNSt7__cxx114listISt4pairINS_14SequenceNumberIjiEES5_ESaIS6_EEERKNS_8Callback"
    "IvJPNS_9TcpTxItemEEEE");
const auto lose_head = of_ns3<void (*)(Buffer*)>("_ZN3ns311TcpTxBuffer14MarkHeadAsLostEv");
const auto unsend_head = of_ns3<void (*)(Buffer*)>("_ZN3ns311TcpTxBuffer31DeleteRetransmittedFlagFromHeadEv");
const auto lose_all = of_ns3<void (*)(Buffer*, bool)>("_ZN3ns311TcpTxBuffer15SetSentListLostEb");
const auto unsend_last = of_ns3<void (*)(Buffer*)>("_ZN3ns311TcpTxBuffer20ResetLastSegmentSentEv");
const auto unguess = of_ns3<void (*)(Buffer*)>("_ZN3ns311TcpTxBuffer13ResetRenoSackEv");

Ptr<Scoreboard> scoreboard_of(const Buffer* buffer) {
  if (const auto found = buffer->GetObject<Scoreboard>()) return found;
  const auto made = CreateObject<Scoreboard>();
  const_cast<Buffer*>(buffer)->AggregateObject(made);
  return made;
}

void forget(const Buffer* buffer) {
  if (const auto found = buffer->GetObject<Scoreboard>()) found->forget();
}

void bring_up_to_date(Scoreboard& board, const Scoreboard::Segments& segments, SequenceNumber32 first, bool clear) {
  if (clear)
    board.begin(first);
  else if (board.known())
    board.discard(segments, first);
  else
    board.rebuild(segments, first);
}

bool covers_first(const Blocks& blocks, SequenceNumber32 first) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const auto& block) { return block.first <= first && first < block.second; });
}

}  // namespace

LCCA_REPLACES TcpTxItem* TcpTxBuffer::CopyFromSequence(std::uint32_t bytes, const SequenceNumber32& from) {
  ++buffer_work().calls;
  const SequenceNumber32 first = m_firstByteSeq.Get(), unsent = first + m_sentSize;
  if (from >= unsent) return copy(this, bytes, from);
  TcpTxItem* again = nullptr;
  if (from != first && !m_renoSack && m_sackedOut + m_lostOut > 0) {
    const auto board = scoreboard_of(this);
    bring_up_to_date(*board, m_sentList, first, false);
    if (const auto found = board->open.find(from); found != board->open.end()) again = *found->second;
  }
  for (auto place = m_sentList.begin(); !again && place != m_sentList.end(); ++place) {
    ++buffer_work().visited;
    if ((*place)->m_startSeq >= from) again = *place;
  }
  if (!again || again->m_startSeq != from || again->m_sacked || bytes_of(again) != bytes) {
    ++buffer_work().stock;
    forget(this);
    return copy(this, bytes, from);
  }
  if (!again->m_retrans) m_retrans += bytes;
  again->m_retrans = true;
  again->m_lastSent = Simulator::Now();
  return again;
}

// RFC 6675, section 4, NextSeg: rule 1 is about lost segments, rule 2 takes what was never sent, rule 3 any segment
// once all was sent.
LCCA_REPLACES bool TcpTxBuffer::NextSeg(SequenceNumber32* from, SequenceNumber32* to, bool in_recovery) const {
  ++buffer_work().calls;
  const SequenceNumber32 first = m_firstByteSeq.Get(), unsent = first + m_sentSize;
  if (m_renoSack && m_lostOut > 0) {
    ++buffer_work().stock;
    return next(this, from, to, in_recovery);
  }
  if (m_lostOut > 0) {
    const auto board = scoreboard_of(this);
    bring_up_to_date(*board, m_sentList, first, false);
    const SequenceNumber32 begun = board->search_from;
    SequenceNumber32 lost_end = begun;
    auto at = board->open.lower_bound(begun);
    for (; at != board->open.end() && at->first < board->lost_end; ++at) {
      ++buffer_work().visited;
      const TcpTxItem* item = *at->second;
      if (m_sackSeen && at->first >= m_highestSack.second) break;
      if (!item->m_lost) continue;
      if (!item->m_retrans) {
        *from = board->search_from = at->first;
        *to = *from + m_segmentSize;
        return true;
      }
      lost_end = at->first + 1;
    }
    const bool all = at == board->open.end() || at->first >= board->lost_end;
    if (all) board->lost_end = lost_end;
    board->search_from = all ? lost_end : at->first;
  }
  if (SizeFromSequence(unsent) == 0) {
    if (!in_recovery) return false;
    ++buffer_work().stock;
    return next(this, from, to, in_recovery);
  }
  const std::uint32_t window = m_rWndCallback();
  if (m_sentSize >= window) return false;
  *from = unsent;
  *to = unsent + std::min(m_segmentSize, window - m_sentSize);
  return true;
}

LCCA_REPLACES std::uint32_t TcpTxBuffer::Update(const Blocks& blocks, const OnSack& on_sack) {
  ++buffer_work().calls;
  const SequenceNumber32 first = m_firstByteSeq.Get();
  if (m_renoSack || m_dupAckThresh == 0 || m_sentList.empty() || covers_first(blocks, first)) {
    ++buffer_work().stock;
    forget(this);
    return update(this, blocks, on_sack);
  }
  const auto board = scoreboard_of(this);
  bring_up_to_date(*board, m_sentList, first, m_sackedOut + m_lostOut == 0);
  std::uint32_t found = 0;
  const auto sack = [&](Scoreboard::Place place, SequenceNumber32 start) {
    TcpTxItem* item = *place;
    const std::uint32_t bytes = bytes_of(item);
    if (item->m_lost) m_lostOut -= bytes;
    item->m_lost = false;
    item->m_sacked = true;
    m_sackedOut += bytes;
    found += bytes;
    if (m_highestSack.first == m_sentList.end() || m_highestSack.second <= start + bytes) {
      m_sackSeen = true;
      m_highestSack = {place, start};
    }
    if (!on_sack.IsNull()) on_sack(item);
  };
  for (const auto& [begin, end] : blocks) {
    if (first + m_sentSize < begin) return found;  // without a look at what is lost, as ns-3's own
    for (auto at = board->open.lower_bound(begin); at != board->open.end(); at = board->open.erase(at)) {
      ++buffer_work().visited;
      if (at->first + bytes_of(*at->second) > end) break;
      sack(at->second, at->first);
    }
    for (auto place = board->next(m_sentList, first); place != m_sentList.end(); ++place) {
      ++buffer_work().visited;
      const SequenceNumber32 start = board->covered;
      if (start + bytes_of(*place) > end) break;
      board->cover(place);
      if (start >= begin)
        sack(place, start);
      else
        board->open.emplace_hint(board->open.end(), start, place);
    }
  }
  if (found > 0) UpdateLostCount();
  return found;
}

// Lost is what has as many SACKed segments above it as duplicate acknowledgements would tell of a loss. Called by
// `Update` alone, with a scoreboard that is up to date; ns-3 calls its own by another way.
void TcpTxBuffer::UpdateLostCount() {
  const auto board = scoreboard_of(this);
  auto place = m_highestSack.first;
  for (std::uint32_t sacked = 0; place != m_sentList.begin(); --place) {
    ++buffer_work().visited;
    if ((*place)->m_startSeq < board->lost_below) return;
    if ((*place)->m_sacked && ++sacked == m_dupAckThresh) break;
  }
  if (place == m_sentList.begin()) return;
  const SequenceNumber32 end = (*place)->m_startSeq;
  for (auto at = board->open.lower_bound(board->lost_below); at != board->open.end() && at->first < end; ++at) {
    ++buffer_work().visited;
    TcpTxItem* item = *at->second;
    if (item->m_lost) continue;
    item->m_lost = true;
    m_lostOut += bytes_of(item);
    board->search_from = std::min(board->search_from, at->first);
  }
  board->lost_below = end;
  board->lost_end = std::max(board->lost_end, end);
}

LCCA_REPLACES void TcpTxBuffer::MarkHeadAsLost() {
  ++buffer_work().calls;
  const bool clear = m_sackedOut + m_lostOut == 0;
  lose_head(this);
  if (m_sentList.empty()) return;
  const auto board = scoreboard_of(this);
  bring_up_to_date(*board, m_sentList, m_firstByteSeq, clear);
  board->lose_first(m_sentList, m_firstByteSeq);
}

LCCA_REPLACES void TcpTxBuffer::DeleteRetransmittedFlagFromHead() {
  forget(this);
  unsend_head(this);
}

LCCA_REPLACES void TcpTxBuffer::SetSentListLost(bool reset) {
  forget(this);
  lose_all(this, reset);
}

LCCA_REPLACES void TcpTxBuffer::ResetLastSegmentSent() {
  forget(this);
  unsend_last(this);
}

LCCA_REPLACES void TcpTxBuffer::ResetRenoSack() {
  forget(this);
  unguess(this);
}

// Whether the segment that ends at `ack` was sent again and has no SACK. An acknowledgement of many segments makes ns-3
// ask for each of them.
LCCA_REPLACES bool TcpTxBuffer::IsRetransmittedDataAcked(const SequenceNumber32& ack) const {
  ++buffer_work().calls;
  const SequenceNumber32 first = m_firstByteSeq.Get();
  if (ack <= first) return false;
  auto place = m_sentList.begin();
  if (!m_renoSack && m_sackedOut + m_lostOut > 0) {
    const auto board = scoreboard_of(this);
    bring_up_to_date(*board, m_sentList, first, false);
    place = board->next(m_sentList, first);
    if (ack <= board->covered) {
      const auto after = board->open.lower_bound(ack);
      if (after == board->open.begin()) return false;
      const auto& [start, last] = *std::prev(after);
      return start + bytes_of(*last) == ack && (*last)->m_retrans;
    }
  }
  for (; place != m_sentList.end(); ++place) {
    ++buffer_work().visited;
    const SequenceNumber32 end = (*place)->m_startSeq + bytes_of(*place);
    if (end >= ack) return end == ack && (*place)->m_retrans && !(*place)->m_sacked;
  }
  return false;
}

}  // namespace ns3
