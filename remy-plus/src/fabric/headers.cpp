#include "remy_plus/fabric/headers.hpp"

namespace remy_plus::fabric {

namespace {

double microseconds(Time time) { return static_cast<double>(time) / microsecond; }

}  // namespace

std::uint64_t Headers::depart(std::uint32_t flow, std::uint32_t packet, Time now, const Told& told) {
  const std::uint64_t number = pool_.take();
  words_.resize(pool_.size() * stamping_.words);
  pool_[number] = {departure(stamping_, draws(flow, packet), words(number)), now, false};
  Told& said = pool_[number].carried.told = told;
  if (stamping_.left >= 0) {  // no hop knows it better than the field says
    const StampedField& field = stamping_.fields[static_cast<std::size_t>(stamping_.left)];
    const std::uint64_t code = field.coding.encode(told.bytes_left * field.times / field.by);
    words(number)[stamping_.left] = code;
    said.bytes_left = field.coding.decode(code) * field.by / field.times;
  }
  return number;
}

std::uint16_t Headers::returned(const Packet& ack) {
  Carried& carried = pool_[ack.extra].carried;
  carried.shown = carried.there && reflectors_[ack.flow].reflects(stamping_, microseconds(ack.time));
  return sum(ack.bytes, bytes(ack, 0));
}

const Seen& Headers::read(const Packet& ack) {
  return readers_[ack.flow].read(ack.flow, pool_[ack.extra].carried, words(ack.extra));
}

std::uint16_t Headers::grown(const Packet& packet) const {
  return written(packet) ? sum(packet.bytes, bytes(packet, 1) - bytes(packet, 0)) : packet.bytes;
}

void Headers::join(const Packet& packet, const Port& port, std::size_t index) {
  hops_[index].enqueue(moment(packet, 0, port), draws(packet.flow, packet.number), carried(packet),
                       words(packet.extra));
}

void Headers::leave(const Packet& packet, Time start, const Port& port, std::size_t index) {
  hops_[index].dequeue(moment(packet, start, port), draws(packet.flow, packet.number), carried(packet),
                       words(packet.extra));
}

int Headers::bytes(const Packet& packet, std::uint32_t more) const {
  const Carried& carried = pool_[packet.extra].carried;
  const bool data = packet.kind == Kind::data;
  if (!(data ? carried.there : carried.shown)) return 0;
  return static_cast<int>(
      Stamping::bytes(data ? stamping_.sent_bytes : stamping_.reflected_bytes, carried.hops + more));
}

Moment Headers::moment(const Packet& packet, Time start, const Port& port) const {
  Moment found;
  found.arrived = microseconds(packet.time);
  found.start = microseconds(start);
  found.service = microseconds(port.speed->of(packet.bytes));
  found.size = static_cast<double>(packet.bytes) / stamping_.packet_bytes;
  found.queue_packets = static_cast<double>(port.waiting());
  found.queue_bytes = static_cast<double>(port.queued);
  found.bytes = packet.bytes;
  found.data = packet.kind == Kind::data;
  found.marked = packet.kind == Kind::data && pool_[packet.extra].marked;
  return found;
}

}  // namespace remy_plus::fabric
