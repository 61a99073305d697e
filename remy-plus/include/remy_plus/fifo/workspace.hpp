// Storage that trials reuse, so that a batch allocates nothing per packet and little per trial.
#pragma once

#include <atomic>
#include <vector>

#include "remy_plus/core/earliest.hpp"
#include "remy_plus/core/packet.hpp"
#include "remy_plus/core/record.hpp"
#include "remy_plus/fifo/alike_stamps.hpp"
#include "remy_plus/fifo/header_stamps.hpp"
#include "remy_plus/fifo/paths.hpp"
#include "remy_plus/fifo/sender.hpp"
#include "remy_plus/policies/policy.hpp"

namespace remy_plus {

struct Workspace {
  std::vector<Packet> ring = std::vector<Packet>(1024);  // of one port
  AlikeSpace alike;                                      // beside the ring, where packets are alike
  HeaderSpace headers;                                   // beside the ring, of other headers
  PathSpace paths;                                       // of many
  StampedSpace stamped;                                  // of one or many, with headers
  std::vector<Sender> senders;
  Earliest next_send;
  std::vector<double> next_switch;
  std::vector<Flow> flows;
  std::vector<std::size_t> idle;  // senders free for the next open flow
  RuleHits rule_hits;
  std::vector<Flow> unmeasured_flows;
  RuleHits unmeasured_rule_hits;
  std::vector<LinkTotals> links;
  const std::atomic<bool>* stop = nullptr;  // true ends a trial early
};

}  // namespace remy_plus
