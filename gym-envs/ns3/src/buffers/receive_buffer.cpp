// SPDX-License-Identifier: GPL-2.0-only
// A segment finds its place in ns-3's receive buffer without a look at all that wait there. One that overlaps with what
// is there, or comes before what is awaited, is left to ns-3's own.
#include "buffers/stock.hpp"
#include "buffers/work.hpp"
#include "ns3/packet.h"
#include "ns3/tcp-rx-buffer.h"

namespace ns3 {

namespace {

using lcca_ns3::buffer_work;

const auto add = lcca_ns3::of_ns3<bool (*)(TcpRxBuffer*, Ptr<Packet>, const TcpHeader&)>(
    "_ZN3ns311TcpRxBuffer3AddENS_3PtrINS_6PacketEEERKNS_9TcpHeaderE");

}  // namespace

LCCA_REPLACES bool TcpRxBuffer::Add(Ptr<Packet> packet, const TcpHeader& header) {
  ++buffer_work().calls;
  const std::uint32_t bytes = packet->GetSize();
  const SequenceNumber32 begin = header.GetSequenceNumber(), end = begin + bytes;
  auto after = m_data.lower_bound(begin);
  const auto end_of = [](const auto& stored) { return stored.first + stored.second->GetSize(); };
  const bool fits =
      bytes > 0 && begin >= m_nextRxSeq.Get() && (m_data.empty() || end <= m_data.begin()->first + m_maxBuffer) &&
      (after == m_data.end() || end <= after->first) && (after == m_data.begin() || end_of(*std::prev(after)) <= begin);
  if (!fits) {
    ++buffer_work().stock;
    return add(this, packet, header);
  }
  after = m_data.emplace_hint(after, begin, packet->CreateFragment(0, bytes));
  if (begin > m_nextRxSeq.Get()) UpdateSackList(begin, end);
  m_size += bytes;
  for (; after != m_data.end() && after->first == m_nextRxSeq.Get(); ++after) {
    ++buffer_work().visited;
    m_availBytes += after->second->GetSize();
    m_nextRxSeq = end_of(*after);
    ClearSackList(m_nextRxSeq);
  }
  if (m_gotFin && m_nextRxSeq.Get() == m_finSeq) ++m_nextRxSeq;
  return true;
}

}  // namespace ns3
