// SPDX-License-Identifier: GPL-2.0-only
#include "trial/window_counts.hpp"

#include "ns3/node.h"
#include "ns3/simulator.h"

namespace lcca_ns3 {

double WindowCounts::now() const { return us(static_cast<double>(ns3::Simulator::Now().GetNanoSeconds())); }

void WindowCounts::offered(const Mark::Fields& fields) {
  at(now(), fields.sender, [](WindowRow& row) { ++row.sent; });
}

void WindowCounts::dropped(const Mark::Fields& fields) {
  at(now(), fields.sender, [](WindowRow& row) { ++row.dropped; });
}

void WindowCounts::sends(const Mark::Fields& fields, std::int64_t offered, double departs, std::uint32_t bytes) {
  const double time = us(departs), delay = time - us(static_cast<double>(offered));
  at(time, fields.sender, [&](WindowRow& row) {
    if (row.packets++ == 0) row.first = time;
    row.last = time;
    row.bytes += bytes;
    row.delay_sum += delay;
  });
}

void WindowCounts::acknowledged(const Mark::Fields& echo) {
  const double time = now();
  at(time, echo.sender, [&](WindowRow& row) {
    ++row.echoes;
    row.rtt_sum += time - us(static_cast<double>(echo.sent));
  });
}

}  // namespace lcca_ns3
