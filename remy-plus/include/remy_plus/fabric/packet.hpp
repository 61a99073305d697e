// A frame on its way, and the telemetry that hops write.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "remy_plus/fabric/parts/pool.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::fabric {

// What goes from a sender to its receiver, what goes back, and PFC's frames.
enum class Kind : std::uint8_t {
  data,
  trimmed,  // data whose payload a switch took off
  request,  // of a sender that cannot send data
  ack,
  nack,
  grant,  // of a receiver: what may be sent
  pause,
  resume
};

enum class Echo : std::uint8_t { good, marked, trimmed, timeout };  // what became of a data packet

// Of Packet::flags.
inline constexpr std::uint8_t wants_ack = 1;    // data: its receiver answers at once
inline constexpr std::uint8_t probes = 1;       // request, and the ACK that answers it: for an ACK alone
inline constexpr std::uint8_t sent_again = 2;   // data, and the ACK that answers it
inline constexpr std::uint8_t bare = 8;         // without telemetry
inline constexpr std::uint8_t at_last_hop = 4;  // trimmed by the switch of its receiver, and the NACK that says so

struct Packet {
  Time time = 0;            // when it has arrived, the last bit included, at the node that it is on its way to
  std::uint64_t extra = 0;  // a StackHeader or a FairHeader, which header is its own, or when it was sent
  std::uint32_t flow = 0;
  std::uint32_t number = 0;   // of the data packet; of an ACK, the next one that is expected
  std::uint16_t bytes = 0;    // on the wire
  std::uint16_t in_port = 0;  // on a link: at its end; in a switch: where it came in, counted from its first
  Kind kind : 4 = Kind::data;
  std::uint8_t hop : 4 = 0;       // links behind it
  std::uint8_t marked = 0;        // not 0: congestion experienced; of an ACK, echoed, perhaps as a RoundedCount
  std::uint8_t priority : 4 = 0;  // class of traffic, 0 first; of PFC's frames, the class that they name
  std::uint8_t flags : 4 = 0;
  std::uint8_t entropy = 0;  // what switches choose its way by, beside its flow
};
static_assert(sizeof(Packet) == 32);

// RCP's header: the least fair rate so far, and what its sender knows of its RTT (0: nothing yet).
struct FairHeader {
  float gbps, rtt_us;
};
static_assert(sizeof(FairHeader) == sizeof(Packet::extra));

inline bool is_pfc(const Packet& packet) { return packet.kind >= Kind::pause; }
inline bool is_data(const Packet& packet) { return packet.kind <= Kind::trimmed; }
inline bool goes_back(const Packet& packet) { return packet.kind >= Kind::ack; }

// Of a packet. Flows whose ways have more switches that write are refused at set-up; of a longer way that routing finds
// after a failure the last ones do not write.
inline constexpr int most_stamps = 6;

// What one switch writes as a packet leaves it.
struct Stamp {
  std::uint32_t time = 0;   // ns, wraps as its field does
  std::uint32_t bytes = 0;  // sent by the port, in quanta, wraps
  std::uint32_t queue = 0;  // that stays behind, in quanta
  float gbps = 0;
};

struct Stack {
  Time sent_at = 0;
  std::int64_t wanted = 0;  // credit, as Asking has it
  std::uint32_t count = 0;  // of stamps, once a host reads it
  std::uint32_t way = 0;    // a hash of the ports that wrote, of 28 bits
  // Two are in the line of the cache that the sender writes: the others are of switches that another thread may have.
  alignas(32) std::array<Stamp, most_stamps> stamps;

  // Whether the same ports wrote: ways of different lengths may have the same hash.
  bool along(const Stack& other) const { return way == other.way && count == other.count; }
};

using Stacks = Pool<Stack>;

// What a packet with a stack carries itself: so a switch writes into one line of the stack and reads none.
struct StackHeader {
  std::uint32_t number;        // of the stack
  std::uint32_t way : 28 = 0;  // as the stack has them once it is read
  std::uint32_t count : 4 = 0;
};
static_assert(sizeof(StackHeader) == sizeof(Packet::extra) && most_stamps < 16);

inline StackHeader stack_of(const Packet& packet) { return std::bit_cast<StackHeader>(packet.extra); }

}  // namespace remy_plus::fabric
