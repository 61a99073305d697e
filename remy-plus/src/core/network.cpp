#include "remy_plus/core/network.hpp"

#include <cmath>
#include <stdexcept>

#include "remy_plus/core/require.hpp"

namespace remy_plus {

void validate(const Network& network) {
  require(std::isfinite(network.link_rate) && network.link_rate > 0, "link_rate", "> 0", network.link_rate);
  require(std::isfinite(network.rtt) && network.rtt >= 0, "rtt", ">= 0", network.rtt);
  require(network.senders >= 1 && network.senders <= 65535, "senders", "between 1 and 65535", network.senders);
  require(network.buffer >= 0, "buffer", ">= 0", network.buffer);
  require(network.loss >= 0 && network.loss < 1, "loss", "in [0, 1)", network.loss);
  require(network.jitter >= 0 && network.jitter < 1e9, "jitter", "at least 0 µs", network.jitter);
  if (!network.workload) throw std::invalid_argument("a network needs a workload");
  network.workload->check(network);
  if (!network.layout) return;
  validate(*network.layout);
  require(network.layout->measured == static_cast<std::size_t>(network.senders), "senders",
          "the number of measured routes", network.senders);
}

void validate(const Model& model) {
  require(std::isfinite(model.link_interval) && model.link_interval >= 1e-6, "link_interval", ">= 1e-6 µs",
          model.link_interval);
  require(model.ack_size >= 0 && model.ack_size <= 1, "ack_size", "in [0, 1]", model.ack_size);
}

}  // namespace remy_plus
