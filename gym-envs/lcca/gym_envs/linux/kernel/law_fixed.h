/* The control law of remy_plus/policies/law.h in whole numbers, for places without floating point: the same source for
 * Linux's BPF and for user space, where a test compares it with that file. What senders measure themselves; no signals
 * of hops. The numbers of the law, `fixed_law`, come after this file.
 *
 * BPF's verifier goes through every branch of a program, so minima have none, and a function that is not static is
 * checked once and by itself. BPF divides without signs, and multiplies to 64 bits. */
#ifndef LCCA_LAW_FIXED_H
#define LCCA_LAW_FIXED_H

typedef long long fixed;            /* a number times 2^24 */
typedef long long ticks;            /* us times 2^12 */
typedef unsigned long long natural; /* without a sign */

#define LCCA_ONE (1LL << 24)
#define LCCA_TICK (1LL << 12)
#define LCCA_FAR (1LL << 34)  /* 1024: factors are held below it, so that products of two fit */
#define LCCA_LONG (1LL << 38) /* 16,384: ratios are held at it */

#define LCCA_IN static inline __attribute__((always_inline))
#ifdef __bpf__
#define LCCA_ALONE __attribute__((noinline))
#else
#define LCCA_ALONE static __attribute__((noinline, unused))
#endif

/* In the order of law.h. */
enum {
  t_window,
  t_gap,
  t_increase,
  t_increase_window,
  t_boost,
  t_boost_time,
  t_boost_queue,
  t_recovery,
  t_recovery_power,
  t_decrease,
  t_decrease_window,
  t_decrease_young,
  t_slow_share,
  t_trend,
  t_pace,
  t_pace_queue,
  t_jump,
  t_jump_gap,
  t_jump_queue,
  t_pull,
  t_target,
  t_pace_target,
  law_terms
};
enum { law_features = 11 };

struct law {
  fixed terms[law_terms];
  fixed map[law_features][3];
  fixed bound, largest, refresh;
  fixed halving, boost_queue; /* powers of terms */
  fixed window;               /* of a new flow */
  ticks gap;                  /* between its first packets */
  natural burst;
};

/* Of one flow. */
struct flow {
  ticks smallest_rtt, queueing, slow, over_2, over_8, smallest_gap, gap_8, gap_64;
  ticks began, last_ack, last_queue, first_ack, next;
  ticks gap; /* to the next packet */
  fixed window, queued_share, up, boost, recovery, down, pace;
  natural acks, heard;
};

static const struct law fixed_law;

/* All ones if negative. The empty asm keeps the compiler from making it a branch. */
LCCA_IN fixed fx_negative(fixed x) {
  fixed sign = x >> 63;
  __asm__ volatile("" : "+r"(sign));
  return sign;
}
LCCA_IN fixed fx_min(fixed a, fixed b) { return b + ((a - b) & fx_negative(a - b)); }
LCCA_IN fixed fx_max(fixed a, fixed b) { return a - ((a - b) & fx_negative(a - b)); }
LCCA_IN fixed fx_clamp(fixed x, fixed low, fixed high) { return fx_min(fx_max(x, low), high); }

/* Of |b| below 2^39, and a product below 2^63. */
LCCA_IN fixed fx_times(fixed a, fixed b) { return (a >> 24) * b + (((a & (LCCA_ONE - 1)) * b) >> 24); }

/* Of 0 <= a < 2^59, b > 0 in one unit; held at 2^14. Beyond 2^39 both lose 20 bits, where only what is held does so. */
LCCA_IN fixed fx_ratio(fixed a, fixed b) {
  const int lost = (int)(20 & ~fx_negative(a - (1LL << 39)));
  const natural by = (natural)(b >> lost);
  return fx_min((fixed)(((natural)(a >> lost) << 24) / (by | (by == 0))), LCCA_LONG);
}
LCCA_IN fixed fx_signed_ratio(fixed a, fixed b) {
  const fixed sign = fx_negative(a), size = (a ^ sign) - sign;
  return (fx_ratio(size, b) ^ sign) - sign;
}

/* Base-2 logarithm of a positive number: 2 / ln 2 atanh of (m - 1) / (m + 1), m from 0.71 to 1.41. To 4e-8. */
LCCA_ALONE fixed fx_log2(fixed number) {
  natural x = (natural)fx_max(number, 1), mantissa, away;
  fixed top = 0, below, f, square, series, step;
  step = (x >> 32 != 0) * 32;
  x >>= step, top += step;
  step = (x >> 16 != 0) * 16;
  x >>= step, top += step;
  step = (x >> 8 != 0) * 8;
  x >>= step, top += step;
  step = (x >> 4 != 0) * 4;
  x >>= step, top += step;
  step = (x >> 2 != 0) * 2;
  x >>= step, top += step;
  top += x >> 1;
  x = (natural)fx_max(number, 1);
  mantissa = x << (62 - top) >> 32; /* from 2^30 to 2^31 */
  step = mantissa > 1518500249ULL;  /* sqrt 2 */
  mantissa >>= step, top += step;
  below = fx_negative((fixed)mantissa - (1LL << 30));
  away = (natural)((((fixed)mantissa - (1LL << 30)) ^ below) - below);
  f = (fixed)((away << 30) / (mantissa + (1ULL << 30)));
  square = (f * f) >> 30;
  series = 119304647;                              /* 1/9 */
  series = 153391689 + ((square * series) >> 30);  /* 1/7 */
  series = 214748365 + ((square * series) >> 30);  /* 1/5 */
  series = 357913941 + ((square * series) >> 30);  /* 1/3 */
  series = (1LL << 30) + ((square * series) >> 30);
  series = (((f * series) >> 30) * 3098164009LL) >> 30; /* 2 / ln 2 */
  series = (series + 32) >> 6;
  return ((top - 24) << 24) + ((series ^ below) - below);
}

/* Power of 2, of exponents held between -24 and 38. To 5e-7 of it, and 2^-24. */
LCCA_ALONE fixed fx_exp2(fixed exponent) {
  const fixed x = fx_clamp(exponent, -(24LL << 24), 38LL << 24), whole = (x + LCCA_ONE / 2) >> 24;
  const fixed t = ((x - (whole << 24)) * 744261118LL) >> 24; /* times ln 2, in 2^-30; |t| <= 0.347 */
  fixed series = 213044; /* 1/5040 */
  series = 1491308 + ((t * series) >> 30);
  series = 8947849 + ((t * series) >> 30);
  series = 44739243 + ((t * series) >> 30);
  series = 178956971 + ((t * series) >> 30);
  series = 536870912 + ((t * series) >> 30);
  series = (1LL << 30) + ((t * series) >> 30);
  series = (1LL << 30) + ((t * series) >> 30);
  return (series << 8) >> (14 - fx_min(whole, 14)) << (fx_max(whole, 14) - 14);
}

LCCA_IN void fx_begin(struct flow* flow) {
  flow->window = fixed_law.window;
  flow->gap = fixed_law.gap;
  flow->acks = flow->heard = 0;
}

/* Rounded, not cut: means that are always cut drift by many ticks. */
LCCA_IN ticks fx_moved(ticks from, ticks to, fixed share) {
  const ticks away = to - from; /* share: at most 1 */
  return from + (away >> 24) * share + (((away & (LCCA_ONE - 1)) * share + LCCA_ONE / 2) >> 24);
}
LCCA_IN ticks fx_mean(ticks mean, ticks latest, int shift) { return mean + ((latest - mean + (1 << shift >> 1)) >> shift); }

/* An ACK at `now` of a packet that was sent at `sent`: lcca_first_ack and lcca_next_ack. */
LCCA_ALONE int fx_hear(struct flow* h, ticks now, ticks sent) {
  const ticks rtt = fx_max(now - sent, 1);
  ticks gap, counted, q;
  fixed in_rtts, queued;
  if (!h) return 0;
  if (h->heard++ == 0) {
    h->smallest_rtt = rtt;
    h->queueing = h->slow = h->over_2 = h->over_8 = h->smallest_gap = h->gap_8 = h->gap_64 = 0;
    h->queued_share = LCCA_ONE / 2;
    h->began = h->last_queue = sent;
    h->last_ack = now;
    return 0;
  }
  gap = now - h->last_ack;
  h->smallest_rtt = fx_min(h->smallest_rtt, rtt);
  q = h->queueing = rtt - h->smallest_rtt;
  in_rtts = fx_ratio(gap, h->smallest_rtt);
  counted = fx_max(fx_max(gap, h->smallest_rtt >> 11), 1);
  if (h->smallest_gap == 0) {
    h->smallest_gap = h->gap_8 = h->gap_64 = counted;
    h->over_2 = h->over_8 = q;
  }
  h->smallest_gap = fx_min(h->smallest_gap, counted);
  h->gap_8 = fx_mean(h->gap_8, gap, 3);
  h->gap_64 = fx_mean(h->gap_64, gap, 6);
  h->slow = fx_mean(h->slow, q, 7);
  h->over_2 = fx_moved(h->over_2, q, fx_min(LCCA_ONE, in_rtts >> 1));
  h->over_8 = fx_moved(h->over_8, q, fx_min(LCCA_ONE, in_rtts >> 3));
  queued = fx_negative((h->smallest_gap >> 3) - q);
  h->queued_share = fx_moved(h->queued_share, LCCA_ONE & queued, fx_min(LCCA_ONE / 4, in_rtts >> 1));
  h->last_queue += (now - h->last_queue) & queued;
  h->last_ack = now;
  return 0;
}

/* log2(1 + a / b) of 0 <= a, b > 0 */
LCCA_IN fixed fx_log_of(ticks a, ticks b) { return fx_log2(LCCA_ONE + fx_ratio(a, b)); }

/* lcca_look and lcca_refresh; `age` and `since` a queue in RTTs. */
LCCA_ALONE int fx_refresh(struct flow* f, fixed age, fixed since) {
  const fixed* p = fixed_law.terms;
  const fixed free = fx_clamp(since - LCCA_ONE, 0, 16 * LCCA_ONE);
  fixed x[law_features], n0 = 0, n1 = 0, n2 = 0, log_window;
  ticks least, mean;
  int i;
  if (!f) return 0;
  least = f->smallest_gap + (LCCA_LONG & fx_negative(f->smallest_gap - 1)); /* without gaps: ratios are 0 */
  mean = fx_max(f->gap_8, f->smallest_gap);
  log_window = fx_log2(f->window);
  x[0] = (log_window - 4 * LCCA_ONE) >> 1;
  x[1] = (fx_log_of(f->queueing, least) - LCCA_ONE) >> 1;
  x[2] = (fx_log_of(f->over_2, least) - LCCA_ONE) >> 1;
  x[3] = (fx_log_of(f->over_8, least) - LCCA_ONE) >> 1;
  x[4] = (fx_log2(LCCA_ONE + 16 * fx_ratio(f->smallest_gap, mean)) - 3 * LCCA_ONE) >> 1;
  x[5] = fx_ratio(LCCA_ONE, LCCA_ONE + (age >> 1));
  x[6] = fx_ratio(LCCA_ONE, LCCA_ONE + (age >> 4));
  x[7] = 2 * f->queued_share - LCCA_ONE;
  x[8] = fx_log2(LCCA_ONE + since) >> 1;
  x[9] = fx_log_of(f->gap_8, f->gap_64) - LCCA_ONE;
  x[10] = fx_signed_ratio(f->queueing - f->over_2, least) >> 2;
  for (i = 0; i < law_features; ++i) {
    const fixed held = fx_clamp(x[i], -2 * LCCA_ONE, 2 * LCCA_ONE);
    n0 += fx_times(fixed_law.map[i][0], held);
    n1 += fx_times(fixed_law.map[i][1], held);
    n2 += fx_times(fixed_law.map[i][2], held);
  }
  n0 = fx_clamp(n0, -fixed_law.bound, fixed_law.bound);
  n1 = fx_clamp(n1, -fixed_law.bound, fixed_law.bound);
  n2 = fx_clamp(n2, -fixed_law.bound, fixed_law.bound);
  f->pace = fx_exp2(p[t_pace] + n2);
  f->up = fx_exp2(p[t_increase] - fx_times(p[t_increase_window], log_window) + n0);
  f->boost = fx_exp2(p[t_boost] - fx_times(age, fixed_law.halving));
  f->down = fx_exp2(p[t_decrease] + fx_times(p[t_decrease_window], log_window) +
                    fx_times(p[t_decrease_young], fx_ratio(LCCA_ONE, LCCA_ONE + (age >> 3))) + n1);
  f->recovery = fx_times(p[t_recovery], fx_exp2(fx_times(p[t_recovery_power], fx_log2(free)))) & fx_negative(-free);
  return 0;
}

/* Moves window and gap: lcca_ack, after fx_hear has the ACK. */
LCCA_ALONE int fx_act(struct flow* f, ticks now) {
  const fixed* p = fixed_law.terms;
  fixed queue, age, up, down, wide;
  ticks yielded, trend;
  if (!f) return 0;
  queue = fx_min(LCCA_FAR, 8 * fx_ratio(f->queueing, f->smallest_rtt));
  age = fx_ratio(f->last_ack - f->began, f->smallest_rtt);
  if (++f->acks == 1) f->first_ack = now;
  if (f->acks <= 24 || now >= f->next) {
    fx_refresh(f, age, fx_ratio(f->last_ack - f->last_queue, f->smallest_rtt));
    f->next = now + fx_times(fixed_law.refresh, f->smallest_rtt);
  }
  if (f->acks == fixed_law.burst && f->acks > 1 && age < 8 * LCCA_ONE) {
    const natural spread = ((natural)fx_clamp(now - f->first_ack, 1, LCCA_LONG) << 12) / (fixed_law.burst - 1);
    const fixed wider = fx_max(0, fx_log2((fixed)spread) - p[t_gap]);
    const fixed jump = p[t_jump] + fx_times(p[t_jump_gap], wider) + fx_times(p[t_jump_queue], queue);
    f->window = fx_times(fx_exp2(fx_clamp(jump, -LCCA_ONE, 5 * LCCA_ONE)), f->window);
  }
  up = LCCA_ONE + f->recovery;
  up += fx_ratio(fx_min(f->boost, LCCA_LONG), LCCA_ONE + fx_times(fixed_law.boost_queue, queue));
  up = fx_times(fx_min(f->up, LCCA_FAR), fx_min(up, LCCA_FAR));
  yielded = f->queueing + fx_times(p[t_slow_share], f->slow - f->queueing);
  trend = fx_max(0, f->queueing - f->over_2);
  down = fx_times(fx_min(f->down, LCCA_FAR), fx_clamp(fx_signed_ratio(yielded, f->smallest_rtt), -LCCA_FAR, LCCA_FAR));
  down += fx_times(p[t_trend], fx_min(LCCA_FAR, fx_signed_ratio(trend, f->smallest_rtt)));
  f->window = fx_clamp(f->window + fx_clamp(up - down, -LCCA_ONE, LCCA_ONE), LCCA_ONE, fixed_law.largest);
  wide = fx_times(fx_min(f->pace, LCCA_FAR), fx_max(LCCA_ONE / 10, LCCA_ONE + fx_times(p[t_pace_queue], queue)));
  wide = fx_times(fx_min(wide, LCCA_FAR), f->smallest_rtt + f->queueing);
  f->gap = fx_max(1, fx_ratio(fx_min(wide, LCCA_LONG), f->window));
  return 0;
}

#endif
