// A header of the catalogue on the packets of a fabric: what they carry, what ports write into it, what comes back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "remy_plus/fabric/packet.hpp"
#include "remy_plus/fabric/port.hpp"
#include "remy_plus/headers/hop.hpp"
#include "remy_plus/headers/reader.hpp"

namespace remy_plus::fabric {

class Headers {
 public:
  // `stampings` has an entry per flow.
  Headers(Stampings stampings, std::uint64_t seed, std::size_t shares);

  // --- hosts

  // The header of a data packet that is sent now by a host of a share: its number.
  std::uint64_t depart(std::size_t share, std::uint32_t flow, std::uint32_t packet, Time now, const Told& told);
  // Bytes of a data packet that is sent, whose `bytes` are those without the header.
  std::uint16_t with_bytes(const Packet& packet) const { return sum(packet.bytes, bytes(packet, 0)); }
  // The same of an ACK; its receiver decides whether it brings the header back.
  std::uint16_t returned(const Packet& ack);
  // What the ACK brings its sender.
  const Seen& read(const Packet& ack);
  Time sent_at(const Packet& packet) const { return pool_[packet.extra].sent_at; }
  std::int64_t& wanted(const Packet& packet) { return pool_[packet.extra].wanted; }
  void give_back(std::size_t share, std::uint64_t number) { pool_.give_back(share, number); }

  // --- ports

  // The hops of the port of the next index, one for each header. Rates and sizes are in packets as a header counts
  // them; windows that it leaves open are the model's own.
  void add(double gbps, double rtt);
  // The link of a port has another rate from now on.
  void change(std::size_t index, double gbps);
  // Bytes of a packet that has come to a port, with what the port's hop adds.
  std::uint16_t grown(const Packet& packet, const Port& port) const;
  void note_mark(const Packet& packet, bool marked) {
    if (has(packet)) pool_[packet.extra].marked = marked;
  }
  // The packet is put into the port's queue, or sent at once.
  void join(const Packet& packet, const Port& port, std::size_t index);
  // It leaves: what waits behind it is in the port's queue.
  void leave(const Packet& packet, Time start, const Port& port, std::size_t index);

 private:
  struct Header {
    Carried carried;
    Time sent_at = 0;
    std::int64_t wanted = 0;  // credit, as Asking has it
    bool marked = false;      // by the port where it is
    std::unique_ptr<std::uint64_t[]> words = nullptr;
  };

  static std::uint16_t sum(std::uint16_t bytes, int more) { return static_cast<std::uint16_t>(bytes + more); }
  remy_plus::Draws draws(std::uint32_t flow, std::uint32_t packet) const { return {seed_, 0, flow, packet}; }
  std::uint64_t* words(const Packet& packet) { return pool_[packet.extra].words.get(); }
  static double rate(const Stamping& stamping, double gbps) { return gbps * 125 / stamping.packet_bytes; }

  const Stamping& stamping(const Packet& packet) const { return *stampings_.of(packet.flow); }
  bool has(const Packet& packet) const { return !(packet.flags & bare) && stampings_.of(packet.flow); }
  // Whether hops write into it; they measure all packets.
  bool written(const Packet& packet, const Port& port) const {
    return port.stamps && has(packet) && pool_[packet.extra].carried.there &&
           (packet.kind == Kind::data || stamping(packet).two_way);
  }
  // What a hop of a header writes into.
  Carried* carried(const Packet& packet, const Port& port, const Hop& hop) {
    const bool own = written(packet, port) && &hop.stamping() == &stamping(packet);
    return own ? &pool_[packet.extra].carried : nullptr;
  }
  // Of the header, after so many more hops.
  int bytes(const Packet& packet, std::uint32_t more) const;
  Moment moment(const Packet& packet, Time start, const Port& port, const Stamping& stamping) const;

  Stampings stampings_;
  std::uint64_t seed_;
  std::size_t width_ = 0;  // words of a packet, of the widest header
  Pool<Header> pool_;
  std::vector<Hop> hops_;              // (ports, headers)
  std::vector<Reader> readers_;        // per flow
  std::vector<Reflector> reflectors_;  // per flow
};

}  // namespace remy_plus::fabric
