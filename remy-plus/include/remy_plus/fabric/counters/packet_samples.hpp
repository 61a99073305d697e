// Sampled NetFlow (Claise, RFC 3954): of one packet in so many, by chance, its flow and bytes, times that number.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "remy_plus/core/random.hpp"
#include "remy_plus/fabric/range.hpp"

namespace remy_plus::fabric {

class PacketSamples {
 public:
  PacketSamples(std::uint64_t one_in, const Stream& draws) : one_in_(one_in), draws_(draws) {
    require_range("one_in", static_cast<double>(one_in), 1, 1e9);
  }

  void insert(std::uint32_t flow, int bytes) {
    if (draws_.next() % one_in_ == 0) bytes_[flow] += one_in_ * static_cast<std::uint64_t>(bytes);
  }

  std::vector<std::pair<std::uint32_t, std::uint64_t>> flows() const { return {bytes_.begin(), bytes_.end()}; }
  // Flows of which no packet was met are not known.
  double small_flows() const { return 0; }
  void reset() { bytes_.clear(); }

 private:
  std::uint64_t one_in_;
  Stream draws_;
  std::map<std::uint32_t, std::uint64_t> bytes_;  // in the order of the flows
};

}  // namespace remy_plus::fabric
