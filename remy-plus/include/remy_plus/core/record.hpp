// What a trial returns: rows per flow, per sender, per link and per trial (units: packets, µs), and the names of their
// columns, by which every simulator hands them to Python.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace remy_plus {

// One on-period of a sender.
struct Flow {
  std::uint32_t sender = 0;
  double start = 0;
  double end = 0;        // switched off, or the end of the trial; a flow of a length: its last packet's arrival
  double share = 0;      // ∫ dt / active senders over the on-period
  double delay_sum = 0;  // µs over delivered packets whose acknowledgement came home
  double last_arrival = 0;
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;          // with their acknowledgement home or, dropped, never to come
  std::uint64_t lost = 0;               // by the loss stage
  std::uint64_t dropped = 0;            // by a full buffer
  std::uint64_t acks_dropped = 0;       // delivered packets that the sender never hears of; no delay is known of them
  std::uint64_t length = 0;             // packets to send when byte-switched or open, else 0
  double delay_p50 = 0, delay_p99 = 0;  // filled in when delays are kept
  bool finished = false;                // ended before the trial did
  bool stalled = false;                 // ended with a closed window and nothing under way: no ACK could open it
};

struct SenderTotals {
  std::uint64_t sent = 0, delivered = 0, lost = 0, dropped = 0, acks_dropped = 0;
  double delay_sum = 0;
  double share = 0;
  double first_on = 0;  // µs; infinity if never on
  std::uint32_t flows = 0, stalled = 0;
};

// Phases of a trial, by round trips since a flow of any measured sender last came or went.
enum class Phase : std::uint8_t { started, starting, ended, ending, settling, steady };
inline constexpr std::size_t phase_count = 6;
inline constexpr double first_round_trips = 1, next_round_trips = 4, settling_round_trips = 12;

// What a sender had in each phase of a trial.
struct PhaseTotals {
  std::array<double, phase_count> share{};      // µs of fair share
  std::array<double, phase_count> delay_sum{};  // µs, of delivered packets whose acknowledgement came home
  std::array<double, phase_count> delivered{};  // of these
};

// One direction of a link over a trial; acknowledgements count as packets, but for their size in the utilisation.
struct LinkTotals {
  double utilisation = 0;
  double queue_mean = 0;  // packets, time average
  std::uint64_t accepted = 0;
  std::uint64_t dropped = 0;
};

struct TrialTotals {
  std::uint64_t events = 0;  // of senders: switches, sends that were due, feedback
  std::uint64_t hops = 0;    // packets and acknowledgements that links accepted
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
  double utilisation = 0;          // of the link over the trial; of the most utilised one of many
  double queue_mean = 0;           // packets, time average; of the same link
  double queue_p99 = 0;            // packets, as seen at the start of service (filled in when delays are kept)
  double delay_quantiles[5] = {};  // p50 p90 p95 p99 p99.9 over all delivered packets (when delays are kept)
};

template <class Row, class T>
struct Column {
  std::string_view name;
  T Row::* member;
};

inline constexpr auto flow_columns = std::make_tuple(
    Column{"sender", &Flow::sender}, Column{"start_us", &Flow::start}, Column{"end_us", &Flow::end},
    Column{"share_us", &Flow::share}, Column{"delay_sum_us", &Flow::delay_sum},
    Column{"delay_p50_us", &Flow::delay_p50}, Column{"delay_p99_us", &Flow::delay_p99},
    Column{"last_arrival_us", &Flow::last_arrival}, Column{"sent", &Flow::sent}, Column{"delivered", &Flow::delivered},
    Column{"lost", &Flow::lost}, Column{"dropped", &Flow::dropped}, Column{"acks_dropped", &Flow::acks_dropped},
    Column{"length", &Flow::length}, Column{"finished", &Flow::finished}, Column{"stalled", &Flow::stalled});

inline constexpr auto sender_columns = std::make_tuple(
    Column{"sent", &SenderTotals::sent}, Column{"delivered", &SenderTotals::delivered},
    Column{"lost", &SenderTotals::lost}, Column{"dropped", &SenderTotals::dropped},
    Column{"acks_dropped", &SenderTotals::acks_dropped}, Column{"delay_sum_us", &SenderTotals::delay_sum},
    Column{"share_us", &SenderTotals::share}, Column{"first_on_us", &SenderTotals::first_on},
    Column{"flows", &SenderTotals::flows}, Column{"stalled", &SenderTotals::stalled});

inline constexpr auto link_columns = std::make_tuple(
    Column{"utilisation", &LinkTotals::utilisation}, Column{"queue_mean_packets", &LinkTotals::queue_mean},
    Column{"accepted", &LinkTotals::accepted}, Column{"dropped", &LinkTotals::dropped});

inline constexpr auto trial_columns = std::make_tuple(
    Column{"events", &TrialTotals::events}, Column{"hops", &TrialTotals::hops}, Column{"sent", &TrialTotals::sent},
    Column{"delivered", &TrialTotals::delivered}, Column{"utilisation", &TrialTotals::utilisation},
    Column{"queue_mean_packets", &TrialTotals::queue_mean});

// When delays are kept; delay_quantiles is a column each.
inline constexpr auto trial_delay_columns = std::make_tuple(Column{"queue_p99_packets", &TrialTotals::queue_p99});
inline constexpr std::string_view delay_quantile_names[5] = {"rtt_p50_us", "rtt_p90_us", "rtt_p95_us", "rtt_p99_us",
                                                             "rtt_p999_us"};

// A member that has no column does not compile: there are as many names here as members.
static_assert([] {
  [[maybe_unused]] const auto [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = Flow{};
  return std::tuple_size_v<decltype(flow_columns)> == 16;
}());
static_assert([] {
  [[maybe_unused]] const auto [a, b, c, d, e, f, g, h, i, j] = SenderTotals{};
  return std::tuple_size_v<decltype(sender_columns)> == 10;
}());
static_assert([] {
  [[maybe_unused]] const auto [a, b, c, d] = LinkTotals{};
  return std::tuple_size_v<decltype(link_columns)> == 4;
}());
static_assert([] {
  [[maybe_unused]] const auto [a, b, c, d, e, f, g, quantiles] = TrialTotals{};
  return std::tuple_size_v<decltype(trial_columns)> + std::tuple_size_v<decltype(trial_delay_columns)> == 7;
}());

}  // namespace remy_plus
