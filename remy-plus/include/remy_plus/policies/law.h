/* A control law: a few dozen numbers that move a real-valued window at every ACK, and space packets by it.
 *
 *   window += clamp(up - down, -1, 1)     packets an ACK: the relative change of the window in an RTT
 *   up   = 2^(increase - increase_window log2(window) + n0) (1 + start-up + recovery)
 *   down = 2^(decrease + decrease_window log2(window) + decrease_young / (1 + age / 8) + n1) (smoothed queueing / RTT)
 *   gap  = 2^(pace + n2) (1 + pace_queue 8 queueing / RTT) RTT / window
 *
 * and where hops grant a rate
 *
 *   window += pull (2^target rate RTT - window)
 *   1 / gap = (1 - pace_target) / gap + pace_target rate / (1 + 2^(pace + n2) pace_queue 8 queueing / RTT)
 *
 * with n = linear map of features, each from -2 to 2. What does not depend on the latest ACK's queueing is computed
 * anew after each `refresh` of an RTT. In C and by basic arithmetic alone, so that an exported law is this file and its
 * bits are the same everywhere. */
#ifndef LCCA_LAW_H
#define LCCA_LAW_H

#include <stdint.h>
#include <string.h>

#include "remy_plus/signals/ack_history.h"

/* The numbers of a law, in the order of its coefficients. Logarithms are base 2, times in RTTs unless they say µs. */
enum {
  lcca_window,          /* of a new flow: log2 packets */
  lcca_gap,             /* between its first packets: log2 us */
  lcca_increase,        /* log2 packets an ACK */
  lcca_increase_window, /* power of the window that an increase falls with */
  lcca_boost,           /* of a new flow's increase: log2 */
  lcca_boost_time,      /* log2 RTTs in which it halves */
  lcca_boost_queue,     /* how a queue takes it back: log2 */
  lcca_recovery,        /* of the increase since there was a queue */
  lcca_recovery_power,
  lcca_decrease,        /* log2 */
  lcca_decrease_window, /* power of the window that a decrease rises with */
  lcca_decrease_young,  /* log2, of a new flow's decrease */
  lcca_slow_share,      /* of the queueing over 128 ACKs in what a flow yields to */
  lcca_trend,           /* of queueing that grows */
  lcca_pace,            /* log2 */
  lcca_pace_queue,
  lcca_jump,            /* of the window after the first ones were acknowledged: log2 */
  lcca_jump_gap,        /* with the log2 of the gap between their ACKs over that of their sends */
  lcca_jump_queue,
  lcca_pull,            /* to the window of a rate that hops say: share of the way an ACK */
  lcca_target,          /* that window over rate x RTT: log2 */
  lcca_pace_target,     /* share of that rate in the pacing rate */
  lcca_terms
};

/* Features of every law; those of its signals follow. */
enum {
  lcca_of_window,
  lcca_of_queue,
  lcca_of_queue_2,
  lcca_of_queue_8,
  lcca_of_smallest_gap_ratio,
  lcca_of_age_2,
  lcca_of_age_16,
  lcca_of_queued_share,
  lcca_of_since_queue,
  lcca_of_gap_ratio,
  lcca_of_trend,
  lcca_features
};

enum { lcca_most_features = 32 };

typedef struct {
  double terms[lcca_terms];
  double map[3][lcca_most_features]; /* of features into n0, n1, n2 */
  int features;                      /* lcca_features and one for each signal; 0: no map */
  double bound;                      /* of |n0|, |n1|, |n2| */
  double largest;                    /* window, packets */
  double refresh;                    /* RTTs for which what does not depend on the latest ACK is kept */
  double halving, boost_queue, target; /* lcca_prepare: powers of terms */
  double pull;                         /* held between 0 and 1 */
  long long burst;
  double rows[lcca_most_features][4]; /* the map by features, and a column of zeros */
} lcca_law;

/* What a law remembers of a flow beside lcca_history. */
typedef struct {
  double window; /* packets */
  double gap;    /* us, to the next packet */
  double next;   /* us: when the parts below are computed anew */
  double up, boost, recovery, down, pace;
  double first_ack; /* us */
  double added[3];  /* to n0, n1, n2 from outside (agent.hpp); beyond the bound */
  long long acks;
} lcca_flow;

/* Base-2 logarithm of a positive x, and power of 2 with an exponent in +-1000: to single precision. Without branches,
 * so that compilers can take several at once. */
static inline double lcca_log2(double x) {
  uint64_t bits, exponent;
  double mantissa, whole, f, s;
  memcpy(&bits, &x, sizeof bits);
  exponent = (bits + 0x95f619980c432ULL) >> 52; /* one more from a mantissa above sqrt 2 on */
  bits -= (exponent - 1023) << 52;
  memcpy(&mantissa, &bits, sizeof mantissa);
  exponent |= 0x4330000000000000ULL; /* 2^52 more */
  memcpy(&whole, &exponent, sizeof whole);
  whole -= 4503599627370496.0 + 1023;
  f = (mantissa - 1) / (mantissa + 1);
  s = f * f;
  return whole + 2.8853900817779268 * f * (1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9)))));
}

static inline double lcca_exp2(double x) {
  const double bounded = lcca_clamp(x, -1000, 1000);
  const int whole = (int)(bounded + 1024.5) - 1024;
  const double t = (bounded - whole) * 0.6931471805599453; /* |t| <= 0.347 */
  const double series =
      1 + t * (1 + t * (1.0 / 2 + t * (1.0 / 6 + t * (1.0 / 24 + t * (1.0 / 120 + t * (1.0 / 720 + t * (1.0 / 5040)))))));
  const uint64_t bits = (uint64_t)(whole + 1023) << 52;
  double scale;
  memcpy(&scale, &bits, sizeof scale);
  return series * scale;
}

/* How a signal becomes a feature; the numbers of remy_plus::Form. */
static inline double lcca_form(int form, double unit, double divisor, double value) {
  switch (form) {
    case 1: /* excess of a ratio above 1 */
      value = lcca_log2(1 + 64 * lcca_max(0, value - 1)) / 2 - 0.5;
      break;
    case 2: /* ratio around 1 */
      value = lcca_log2(1 + lcca_max(0, value)) - 1;
      break;
    case 3: /* utilisation */
      value = 8 * (value - 0.9);
      break;
    case 4: /* rare share */
      value = lcca_log2(1 + 63 * lcca_max(0, value)) / 3 - 1;
      break;
    case 5: /* share around a half */
      value = 2 * value - 1;
      break;
    default:
      value = 2 * lcca_log2(1 + lcca_max(0, value) / unit) / divisor - 0.5;
  }
  return lcca_clamp(value, -2, 2);
}

/* What follows from the terms once for all. */
static inline void lcca_prepare(lcca_law* law) {
  int i, j;
  law->halving = lcca_exp2(-law->terms[lcca_boost_time]);
  law->boost_queue = lcca_exp2(law->terms[lcca_boost_queue]);
  law->target = lcca_exp2(law->terms[lcca_target]);
  law->pull = lcca_clamp(law->terms[lcca_pull], 0, 1);
  law->burst = (long long)lcca_exp2(lcca_clamp(law->terms[lcca_window], 0, 30));
  for (i = 0; i < lcca_most_features; ++i)
    for (j = 0; j < 4; ++j) law->rows[i][j] = j < 3 && i < law->features ? law->map[j][i] : 0;
}

/* The flow begins. */
static inline void lcca_begin(const lcca_law* law, lcca_flow* flow) {
  memset(flow, 0, sizeof *flow);
  flow->window = lcca_clamp(lcca_exp2(law->terms[lcca_window]), 1, law->largest);
  flow->gap = lcca_exp2(law->terms[lcca_gap]);
}

/* The features of every law, not yet held between -2 and 2. Returns the logarithm of the window. */
static inline double lcca_look(double window, const lcca_history* h, double* x) {
  const double per_gap = h->smallest_gap > 0 ? 1 / h->smallest_gap : 0, age = lcca_age(h);
  double logs[8];
  int i;
  logs[0] = window;
  logs[1] = 1 + h->queueing * per_gap;
  logs[2] = 1 + h->over_2 * per_gap;
  logs[3] = 1 + h->over_8 * per_gap;
  logs[4] = 1 + 16 * lcca_smallest_gap_ratio(h);
  logs[5] = 1 + lcca_since_queue(h);
  logs[6] = 1 + lcca_gap_ratio(h);
  logs[7] = 1;
  for (i = 0; i < 8; ++i) logs[i] = lcca_log2(logs[i]);
  x[lcca_of_window] = (logs[0] - 4) / 2;
  x[lcca_of_queue] = logs[1] / 2 - 0.5;
  x[lcca_of_queue_2] = logs[2] / 2 - 0.5;
  x[lcca_of_queue_8] = logs[3] / 2 - 0.5;
  x[lcca_of_smallest_gap_ratio] = logs[4] / 2 - 1.5;
  x[lcca_of_age_2] = 1 / (1 + age / 2);
  x[lcca_of_age_16] = 1 / (1 + age / 16);
  x[lcca_of_queued_share] = 2 * h->queued_share - 1;
  x[lcca_of_since_queue] = logs[5] / 2;
  x[lcca_of_gap_ratio] = logs[6] - 1;
  x[lcca_of_trend] = (h->queueing - h->over_2) * per_gap / 4;
  return logs[0];
}

/* The parts that hold for a while, law->refresh RTTs. `signals`: features of the law's signals; `at_rate`: whether a
 * granted rate alone says the window. */
static inline void lcca_refresh(const lcca_law* law, lcca_flow* flow, const lcca_history* h, const double* signals,
                                int at_rate) {
  const double* p = law->terms;
  const double age = lcca_age(h), free = lcca_clamp(lcca_since_queue(h) - 1, 0, 16);
  double n[4] = {0, 0, 0, 0}, powers[4], log_window;
  int i, j;
  if (law->features > 0) {
    double x[lcca_most_features];
    log_window = lcca_look(flow->window, h, x);
    for (i = lcca_features; i < law->features; ++i) x[i] = signals[i - lcca_features];
    for (i = 0; i < law->features; ++i) {
      const double held = lcca_clamp(x[i], -2, 2);
      for (j = 0; j < 4; ++j) n[j] += law->rows[i][j] * held;
    }
    for (j = 0; j < 3; ++j) n[j] = lcca_clamp(n[j], -law->bound, law->bound);
  } else {
    log_window = lcca_log2(flow->window);
  }
  for (j = 0; j < 3; ++j) n[j] += flow->added[j];
  powers[0] = p[lcca_pace] + n[2];
  if (at_rate) {
    flow->pace = lcca_exp2(powers[0]);
    return;
  }
  powers[1] = p[lcca_increase] - p[lcca_increase_window] * log_window + n[0];
  powers[2] = p[lcca_boost] - age * law->halving;
  powers[3] = p[lcca_decrease] + p[lcca_decrease_window] * log_window + p[lcca_decrease_young] / (1 + age / 8) + n[1];
  for (i = 0; i < 4; ++i) powers[i] = lcca_exp2(powers[i]);
  flow->pace = powers[0];
  flow->up = powers[1];
  flow->boost = powers[2];
  flow->down = powers[3];
  flow->recovery = 0;
  if (p[lcca_recovery] != 0 && free > 0)
    flow->recovery = p[lcca_recovery] * lcca_exp2(p[lcca_recovery_power] * lcca_log2(free));
}

/* Whether the next ACK, at `now`, computes these parts anew: only then are features of signals looked at. */
static inline int lcca_due(const lcca_flow* flow, double now) { return flow->acks < 24 || now >= flow->next; }

/* An ACK of the flow, after lcca_history has it. `rate`: what hops grant the flow, packets/us; 0 if unknown. */
LCCA_INLINE void lcca_ack(const lcca_law* law, lcca_flow* flow, const lcca_history* h, const double* signals,
                          double rate, double now) {
  const double* p = law->terms;
  const double queue = 8 * h->queueing * h->per_rtt;
  const int at_rate = rate > 0 && law->pull >= 1, due = lcca_due(flow, now);
  double wide;
  if (++flow->acks == 1) flow->first_ack = now;
  if (due) {
    lcca_refresh(law, flow, h, signals, at_rate);
    flow->next = now + h->smallest_rtt * law->refresh;
  }
  if (at_rate) {
    flow->window = law->target * rate * h->smallest_rtt;
  } else {
    double up, down, yielded;
    if (flow->acks == law->burst && flow->acks > 1 && lcca_age(h) < 8) {
      const double spread = (now - flow->first_ack) / (double)(flow->acks - 1);
      const double wider = lcca_max(0, lcca_log2(lcca_max(spread, 1e-9)) - p[lcca_gap]);
      const double jump = p[lcca_jump] + p[lcca_jump_gap] * wider + p[lcca_jump_queue] * queue;
      flow->window *= lcca_exp2(lcca_clamp(jump, -1, 5));
    }
    up = flow->up * (1 + flow->boost / (1 + law->boost_queue * queue) + flow->recovery);
    yielded = h->queueing + p[lcca_slow_share] * (h->slow - h->queueing);
    down = (flow->down * yielded + p[lcca_trend] * lcca_max(0, h->queueing - h->over_2)) * h->per_rtt;
    flow->window += lcca_clamp(up - down, -1, 1);
    if (rate > 0) flow->window += law->pull * (law->target * rate * h->smallest_rtt - flow->window);
  }
  flow->window = lcca_clamp(flow->window, 1, law->largest);
  wide = flow->pace * lcca_max(0.1, 1 + p[lcca_pace_queue] * queue) * (h->smallest_rtt + h->queueing);
  if (rate > 0 && p[lcca_pace_target] != 0) { /* just the rate where there is no queue; one division */
    const double narrow = lcca_max(0.1, 1 + p[lcca_pace_queue] * flow->pace * queue);
    const double packets = (1 - p[lcca_pace_target]) * narrow * flow->window + p[lcca_pace_target] * wide * rate;
    flow->gap = wide * narrow / lcca_max(packets, 1e-9 * wide * narrow);
  } else {
    flow->gap = wide / flow->window;
  }
}

#endif
