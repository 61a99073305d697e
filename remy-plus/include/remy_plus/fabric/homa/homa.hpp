// Homa (Montazeri et al., SIGCOMM 2018): receivers grant what senders send, the shortest messages first, and switches
// queue by the class that sizes and grants give to packets. Flows are its messages. Here are its rules for a run: how
// much goes unasked, in which classes, and how many messages a receiver grants at once. host.hpp has its hosts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "remy_plus/fabric/homa/messages.hpp"
#include "remy_plus/fabric/range.hpp"
#include "remy_plus/fabric/settings.hpp"
#include "remy_plus/fabric/transport.hpp"
#include "remy_plus/fabric/transport/numbers.hpp"

namespace remy_plus::fabric {

struct HomaParameters : Parameters {
  using Parameters::Parameters;

  double rtt_bytes = read("rtt_bytes", 0.0);                  // of payload, granted and not received; 0: by rtt_bdps
  double rtt_bdps = read("rtt_bdps", 1.0);                    // in bandwidth-delay products of the longest way
  double unscheduled_share = read("unscheduled_share", 1.0);  // of these bytes are sent unasked
  int unscheduled_levels =
      read("unscheduled_levels", 0);  // classes of what is sent unasked; 0: by its share of all bytes
  int overcommitment =
      read("overcommitment", 0);  // messages that a receiver grants at once; 0: as many as classes are left
  double grant_bytes =
      read("grant_bytes", 0.0);  // of payload, that a grant adds at least, unless it is the message's last
};

class Homa : public Transport {
 public:
  Homa(const Frame& frame, const HomaParameters& parameters) : Transport(frame), parameters_(parameters) {
    require_range("rtt_bytes", parameters.rtt_bytes, 0, 1e9);
    require_range("rtt_bdps", parameters.rtt_bdps, 0, 1e6);
    require_range("unscheduled_share", parameters.unscheduled_share, 0, 1);
    require_range("unscheduled_levels", parameters.unscheduled_levels, 0, most_priorities);
    require_range("overcommitment", parameters.overcommitment, 0, 1e6);
    require_range("grant_bytes", parameters.grant_bytes, 0, 1e9);
  }

  Hosts hosts() const override { return Hosts::homa; }
  void reserve(std::size_t flows) override {
    outgoing_.resize(flows);
    incoming_.resize(flows);
  }
  void start(std::uint32_t, Flow&) override {}
  void on_ack(std::uint32_t, Flow&, const Ack&) override {}

  void plan(std::span<const Flow> flows, const Settings& settings) override {
    full_frame_ = settings.payload + settings.overhead;
    rtt_ = frame_.base_rtt;
    for (const Flow& flow : flows) rtt_ = std::max(rtt_, flow.base_rtt);
    grant_packets_ = packets_of(parameters_.grant_bytes, settings.payload);
    share_levels(flows, settings.priorities);
    cut_sizes(flows);
  }

  // Packets of a message that may be granted and not received.
  std::uint32_t window(const Flow& flow) const {
    if (parameters_.rtt_bytes > 0) return packets_of(parameters_.rtt_bytes, flow.payload);
    const double bytes = parameters_.rtt_bdps * flow.line_gbps * static_cast<double>(rtt_) / 8000;
    return packets_of(bytes, full_frame_);
  }
  // Packets that its sender sends unasked.
  std::uint32_t unscheduled(const Flow& flow) const {
    const double packets = std::ceil(parameters_.unscheduled_share * window(flow));
    return std::min(flow.packets, std::max(1u, static_cast<std::uint32_t>(packets)));
  }
  // Their class: one for each range of sizes.
  std::uint8_t unscheduled_level(const Flow& flow) const {
    return static_cast<std::uint8_t>(std::lower_bound(cutoffs_.begin(), cutoffs_.end(), flow.size) - cutoffs_.begin());
  }
  // Of the message of a rank, 0 with the fewest bytes left, among `active` ones: the lowest classes, so that a shorter
  // message that comes finds one before theirs.
  std::uint8_t scheduled_level(int rank, int active) const {
    return static_cast<std::uint8_t>(std::max(levels_ - active + rank, std::min(unscheduled_levels_, levels_ - 1)));
  }
  Outgoing& outgoing(std::uint32_t flow) { return outgoing_[flow]; }
  // Null: nothing has come of it, or all.
  std::unique_ptr<Incoming>& incoming(std::uint32_t flow) { return incoming_[flow]; }

  int overcommitment() const { return overcommitment_; }
  std::uint32_t grant_packets() const { return grant_packets_; }

 private:
  static std::uint32_t packets_of(double bytes, int of) {
    return static_cast<std::uint32_t>(std::clamp(std::ceil(bytes / of), 1.0, 1e9));
  }

  std::uint64_t unscheduled_bytes(const Flow& flow) const { return flow.bytes_before(unscheduled(flow)); }

  // Classes in proportion to bytes, at least one of each kind (section 3.4).
  void share_levels(std::span<const Flow> flows, int levels) {
    levels_ = levels;
    unscheduled_levels_ = std::min(parameters_.unscheduled_levels, levels);
    if (unscheduled_levels_ == 0) {
      double all = 0, unasked = 0;
      for (const Flow& flow : flows) {
        all += static_cast<double>(flow.size);
        unasked += static_cast<double>(unscheduled_bytes(flow));
      }
      const double share = all > 0 ? unasked / all : 1;
      unscheduled_levels_ = std::max(1, std::min(levels - 1, static_cast<int>(std::lround(share * levels))));
    }
    const int left = std::max(levels - unscheduled_levels_, 1);
    overcommitment_ = parameters_.overcommitment > 0 ? parameters_.overcommitment : left;
  }

  // Sizes up to which messages have the first unscheduled class, the second …, with as many bytes each.
  void cut_sizes(std::span<const Flow> flows) {
    std::vector<std::uint32_t> order(flows.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return flows[a].size < flows[b].size; });
    double all = 0, before = 0;
    for (const Flow& flow : flows) all += static_cast<double>(unscheduled_bytes(flow));
    cutoffs_.clear();
    for (const std::uint32_t number : order) {
      before += static_cast<double>(unscheduled_bytes(flows[number]));
      while (static_cast<int>(cutoffs_.size()) < unscheduled_levels_ - 1 &&
             before * unscheduled_levels_ >= all * static_cast<double>(cutoffs_.size() + 1))
        cutoffs_.push_back(flows[number].size);
    }
  }

  HomaParameters parameters_;
  int full_frame_ = 1;
  Time rtt_ = 0;  // without queues, of the longest way
  int levels_ = 1, unscheduled_levels_ = 1, overcommitment_ = 1;
  std::uint32_t grant_packets_ = 1;
  std::vector<std::uint64_t> cutoffs_;  // bytes, rising
  std::vector<Outgoing> outgoing_;
  std::vector<std::unique_ptr<Incoming>> incoming_;
};

}  // namespace remy_plus::fabric
