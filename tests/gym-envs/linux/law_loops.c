/* Flows on links of their own, under a law in floating point and under the same law in whole numbers (double.c and
 * fixed.c, as exported). Times in us, packets; random numbers by splitmix64. */
#include "double.c"
#include "fixed.c"

#include <math.h>
#include <stdlib.h>

enum { in_doubles, in_whole_numbers, disturbed };

static double uniform(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static double of_ticks(double us) { return floor(us * 4096) / 4096; }

typedef struct {
  int which;
  law_state law;
  struct flow flow;
} sender;

static void begin(sender* s, int which) {
  memset(s, 0, sizeof *s);
  s->which = which;
  law_start(&s->law);
  fx_begin(&s->flow);
}
static void hear(sender* s, double now, double sent) {
  if (s->which == in_whole_numbers) {
    fx_hear(&s->flow, (ticks)(now * 4096), (ticks)(sent * 4096));
    fx_act(&s->flow, (ticks)(now * 4096));
  } else {
    law_ack(&s->law, now, sent - (s->which == disturbed ? s->law.acks % 2 / 4096.0 : 0), 0);
  }
}
static double window(const sender* s) {
  return s->which == in_whole_numbers ? (double)s->flow.window / LCCA_ONE : s->law.flow.window;
}
static double gap(const sender* s) {
  return s->which == in_whole_numbers ? (double)s->flow.gap / LCCA_TICK : s->law.flow.gap;
}

/* The means of window and gap at the last two thirds of the ACKs: base RTTs of 5 to 200 us, 0.3 to 6 packets/us, and up
 * to 0.6 packets of others between two of the flow's. */
static void go(int which, uint64_t seed, int acks, double* mean_window, double* mean_gap) {
  enum { most = 4096 };
  static double sent[most], back[most];
  uint64_t state = seed;
  const double base = exp(log(5) + uniform(&state) * log(40)), rate = exp(log(0.3) + uniform(&state) * log(20));
  const double busy = 0.6 * uniform(&state);
  double free_at = 0, now = 0, next = 0;
  int head = 0, tail = 0, heard = 0, counted = 0;
  sender s;
  begin(&s, which);
  *mean_window = *mean_gap = 0;
  while (heard < acks) {
    const int open = tail - head < (int)fmin(most, ceil(window(&s)));
    if (open && (head == tail || next <= back[head % most])) {
      now = fmax(now, next);
      free_at = fmax(free_at, now) + (1 - log(1 - uniform(&state)) * busy) / rate;
      sent[tail % most] = of_ticks(now);
      back[tail++ % most] = of_ticks(free_at + base);
      next = now + gap(&s);
    } else {
      now = back[head % most];
      if (!open) next = fmax(next, now);
      hear(&s, now, sent[head++ % most]);
      if (++heard * 3 > acks) {
        *mean_window += window(&s);
        *mean_gap += gap(&s);
        ++counted;
      }
    }
  }
  *mean_window /= counted;
  *mean_gap /= counted;
}

/* of_flows: four numbers a flow: windows of both, gaps of both. */
void compare(int other, int flows, int acks, double* of_flows) {
  int i;
  law_prepare();
  for (i = 0; i < flows; ++i, of_flows += 4) {
    go(in_doubles, (uint64_t)i + 1, acks, of_flows, of_flows + 2);
    go(other, (uint64_t)i + 1, acks, of_flows + 1, of_flows + 3);
  }
}

/* Windows of both laws, ACK by ACK, of a flow whose packets come one in 5 us after a pause in the middle; RTTs of 20 us. */
void pause(double us, int acks, double* windows) {
  sender both[2];
  double now = 100;
  int i, k;
  law_prepare();
  for (k = 0; k < 2; ++k) begin(&both[k], k);
  for (i = 0; i < acks; ++i) {
    now += i == acks / 2 ? us : 5;
    for (k = 0; k < 2; ++k) {
      hear(&both[k], now, now - 20 - i % 3);
      *windows++ = window(&both[k]);
    }
  }
}

/* Largest absolute error of the logarithm, relative error of the power. */
void errors(int numbers, double* found) {
  uint64_t state = 7;
  int i;
  found[0] = found[1] = 0;
  for (i = 0; i < numbers; ++i) {
    const fixed x = (fixed)exp2(uniform(&state) * 60) + 1, y = (fixed)((uniform(&state) * 41 - 4) * LCCA_ONE);
    const double power = exp2((double)y / LCCA_ONE);
    found[0] = fmax(found[0], fabs((double)fx_log2(x) / LCCA_ONE - log2((double)x / LCCA_ONE)));
    found[1] = fmax(found[1], fabs((double)fx_exp2(y) / LCCA_ONE / power - 1));
  }
}
