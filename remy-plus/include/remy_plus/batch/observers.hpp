// What can be watched in a trial beside its totals.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "remy_plus/batch/batch.hpp"
#include "remy_plus/fifo/simulation.hpp"

namespace remy_plus {

// Keeps every packet's delay, for exact percentiles per flow and per trial.
class DelayObserver : public NoObserver {
 public:
  static constexpr SignalMask wanted = bit(queue);  // that packets bring
  void delivered(const Packet& packet, double now) {
    delays_.push_back({packet.flow, static_cast<float>(now - packet.sent)});
    if (packet.queue >= queues_.size()) queues_.resize(packet.queue + 1);
    ++queues_[packet.queue];
  }
  void clear();
  void fill(TrialTotals& totals, std::vector<Flow>& flows);

 private:
  struct Delay {
    std::uint32_t flow;
    float value;
  };
  std::vector<Delay> delays_;
  std::vector<float> sorted_;
  std::vector<std::uint64_t> queues_;
};

// Sums packets and delays by phase. A packet belongs to the phase in which the link would have served it if nothing had
// waited after it: a round trip before its acknowledgement comes, but for half of its service.
class PhaseObserver : public NoObserver {
 public:
  // Before a trial; `round_trip`: of a lone packet, µs. Throws std::invalid_argument for flows that time does not end:
  // when those come and go depends on the policy.
  void begin(const Network& network, std::uint64_t seed, double duration, double round_trip);
  void delivered(const Packet& packet, double now) {
    while (pieces_[at_ + 1].begin <= now - lead_) ++at_;
    const auto phase = static_cast<std::size_t>(pieces_[at_].phase);
    PhaseTotals& own = senders_[packet.sender];
    ++own.delivered[phase];
    own.delay_sum[phase] += now - packet.sent;
  }
  const std::vector<PhaseTotals>& senders() const { return senders_; }

 private:
  struct Piece {
    double begin;
    Phase phase;
  };
  std::vector<Piece> pieces_;  // ends with one that never begins
  std::vector<PhaseTotals> senders_;
  std::size_t at_ = 0;
  double lead_ = 0;
};

// Both of these, as far as each is wanted.
struct Recorder : NoObserver {
  static constexpr SignalMask wanted = DelayObserver::wanted;
  DelayObserver* delays = nullptr;
  PhaseObserver* phases = nullptr;
  void delivered(const Packet& packet, double now) {
    if (delays) delays->delivered(packet, now);
    if (phases) phases->delivered(packet, now);
  }
};

// A value as the census counts it: rounded down to single precision and, where that is finer, to a multiple of 2^-31.
// Rounding down to any multiple of 2^-31 first changes nothing, so values that travel as the paper's header has them
// are counted, and cut, as exact ones are.
inline std::uint32_t census_bits(double value) {
  if (value < 0x1p-8) value = static_cast<double>(static_cast<std::int64_t>(value * 0x1p31)) * 0x1p-31;
  const auto nearest = static_cast<float>(value);
  return std::bit_cast<std::uint32_t>(nearest) - (static_cast<double>(nearest) > value);
}

// Counts the signals met by one rule (see Census).
class CensusObserver : public NoObserver {
 public:
  // Axes may be others than the table's; extra signals and those of the history only where it has one.
  static constexpr SignalMask wanted = ((SignalMask{1} << network_signals) - 1) & ~extra_signals & ~history_signals;
  CensusObserver(const Census& census, const RuleTable& table, std::vector<std::uint64_t>& counts)
      : census_(census), table_(table), counts_(counts) {}
  void lookup(const Memory& memory, bool current) {
    if (!current || table_.rule(memory) != census_.rule) return;
    for (std::size_t i = 0; i < census_.axes.size(); ++i) {
      const std::uint32_t bits = census_bits(memory.signals()[census_.axes[i]]);
      const std::uint32_t upper = bits >> 16;
      if (census_.prefix.empty())
        ++counts_[i << 16 | upper];
      else if (upper == census_.prefix[i])
        ++counts_[i << 16 | (bits & 0xffff)];
    }
  }

 private:
  const Census& census_;
  const RuleTable& table_;
  std::vector<std::uint64_t>& counts_;
};

// What a table's rules saw: a rule per look-up, and a number per look-up and axis.
struct LookUps {
  std::vector<std::int64_t> rules;
  std::vector<float> values;
};

// Keeps one in `every` look-ups of a trial at feedback of current flows, the first one too. The table reads all axes.
class LookUpObserver : public NoObserver {
 public:
  LookUpObserver(const RuleTable& table, const std::vector<Signal>& axes, std::size_t every, LookUps& kept)
      : table_(table), axes_(axes), every_(every), kept_(kept) {}
  void lookup(const Memory& memory, bool current) {
    if (!current || met_++ % every_ != 0) return;
    kept_.rules.push_back(table_.rule(memory));
    for (const Signal axis : axes_) kept_.values.push_back(static_cast<float>(memory.signals()[axis]));
  }

 private:
  const RuleTable& table_;
  const std::vector<Signal>& axes_;
  std::size_t every_, met_ = 0;
  LookUps& kept_;
};

// One row per feedback: the golden traces and `lcca` debugging read these.
struct TraceRow {
  double now, sent, window, gap;
  Signals signals;
  double link;
  std::int64_t acknowledged, packets_sent;
  std::uint32_t sender, flow, sequence, queue, rule;
  bool on, current;
};

class TraceObserver : public NoObserver {
 public:
  static constexpr SignalMask wanted = (SignalMask{1} << network_signals) - 1;
  explicit TraceObserver(const RuleTable* table) : table_(table) {}
  void lookup(const Memory& memory, bool) { rule_ = table_ ? table_->rule(memory) : 0; }
  void feedback(double now, const Packet& packet, const Sender& s, bool current) {
    rows.push_back({now, packet.sent, s.control.window, s.control.gap, s.memory.signals(), packet.link, s.acknowledged,
                    s.sent, packet.sender, s.flows, packet.sequence, packet.queue, rule_, s.on, current});
  }
  std::vector<TraceRow> rows;

 private:
  const RuleTable* table_;
  std::uint32_t rule_ = 0;
};

}  // namespace remy_plus
