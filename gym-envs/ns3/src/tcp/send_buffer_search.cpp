// SPDX-License-Identifier: GPL-2.0-only
// Faster searches in ns-3's send buffer, with the same results. ns-3's libraries are bound to the symbols of this
// module first; what is not decided here is left to ns-3's own.
// - A segment that is retransmitted as it was sent. The wheel of ns-3 has its assertions compiled in, and one of them
//   compares the list of sent segments with itself at every step of this search: 80 ms at a window of 4,000 packets.
// - Whether an acknowledgement is of a retransmission: ns-3 looks through all segments, not up to it only.
// - What is sent next while nothing is known to be lost. ns-3 looks through all sent segments at every acknowledgement.
#include <dlfcn.h>

#include <algorithm>

#include "ns3/simulator.h"
#include "ns3/tcp-tx-buffer.h"

namespace ns3 {

namespace {

using Copy = TcpTxItem* (*)(TcpTxBuffer*, std::uint32_t, const SequenceNumber32&);
using Next = bool (*)(const TcpTxBuffer*, SequenceNumber32*, SequenceNumber32*, bool);

template <class Function>
Function of_ns3(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

const auto copy = of_ns3<Copy>("_ZN3ns311TcpTxBuffer16CopyFromSequenceEjRKNS_14SequenceNumberIjiEE");
const auto next = of_ns3<Next>("_ZNK3ns311TcpTxBuffer7NextSegEPNS_14SequenceNumberIjiEES3_b");

}  // namespace

__attribute__((visibility("default"))) TcpTxItem* TcpTxBuffer::CopyFromSequence(std::uint32_t bytes,
                                                                                const SequenceNumber32& from) {
  if (from + bytes > m_firstByteSeq + m_sentSize) return copy(this, bytes, from);
  for (TcpTxItem* item : m_sentList) {
    if (item->m_startSeq < from) continue;
    if (item->m_startSeq != from || item->m_sacked || item->m_packet->GetSize() != bytes) break;
    if (!item->m_retrans) m_retrans += bytes;
    item->m_retrans = true;
    item->m_lastSent = Simulator::Now();
    return item;
  }
  return copy(this, bytes, from);
}

// RFC 6675, section 4, NextSeg: rule 1 is about lost segments, rule 2 takes what was never sent.
__attribute__((visibility("default"))) bool TcpTxBuffer::NextSeg(SequenceNumber32* from, SequenceNumber32* to,
                                                                 bool in_recovery) const {
  const SequenceNumber32 unsent = m_firstByteSeq + m_sentSize;
  if (m_lostOut > 0 || SizeFromSequence(unsent) == 0) return next(this, from, to, in_recovery);
  const std::uint32_t window = m_rWndCallback();
  if (m_sentSize > window) return false;
  *from = unsent;
  *to = unsent + std::min(m_segmentSize, window - m_sentSize);
  return true;
}

__attribute__((visibility("default"))) bool TcpTxBuffer::IsRetransmittedDataAcked(const SequenceNumber32& ack) const {
  for (const TcpTxItem* item : m_sentList) {
    const SequenceNumber32 end = item->m_startSeq + item->m_packet->GetSize();
    if (end >= ack) return end == ack && item->m_retrans && !item->m_sacked;
  }
  return false;
}

}  // namespace ns3
