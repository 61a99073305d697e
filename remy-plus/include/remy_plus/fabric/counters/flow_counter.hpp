// What a switch counts flows by.
#pragma once

#include <variant>

#include "remy_plus/fabric/counters/elastic_sketch.hpp"
#include "remy_plus/fabric/counters/packet_samples.hpp"

namespace remy_plus::fabric {

using FlowCounter = std::variant<ElasticSketch, PacketSamples>;

}  // namespace remy_plus::fabric
