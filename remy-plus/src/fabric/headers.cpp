#include "remy_plus/fabric/headers.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace remy_plus::fabric {

namespace {

double microseconds(Time time) { return static_cast<double>(time) / microsecond; }

}  // namespace

Headers::Headers(Stampings stampings, std::uint64_t seed, std::size_t shares)
    : stampings_(std::move(stampings)), seed_(seed), reflectors_(stampings_.own.size()) {
  pool_.divide(shares);
  for (const Stamping* each : stampings_.all) width_ = std::max(width_, each->words);
  for (std::size_t flow = 0; flow < stampings_.own.size(); ++flow) {
    const Stamping* own = stampings_.of(flow);
    readers_.emplace_back(own ? *own : *stampings_.all.front());
  }
}

void Headers::add(double gbps, double rtt) {
  const std::size_t port = hops_.size() / stampings_.all.size();
  for (const Stamping* each : stampings_.all) hops_.emplace_back(*each, Model{}, rate(*each, gbps), rtt, true, port);
}

void Headers::change(std::size_t index, double gbps) {
  for (std::size_t k = 0; k < stampings_.all.size(); ++k) {
    Hop& hop = hops_[index * stampings_.all.size() + k];
    hop = hop.at_rate(Model{}, rate(hop.stamping(), gbps));
  }
}

std::uint64_t Headers::depart(std::size_t share, std::uint32_t flow, std::uint32_t packet, Time now, const Told& told) {
  const std::uint64_t number = pool_.take(share);
  Header& header = pool_[number];
  const Stamping& own = *stampings_.of(flow);
  if (!header.words) header.words = std::make_unique<std::uint64_t[]>(width_);
  header.carried = departure(own, draws(flow, packet), header.words.get());
  header.sent_at = now;
  header.marked = false;
  Told& said = header.carried.told = told;
  if (own.left >= 0) {  // no hop knows it better than the field says
    const StampedField& field = own.fields[static_cast<std::size_t>(own.left)];
    const std::uint64_t code = field.coding.encode(told.bytes_left * field.times / field.by);
    header.words[static_cast<std::size_t>(own.left)] = code;
    said.bytes_left = field.coding.decode(code) * field.by / field.times;
  }
  return number;
}

std::uint16_t Headers::returned(const Packet& ack) {
  Carried& carried = pool_[ack.extra].carried;
  carried.shown = carried.there && reflectors_[ack.flow].reflects(stamping(ack), microseconds(ack.time));
  return sum(ack.bytes, bytes(ack, 0));
}

const Seen& Headers::read(const Packet& ack) {
  return readers_[ack.flow].read(ack.flow, pool_[ack.extra].carried, words(ack), ack.entropy);
}

std::uint16_t Headers::grown(const Packet& packet, const Port& port) const {
  return written(packet, port) ? sum(packet.bytes, bytes(packet, 1) - bytes(packet, 0)) : packet.bytes;
}

void Headers::join(const Packet& packet, const Port& port, std::size_t index) {
  const std::size_t count = stampings_.all.size();
  for (Hop& hop : std::span(hops_).subspan(index * count, count)) {
    Carried* own = carried(packet, port, hop);
    hop.enqueue(moment(packet, 0, port, hop.stamping()), draws(packet.flow, packet.number), own,
                own ? words(packet) : nullptr);
  }
}

void Headers::leave(const Packet& packet, Time start, const Port& port, std::size_t index) {
  const std::size_t count = stampings_.all.size();
  for (Hop& hop : std::span(hops_).subspan(index * count, count)) {
    Carried* own = carried(packet, port, hop);
    hop.dequeue(moment(packet, start, port, hop.stamping()), draws(packet.flow, packet.number), own,
                own ? words(packet) : nullptr);
  }
}

int Headers::bytes(const Packet& packet, std::uint32_t more) const {
  const Carried& carried = pool_[packet.extra].carried;
  const bool data = packet.kind == Kind::data;
  const Stamping& own = stamping(packet);
  if (!(data ? carried.there : carried.shown)) return 0;
  return static_cast<int>(Stamping::bytes(data ? own.sent_bytes : own.reflected_bytes, carried.hops + more));
}

// Of a packet without the header it is known whether any port has marked it.
Moment Headers::moment(const Packet& packet, Time start, const Port& port, const Stamping& stamping) const {
  Moment found;
  found.arrived = microseconds(packet.time);
  found.start = microseconds(start);
  found.service = microseconds(port.speed->of(packet.bytes));
  found.size = static_cast<double>(packet.bytes) / stamping.packet_bytes;
  found.queue_packets = static_cast<double>(port.waiting());
  found.queue_bytes = static_cast<double>(port.queued);
  found.bytes = packet.bytes;
  found.data = packet.kind == Kind::data;
  found.marked = packet.kind == Kind::data && (has(packet) ? pool_[packet.extra].marked : packet.marked != 0);
  return found;
}

}  // namespace remy_plus::fabric
