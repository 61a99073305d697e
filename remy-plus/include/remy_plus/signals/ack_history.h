/* What a sender remembers of the ACKs of one flow beyond R+'s moving averages: its age, when it last met a queue, and
 * queueing and gaps between ACKs over several spans. In C, so that an exported law (policies/law.h) is this file. */
#ifndef LCCA_ACK_HISTORY_H
#define LCCA_ACK_HISTORY_H

#include <string.h>

/* What every ACK goes through once: calls would take a tenth of its time. */
#ifdef __GNUC__
#define LCCA_INLINE static inline __attribute__((always_inline))
#else
#define LCCA_INLINE static inline
#endif

typedef struct {
  double smallest_rtt, per_rtt; /* us, and its inverse */
  double queueing;              /* us: latest RTT less the smallest */
  double queued_share;          /* of ACKs that met a queue, over two RTTs; a half at first */
  double slow, over_2, over_8;  /* queueing, us: over 128 ACKs, two RTTs, eight RTTs */
  double smallest_gap;          /* us, between ACKs; 0 before there is one */
  double gap_8, gap_64;         /* us, means over 8 and 64 ACKs */
  double began, last_ack, last_queue; /* us */
} lcca_history;

static const double lcca_least_gap = 1.0 / 2048; /* smallest RTTs: ACKs that arrive at once say nothing of a rate */
static const double lcca_queued_from = 1.0 / 8;  /* smallest gaps: what counts as a queue */

static inline double lcca_min(double a, double b) { return b < a ? b : a; }
static inline double lcca_max(double a, double b) { return a < b ? b : a; }
static inline double lcca_clamp(double x, double low, double high) { return lcca_min(lcca_max(x, low), high); }

/* The first ACK of a flow, whose packet was sent at `sent`: it starts the clocks. */
static inline void lcca_first_ack(lcca_history* h, double now, double sent) {
  memset(h, 0, sizeof *h);
  h->smallest_rtt = now - sent;
  h->per_rtt = 1 / h->smallest_rtt;
  h->began = h->last_queue = sent;
  h->last_ack = now;
  h->queued_share = 0.5;
}

/* A later ACK, of a packet that was sent at `sent`. */
LCCA_INLINE void lcca_next_ack(lcca_history* h, double now, double sent) {
  const double rtt = now - sent, gap = now - h->last_ack;
  double counted, q, in_rtts;
  int queued;
  if (rtt < h->smallest_rtt) {
    h->smallest_rtt = rtt;
    h->per_rtt = 1 / rtt;
  }
  q = h->queueing = rtt - h->smallest_rtt;
  in_rtts = gap * h->per_rtt;
  counted = lcca_max(gap, h->smallest_rtt * lcca_least_gap);
  if (h->smallest_gap == 0) {
    h->smallest_gap = h->gap_8 = h->gap_64 = counted;
    h->over_2 = h->over_8 = q;
  }
  h->smallest_gap = lcca_min(h->smallest_gap, counted);
  h->gap_8 += (gap - h->gap_8) * 0.125;
  h->gap_64 += (gap - h->gap_64) * 0.015625;
  h->slow += (q - h->slow) * 0.0078125;
  h->over_2 += lcca_min(1, in_rtts * 0.5) * (q - h->over_2);
  h->over_8 += lcca_min(1, in_rtts * 0.125) * (q - h->over_8);
  queued = q > lcca_queued_from * h->smallest_gap;
  h->queued_share += lcca_min(0.25, in_rtts * 0.5) * (queued - h->queued_share);
  if (queued) h->last_queue = now;
  h->last_ack = now;
}

/* Smallest RTTs since the flow began, and since an ACK met a queue, at its latest ACK. */
static inline double lcca_age(const lcca_history* h) { return (h->last_ack - h->began) * h->per_rtt; }
static inline double lcca_since_queue(const lcca_history* h) { return (h->last_ack - h->last_queue) * h->per_rtt; }

/* Ratios of gaps; 0 before there are gaps. */
static inline double lcca_smallest_gap_ratio(const lcca_history* h) {
  return h->gap_8 > h->smallest_gap ? h->smallest_gap / h->gap_8 : h->smallest_gap > 0;
}
static inline double lcca_gap_ratio(const lcca_history* h) { return h->gap_64 > 0 ? h->gap_8 / h->gap_64 : 0; }

#endif
