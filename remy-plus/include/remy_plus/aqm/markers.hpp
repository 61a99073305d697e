// Markers: how likely a queue marks a packet, by the packets that wait. Both simulators mark by these.
//
// A marker is asked as a packet joins the queue (on_enqueue) and as it starts service (on_dequeue), each time with the
// number of other packets waiting, and answers with a probability; who asks draws. A new one is a struct that models
// Marker, and a line in the conformance test (tests/remy-plus/cpp/aqm/markers_test.cpp).
#pragma once

#include <algorithm>
#include <concepts>

#include "remy_plus/core/model.hpp"

namespace remy_plus {

template <class M>
concept Marker = requires(const M& marker, double waiting) {
  { marker.on_enqueue(waiting) } -> std::same_as<double>;
  { marker.on_dequeue(waiting) } -> std::same_as<double>;
};

// DCTCP's marking threshold K in packets: λ × rate × RTT, with λ = 0.17 (more than the 1/7 that SIGCOMM 2010, section
// 3.4, asks for), as in the reference's PRED and DCTCP simulations, and at least one packet. There is no cap: a
// header's mark is a measurement, and means the same whatever the buffer is. Who feeds the mark to TCP has bounds of
// its own (see lcca.gym_envs.ns3.baselines).
inline constexpr double dctcp_lambda = 0.17;
inline double dctcp_threshold(double link_rate, double rtt) { return std::max(dctcp_lambda * link_rate * rtt, 1.0); }

// Marks what finds or leaves more than `above` packets waiting: a step, as DCTCP's.
struct StepMarker {
  double above;  // packets

  static StepMarker of(const Model& model, double link_rate, double rtt) {
    return {model.mark_above > 0 ? model.mark_above : dctcp_threshold(link_rate, rtt)};
  }

  double on_enqueue(double waiting) const { return waiting > above ? 1 : 0; }
  double on_dequeue(double waiting) const { return on_enqueue(waiting); }
};
static_assert(Marker<StepMarker>);

// Marks no packet that finds fewer than or just `min_k` packets waiting, every one that finds `max_k` or more, and
// between them a share that rises in a line to `max_p`, as switches do. Never at dequeue.
struct SlopeMarker {
  double min_k = 0, max_k = 0;  // packets
  double max_p = 1;

  double on_enqueue(double waiting) const {
    if (waiting >= max_k) return 1;
    return waiting > min_k ? max_p * (waiting - min_k) / (max_k - min_k) : 0;
  }
  double on_dequeue(double) const { return 0; }

  // Throws std::invalid_argument naming what is wrong.
  void check() const;
};
static_assert(Marker<SlopeMarker>);

}  // namespace remy_plus
