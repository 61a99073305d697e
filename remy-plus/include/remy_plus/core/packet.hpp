// A packet on its way, and what may become of it.
#pragma once

#include <cstdint>

namespace remy_plus {

struct Packet {
  double sent;             // µs
  double start;            // µs, start of service
  double arrives;          // µs, at the receiver
  double link;             // link stamp: utilisation
  std::uint32_t sequence;  // per sender, never reset
  std::uint32_t flow;      // index of its flow in the trial
  std::uint32_t queue;     // queue stamp, packets
  std::uint16_t sender;
  bool lost;  // by the loss stage, after service
};
static_assert(sizeof(Packet) <= 64);

// What is known of a packet after it was offered to a link or came to the end of one.
enum class Fate : std::uint8_t {
  under_way,
  dropped,      // by a full buffer
  lost,         // the loss stage will take it: known as soon as the last link before it has accepted the packet
  ack_dropped,  // the packet reached the receiver, but a full buffer took its acknowledgement
  home          // its acknowledgement is at the sender
};

}  // namespace remy_plus
