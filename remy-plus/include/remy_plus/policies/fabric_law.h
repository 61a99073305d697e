/* A control law for a datacenter fabric, whose senders know their line rate, the base RTT of their way and how many
 * bytes they have left.
 *
 *   window    = clamp(reference 2^n + 2^(add + add_size size), 2^-10, 2^largest)   BDP, at every ACK
 *   reference = window, once an RTT
 *   rate      = line rate min(1, 2^pace window)
 *   under way = 2^ahead window at most
 *
 * with n = linear map of features, from -3 to 1.5, and size = log2(bytes left / BDP) / 4. A BDP is that of the
 * sender's line and the fabric's base RTT; delays are in such RTTs. In C and by basic arithmetic alone, as law.h, which
 * has lcca_log2 and lcca_exp2. */
#ifndef LCCA_FABRIC_LAW_H
#define LCCA_FABRIC_LAW_H

#include "remy_plus/policies/law.h"

/* The numbers of a law, in the order of its coefficients. All are logarithms to base 2. */
enum {
  lcca_fabric_first,      /* window of a new flow: BDP */
  lcca_fabric_first_size, /* of that, for each unit of size */
  lcca_fabric_largest,    /* window: BDP */
  lcca_fabric_add,        /* BDP an RTT */
  lcca_fabric_add_size,   /* of that, for each unit of size */
  lcca_fabric_pace,       /* rate over window / BDP */
  lcca_fabric_ahead,      /* bytes under way over the window */
  lcca_fabric_loss,       /* decrease at a loss */
  lcca_fabric_terms
};

/* Features that every law has; three follow for each of its signals: its form, what that has above 0, and size times
 * it. */
enum {
  lcca_fabric_of_one,
  lcca_fabric_of_window,       /* log2 reference */
  lcca_fabric_of_delay,        /* queueing, RTTs, at most 8 */
  lcca_fabric_of_long_delay,   /* of that above a half */
  lcca_fabric_of_trend,        /* delay less that of the latest reference */
  lcca_fabric_of_delay_window, /* delay, at most 2, times log2 reference */
  lcca_fabric_of_size,
  lcca_fabric_of_size_delay, /* size times delay, at most 2 */
  lcca_fabric_features
};

enum { lcca_fabric_most_signals = 8 };
enum { lcca_fabric_most_features = lcca_fabric_features + 3 * lcca_fabric_most_signals };

typedef struct {
  double terms[lcca_fabric_terms];
  double map[lcca_fabric_most_features];
  int signals;
} lcca_fabric_law;

/* Of one flow. */
typedef struct {
  double window, reference; /* BDP */
  double delay;             /* RTTs, as the reference last moved */
} lcca_fabric_flow;

static inline double lcca_fabric_size(double bdps_left) {
  return lcca_clamp(lcca_log2(lcca_max(bdps_left, 1e-9)), -4, 9) / 4;
}

/* How a signal becomes a feature, by its number in remy_plus::FabricForm; one that is not known yet counts as 0. */
static inline double lcca_fabric_form(int form, double value) {
  switch (form) {
    case 0: /* queueing, in RTTs or BDP */
      return lcca_clamp(value, 0, 8);
    case 1: /* utilisation, or a rate in line rates */
      return lcca_clamp(lcca_log2(lcca_max(value, 1.0 / 4096)), -12, 4);
    case 2: /* share */
      return lcca_clamp(value, 0, 1);
    case 3: /* flows that share a link */
      return lcca_log2(lcca_max(value, 1));
    default: /* what may be none */
      return lcca_log2(1 + lcca_max(value, 0));
  }
}

static inline void lcca_fabric_begin(const lcca_fabric_law* law, lcca_fabric_flow* flow, double bdps_left) {
  const double* p = law->terms;
  const double first = p[lcca_fabric_first] + p[lcca_fabric_first_size] * lcca_fabric_size(bdps_left);
  flow->window = flow->reference = lcca_exp2(lcca_clamp(first, -10, 4));
  flow->delay = 0;
}

/* An ACK: `delay` is the RTT less that of the way without queues, in RTTs; `moves`: an RTT has passed since the
 * reference last moved; `signals`: their forms. */
static inline void lcca_fabric_ack(const lcca_fabric_law* law, lcca_fabric_flow* flow, double delay, double bdps_left,
                                   const double* signals, int moves) {
  const double *p = law->terms, *map = law->map;
  const double d = lcca_clamp(delay, 0, 8), short_delay = lcca_min(d, 2), size = lcca_fabric_size(bdps_left);
  const double log_window = lcca_log2(flow->reference);
  double n = map[lcca_fabric_of_one] + map[lcca_fabric_of_window] * log_window + map[lcca_fabric_of_delay] * d +
             map[lcca_fabric_of_long_delay] * lcca_max(0, d - 0.5) + map[lcca_fabric_of_trend] * (d - flow->delay) +
             map[lcca_fabric_of_delay_window] * short_delay * log_window + map[lcca_fabric_of_size] * size +
             map[lcca_fabric_of_size_delay] * size * short_delay;
  double added;
  int i;
  for (i = 0; i < law->signals; ++i) {
    const double* row = map + lcca_fabric_features + 3 * i;
    n += row[0] * signals[i] + row[1] * lcca_max(0, signals[i]) + row[2] * size * signals[i];
  }
  added = lcca_exp2(lcca_clamp(p[lcca_fabric_add] + p[lcca_fabric_add_size] * size, -17, 3));
  flow->window = lcca_clamp(flow->reference * lcca_exp2(lcca_clamp(n, -3, 1.5)) + added, 1.0 / 1024,
                            lcca_exp2(lcca_clamp(p[lcca_fabric_largest], -4, 4)));
  if (moves) {
    flow->reference = flow->window;
    flow->delay = d;
  }
}

/* Packets were lost; at most once an RTT. */
static inline void lcca_fabric_lost(const lcca_fabric_law* law, lcca_fabric_flow* flow) {
  flow->window = flow->reference =
      lcca_max(flow->reference * lcca_exp2(-lcca_clamp(law->terms[lcca_fabric_loss], 0, 10)), 1.0 / 1024);
}

/* Rate over the line's, and bytes that may be under way over a BDP. */
static inline double lcca_fabric_rate(const lcca_fabric_law* law, const lcca_fabric_flow* flow) {
  return lcca_clamp(flow->window * lcca_exp2(lcca_clamp(law->terms[lcca_fabric_pace], -4, 4)), 1.0 / 1024, 1);
}
static inline double lcca_fabric_under_way(const lcca_fabric_law* law, const lcca_fabric_flow* flow) {
  return flow->window * lcca_exp2(lcca_clamp(law->terms[lcca_fabric_ahead], -4, 4));
}

#endif
