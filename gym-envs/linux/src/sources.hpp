// TCP of the kernel, and a policy of the engine over UDP, as sources of flows.
#pragma once

#include <memory>

#include "senders.hpp"

namespace lcca_linux {

// Their sockets report to `poller` with the sender's number in the upper half of the event's data.
std::unique_ptr<Source> kernel_source(const Plan& plan, std::size_t sender, const KernelControl& control, int poller);
std::unique_ptr<Source> policy_source(const Plan& plan, std::size_t sender, const remy_plus::Policy& policy, int poller,
                                      const std::int64_t& begin);

// A socket of a channel, bound to its port and connected to the receiver's. Throws std::system_error.
int bound_socket(int type, std::size_t channel);
void connect_to_receiver(int socket);
void watch(int poller, int socket, std::size_t sender, std::uint32_t events, bool again = false);

}  // namespace lcca_linux
