// What packets of policies carry after UDP's header. The header with signals of the network has the bits that its
// description says; numbers of ours are as this machine has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "remy_plus/headers/hop.hpp"
#include "remy_plus/headers/stamping.hpp"

namespace lcca_linux {

struct DataHeader {
  std::uint32_t number;  // of the sender's packets
  std::uint32_t padding = 0;
  std::int64_t sent_at;  // ns
};

struct AckHeader {
  std::uint32_t number;
  std::uint32_t reflects;            // whether the header follows
  std::int64_t sent_at, arrived_at;  // ns
};

// Where a field lies in the header, most significant bit first.
struct Position {
  std::size_t begins, bits;
};

struct Wire {
  std::vector<Position> fields;  // of the stamping, in its order
  std::size_t bytes = 0;         // of the header in data packets

  // Room that fields need, whatever the header is said to cost.
  std::size_t room() const {
    std::size_t most = bytes;
    for (const Position& each : fields) most = std::max(most, (each.begins + each.bits + 7) / 8);
    return most;
  }

  void pack(const std::vector<std::uint64_t>& codes, std::uint8_t* header) const {
    for (std::size_t i = 0; i < fields.size(); ++i)
      for (std::size_t bit = 0; bit < fields[i].bits; ++bit) {
        const std::size_t at = fields[i].begins + bit;
        const std::uint8_t mask = static_cast<std::uint8_t>(128 >> at % 8);
        const bool one = codes[i] >> (fields[i].bits - 1 - bit) & 1;
        header[at / 8] = static_cast<std::uint8_t>(one ? header[at / 8] | mask : header[at / 8] & ~mask);
      }
  }
  void unpack(const std::uint8_t* header, std::vector<std::uint64_t>& codes) const {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      codes[i] = 0;
      for (std::size_t bit = 0; bit < fields[i].bits; ++bit) {
        const std::size_t at = fields[i].begins + bit;
        codes[i] = codes[i] << 1 | (header[at / 8] >> (7 - at % 8) & 1);
      }
    }
  }
};

// The header of one packet: its codes by field, and what follows from the packet's number alone.
struct Header {
  const remy_plus::Stamping& stamping;
  const Wire& wire;
  std::vector<std::uint64_t> codes, words;
  remy_plus::Carried carried;

  Header(const remy_plus::Stamping& of, const Wire& on)
      : stamping(of), wire(on), codes(of.fields.size()), words(of.words) {}

  // As it leaves its sender.
  void depart(const remy_plus::Draws& draws) { carried = remy_plus::departure(stamping, draws, words.data()); }

  // Of one hop each packet has one record, the first.
  void write(std::uint8_t* header) {
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = words[word(i)];
    wire.pack(codes, header);
  }
  void read(const std::uint8_t* header) {
    wire.unpack(header, codes);
    for (std::size_t i = 0; i < codes.size(); ++i) words[word(i)] = codes[i];
  }

 private:
  std::size_t word(std::size_t i) const {
    const bool record = stamping.fields[i].aggregation == remy_plus::Aggregation::per_hop;
    return stamping.place[i] + (record ? stamping.fields.size() : 0);
  }
};

}  // namespace lcca_linux
