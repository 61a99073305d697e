// What the packets of policies carry after UDP's header, both ways; numbers as this machine has them.
#pragma once

#include <cstdint>

namespace lcca_linux {

struct DataHeader {
  std::uint32_t number;  // of the sender's packets
  std::uint32_t padding = 0;
  std::int64_t sent_at;  // ns
};

struct AckHeader {
  std::uint32_t number;
  std::uint32_t padding = 0;
  std::int64_t sent_at, arrived_at;  // ns
};

}  // namespace lcca_linux
