// SPDX-License-Identifier: GPL-2.0-only
// What each sender's data packets do at one link, window by window.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "net/link_device.hpp"
#include "plan/plan.hpp"

namespace lcca_ns3 {

struct WindowRow {
  std::uint64_t packets = 0, bytes = 0;              // whose last bit left
  std::uint64_t sent = 0, dropped = 0;               // that came to the link; that found its buffer full
  double first = std::nan(""), last = std::nan("");  // departures, µs
  double delay_sum = 0;                              // µs: waiting and being sent, of those that left
  std::uint64_t echoes = 0;                          // acknowledgements that reached the sender
  double rtt_sum = 0;                                // µs, of those
};

class WindowCounts final : public LinkWatcher {
 public:
  WindowCounts(const Plan& plan, std::int64_t begin)
      : plan_(plan), begin_(begin), rows_(plan.routes.size() * plan.windows.size()) {}

  void offered(const Mark::Fields& fields) override;
  void dropped(const Mark::Fields& fields) override;
  void sends(const Mark::Fields& fields, std::int64_t offered, double departs, std::uint32_t bytes) override;
  void acknowledged(const Mark::Fields& echo);

  const std::vector<WindowRow>& rows() const { return rows_; }  // windows of the first route, of the second, …

 private:
  double us(double ns) const { return (ns - static_cast<double>(begin_)) / plan_.ns_per_us(); }
  double now() const;  // µs
  template <class Count>
  void at(double time, std::size_t sender, Count count) {
    WindowRow* row = rows_.data() + sender * plan_.windows.size();
    for (const Window& window : plan_.windows) {
      if (window.from <= time && time < window.to) count(*row);
      ++row;
    }
  }

  const Plan& plan_;
  std::int64_t begin_;  // ns
  std::vector<WindowRow> rows_;
};

}  // namespace lcca_ns3
