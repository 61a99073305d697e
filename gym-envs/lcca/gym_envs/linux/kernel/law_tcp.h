/* A control law as a congestion control of Linux's TCP (6.10 and later), by BPF. */

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

/* The parts of the kernel's structures that are looked at; the loader finds where they are in the running kernel. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sock {
  u32 sk_pacing_status;
  unsigned long sk_pacing_rate, sk_max_pacing_rate; /* bytes of payload a second */
};
struct tcp_sock {
  u32 snd_cwnd, mss_cache;
  u64 tcp_mstamp; /* us */
};
struct rate_sample {
  long rtt_us;
  u32 acked_sacked;
  _Bool is_ack_delayed;
};
#pragma clang attribute pop

struct tcp_congestion_ops {
  void (*init)(struct sock*);
  void (*cong_control)(struct sock*, u32, int, const struct rate_sample*);
  u32 (*ssthresh)(struct sock*);
  u32 (*undo_cwnd)(struct sock*);
  u32 (*min_tso_segs)(struct sock*);
  char name[16];
};

#define LCCA_SECTION(name) __attribute__((section(name), used))
static void* (*const bpf_sk_storage_get)(void* map, void* sk, void* value, u64 flags) = (void*)107;

/* The memory of each socket's flow: BPF_MAP_TYPE_SK_STORAGE, BPF_F_NO_PREALLOC. */
struct {
  int (*type)[24];
  int (*map_flags)[1];
  int* key;
  struct flow* value;
} flows LCCA_SECTION(".maps");

char law_license[] LCCA_SECTION("license") = "GPL";

/* At least two packets, and these in an RTT: of one a receiver that delays ACKs tells 40 ms later, which were a queue. */
LCCA_IN void apply(struct sock* sk, const struct flow* flow) {
  struct tcp_sock* tcp = (struct tcp_sock*)sk;
  const ticks half = flow->heard ? (flow->smallest_rtt + flow->queueing) >> 1 : LCCA_LONG;
  const u64 gap = (u64)fx_max(fx_min(flow->gap, half), 1);
  const u64 rate = (u64)tcp->mss_cache * 1000000 * LCCA_TICK / (gap * LCCA_TIME_SCALE);
  tcp->snd_cwnd = (u32)fx_max((flow->window + LCCA_ONE - 1) >> 24, 2);
  sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
  sk->sk_pacing_status = 1; /* TCP itself spaces packets */
}

LCCA_IN struct flow* begun(struct sock* sk) {
  struct flow* flow = bpf_sk_storage_get(&flows, sk, 0, 1 /* create */);
  if (flow) fx_begin(flow);
  return flow;
}

LCCA_SECTION("struct_ops/law_init") int law_init(u64* context) {
  struct flow* flow = begun((struct sock*)context[0]);
  if (flow) apply((struct sock*)context[0], flow);
  return 0;
}

/* An ACK of several packets is as many ACKs, evenly spaced since the one before. One that the receiver has kept back says
 * nothing of the network. */
LCCA_SECTION("struct_ops/law_control") int law_control(u64* context) {
  struct sock* sk = (struct sock*)context[0];
  const struct rate_sample* sample = (const struct rate_sample*)context[3];
  const u64 now = ((struct tcp_sock*)sk)->tcp_mstamp * LCCA_TICK / LCCA_TIME_SCALE;
  const long rtt = sample->rtt_us;
  u64 packets = sample->acked_sacked, i, since;
  struct flow* flow = bpf_sk_storage_get(&flows, sk, 0, 0);
  if (!flow || rtt <= 0 || packets == 0) return 0; /* the ACK of the handshake comes before law_init */
  if (sample->is_ack_delayed && flow->heard) return 0;
  if (packets > LCCA_MOST_ACKS) packets = LCCA_MOST_ACKS;
  since = flow->heard ? now - (u64)flow->last_ack : 0;
  for (i = packets; i-- > 0;) {
    const u64 at = now - since * i / packets;
    fx_hear(flow, (ticks)at, (ticks)(at - (u64)rtt * LCCA_TICK / LCCA_TIME_SCALE));
    fx_act(flow, (ticks)at);
  }
  apply(sk, flow);
  return 0;
}

LCCA_SECTION("struct_ops/law_ssthresh") u32 law_ssthresh(u64* context) {
  (void)context;
  return 0x7fffffff; /* no slow start */
}
LCCA_SECTION("struct_ops/law_undo") u32 law_undo(u64* context) { return ((struct tcp_sock*)context[0])->snd_cwnd; }
LCCA_SECTION("struct_ops/law_segments") u32 law_segments(u64* context) {
  (void)context;
  return 1;
}

#define LCCA_TEXT(name) #name
#define LCCA_NAMED(name) LCCA_TEXT(name)
LCCA_SECTION(".struct_ops") struct tcp_congestion_ops LCCA_NAME = {
    .init = (void*)law_init,
    .cong_control = (void*)law_control,
    .ssthresh = (void*)law_ssthresh,
    .undo_cwnd = (void*)law_undo,
    .min_tso_segs = (void*)law_segments,
    .name = LCCA_NAMED(LCCA_NAME),
};
