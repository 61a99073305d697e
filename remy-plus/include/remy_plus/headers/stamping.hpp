// A header in the simulators: what hops write into packets, what that costs, and what senders read. Plain data; Hop
// (hop.hpp) writes and Reader (reader.hpp) reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "remy_plus/headers/coding.hpp"
#include "remy_plus/headers/explicit_rate.hpp"
#include "remy_plus/headers/formula.hpp"
#include "remy_plus/headers/imprecision.hpp"
#include "remy_plus/headers/meter.hpp"
#include "remy_plus/signals/signals.hpp"

namespace remy_plus {

// What a hop can write; the order is that of source_table.
enum class Source : std::uint8_t {
  qlen_bytes,
  qlen_pkts,
  qdelay,
  hop_delay,
  util,
  abw,
  abw_over_c,
  tx_bytes,
  link_rate,
  ts_in,
  ts_out,
  nqd,
  drain_time,
  mark,
  trimmed,
  flows,
  hop_count,
  fair_rate,
  xcp_feedback,
  senders,
  rank,
  bytes_left,  // what the sender says
  gap,         // likewise
  base_rtt,    // as the hop is set to
  constant,
  formula
};
inline constexpr std::size_t source_count = static_cast<std::size_t>(Source::constant);  // of those that hops measure

struct SourceRow {
  std::string_view name;
  bool instant = false;  // known of the packet and the queue alone, as the packet leaves
};
inline constexpr std::array<SourceRow, source_count + 2> source_table = {{
    {"qlen_bytes", true},
    {"qlen_pkts", true},
    {"qdelay", true},
    {"hop_delay", true},
    {"util"},
    {"abw"},
    {"abw_over_c"},
    {"tx_bytes"},
    {"link_rate"},
    {"ts_in"},
    {"ts_out"},
    {"nqd", true},
    {"drain_time", true},
    {"mark", true},
    {"trimmed"},
    {"flows"},
    {"hop_count"},
    {"fair_rate"},
    {"xcp_feedback"},
    {"senders"},
    {"rank"},
    {"bytes_left"},
    {"gap"},
    {"base_rtt"},
    {"const"},
    {"formula"},
}};

enum class Aggregation : std::uint8_t { min, max, sum, last, first, either, both, count, per_hop, with };

struct StampedField {
  Source source = Source::constant;
  Coding coding;
  Aggregation aggregation = Aggregation::last;
  Formula formula, when;
  bool has_value = false;
  double value = 0;          // of constants, and of marks
  double times = 1, by = 1;  // a source's number × times / by is in the field's unit
  Window window = Window::instant;
  double interval = 0;  // µs; 0: `rtts` base RTTs, and where that is 0 too, the model's own
  double rtts = 0;
  int memory_bits = -1;  // by which flows are counted; 0: exactly; below 0: nothing is said
  RateGains gains;       // of fair_rate and xcp_feedback
  Imprecision imprecision;
  bool at_enqueue = false;
  int follows = -1;
  std::uint64_t initial = 0;
  int only = -1;  // label of one-of fields
  bool writes = true;

  // Whether its number is this one, or made of it.
  bool takes(Source number) const;
  // Whether all there is to it is that its number goes into every packet as it leaves.
  bool simple() const;
  // Or that it becomes `value` as a packet leaves where what holds then says so.
  bool marks() const;
  bool operator==(const StampedField&) const = default;
};

struct Reading {
  enum class Kind : std::uint8_t { value, mark, throughput };
  Signal signal = queue;
  Kind kind = Kind::value;
  int field = -1, count = -1, rate = -1, time = -1;
  bool rest = false;   // 1 less the value
  bool least = false;  // of several records the smallest counts
  std::int64_t marked = -1;
  double factor = 1, rate_factor = 1, time_factor = 1;
  bool per_packet = false;  // the factor is of bytes into packets, but for the size of a packet

  // What a code of the field says, in the signal's unit.
  double number_of(const Coding& coding, std::uint64_t code) const {
    const double number = coding.decode(code);
    if (kind != Kind::mark) return number * factor;
    return marked < 0 ? number != 0 : static_cast<std::int64_t>(code) == marked;
  }
  // The signal, from a number in its unit.
  double signal_of(double number) const { return std::clamp(rest ? 1 - number : number, 0.0, signal_ceiling - 1); }
  double signal_of(const Coding& coding, std::uint64_t code) const { return signal_of(number_of(coding, code)); }

  bool operator==(const Reading&) const = default;
};

struct Stamping {
  enum class Turns : std::uint8_t { fixed, round_robin, random };

  std::string name;
  std::uint32_t packet_bytes = 1500;
  std::vector<StampedField> fields;
  std::vector<Reading> readings;
  bool two_way = false;
  std::vector<std::uint32_t> sent_bytes{0}, reflected_bytes{0};  // by hops that wrote
  std::uint32_t max_hops = 0;                                    // records; 0: scalar
  bool overwrites = false;
  std::vector<int> labels;
  Turns turns = Turns::fixed;
  double probability = 1;
  std::uint32_t every_packets = 1;
  double every_us = 0;
  double stamp_loss = 0;  // probability that a hop writes nothing into a packet
  bool plain = false;     // queue, link and spare capacity are those without a header

  // Set by prepare(): the words of a packet, the fields' first; then records of `record` words each.
  std::size_t record = 0, words = 0;
  std::vector<std::size_t> place;  // of each field: its word, or its word in a record
  bool formulas_read_fields = false;
  int left = -1;           // field in which senders say the bytes left, or -1
  int gap = -1;            // field in which they say their gap, or -1
  bool ranks = false;      // hops rank flows by them
  bool gaps = false;       // a packet may come back without a number in a field, or without a record
  bool unsaid = false;     // a hop may leave a word of its record as it was
  bool imperfect = false;  // some number is late or an estimate, or stamps are lost
  bool alike = false;      // every packet brings what its hop knows as it leaves, and takes as many bytes

  bool operator==(const Stamping&) const = default;

  // Throws std::invalid_argument naming what is wrong.
  void prepare();

  static std::uint32_t bytes(const std::vector<std::uint32_t>& by_hops, std::uint32_t hops) {
    return by_hops[hops < by_hops.size() ? hops : by_hops.size() - 1];
  }
};

// The headers of a trial: all that there are, and which of them the packets of each sender carry.
struct Stampings {
  std::vector<const Stamping*> all;
  std::vector<std::uint8_t> own;  // per sender: a number in `all`, or beyond it for none; empty: all have the first

  Stampings() = default;
  Stampings(const Stamping* one) {  // of all senders
    if (one) all.push_back(one);
  }

  // One more sender, whose packets have this one, or null for none. Equal headers are one: their hops measure together.
  void add(const Stamping* one) {
    const auto known = std::find_if(all.begin(), all.end(), [one](const auto* each) { return one && *each == *one; });
    own.push_back(one ? static_cast<std::uint8_t>(known - all.begin()) : UINT8_MAX);
    if (one && known == all.end()) all.push_back(one);
  }

  // Of a sender; null for none.
  const Stamping* of(std::size_t sender) const {
    const std::size_t at = own.empty() ? 0 : own[sender];
    return at < all.size() ? all[at] : nullptr;
  }
};

// What one packet carries beside its words. Plain data: other simulators copy its bytes.
struct Carried {
  std::uint64_t written = 0;   // fields that some hop wrote
  std::uint64_t replaced = 0;  // fields that the hop at hand replaced
  std::uint64_t known = 0;     // fields on which some hop had its say
  std::uint64_t missing = 0;   // records that hops left out
  std::uint32_t hops = 0;
  std::int16_t label = -1;
  bool there = false;  // the packet has the header
  bool shown = false;  // its acknowledgement has it
  Told told;
};

}  // namespace remy_plus
