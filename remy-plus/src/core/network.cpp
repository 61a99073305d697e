#include "remy_plus/core/network.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace remy_plus {
namespace {

void require(bool holds, const char* field, const char* rule, double value) {
  if (holds) return;
  std::ostringstream text;
  text << field << " must be " << rule << ", got " << value;
  throw std::invalid_argument(text.str());
}

}  // namespace

void validate(const Network& network) {
  require(std::isfinite(network.link_rate) && network.link_rate > 0, "link_rate", "> 0", network.link_rate);
  require(std::isfinite(network.rtt) && network.rtt >= 0, "rtt", ">= 0", network.rtt);
  require(network.senders >= 1 && network.senders <= 65535, "senders", "between 1 and 65535", network.senders);
  require(network.buffer >= 0, "buffer", ">= 0", network.buffer);
  require(std::isfinite(network.mean_on) && network.mean_on > 0, "mean_on", "> 0", network.mean_on);
  require(std::isfinite(network.mean_off) && network.mean_off >= 0, "mean_off", ">= 0", network.mean_off);
  require(network.loss >= 0 && network.loss < 1, "loss", "in [0, 1)", network.loss);
  // Flows of one packet would follow each other without end at one instant.
  require(network.switched != Switching::bytes || network.mean_off > 0, "mean_off", "> 0 when byte-switched",
          network.mean_off);
  if (network.layout) {
    validate(*network.layout);
    require(network.switched != Switching::open, "arrival_rate", "0 with a layout", network.arrival_rate);
    require(network.layout->measured == static_cast<std::size_t>(network.senders), "senders",
            "the number of measured ways", network.senders);
  }
  if (network.switched != Switching::open) return;
  require(std::isfinite(network.arrival_rate) && network.arrival_rate > 0, "arrival_rate", "> 0", network.arrival_rate);
  if (!network.sizes) throw std::invalid_argument("open flows need a table of sizes");
  // Nothing is resent in this model, so a flow that loses a packet would never complete.
  require(network.loss == 0, "loss", "0 with open flows", network.loss);
  require(network.buffer == never, "buffer", "inf with open flows", network.buffer);
  require(network.senders == 1, "senders", "1 with open flows (every flow is a sender)", network.senders);
}

void validate(const Model& model) {
  require(std::isfinite(model.link_interval) && model.link_interval >= 1e-6, "link_interval", ">= 1e-6 µs",
          model.link_interval);
  require(model.ack_size >= 0 && model.ack_size <= 1, "ack_size", "in [0, 1]", model.ack_size);
}

}  // namespace remy_plus
