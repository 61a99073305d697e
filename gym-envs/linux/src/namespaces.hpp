// Network namespaces of threads, and the devices between them. They have no names: whatever ends the process ends them.
#pragma once

#include <sys/types.h>

#include <string>

namespace lcca_linux {

// Whether this process may make network namespaces.
bool privileged();

// Puts this process into a user namespace in which it may. Throws std::runtime_error where the system does not allow
// it.
void enter_user_namespace();

// Gives the calling thread a network namespace of its own. Throws std::runtime_error.
void enter_network_namespace();

// Runs lines of `ip -batch` in the calling thread's namespace. Throws std::runtime_error with what `ip` said.
void run_ip(const std::string& lines);

// Has a device of the calling thread's namespace send packets as they are on a wire: cut, with checksums.
void stop_offloads(const char* device);

// A socket for whole frames of a device; it does not hear what it sends. Throws std::system_error.
int packet_socket(const char* device);

// Gives the calling thread priority over all usual ones; whether that is allowed.
bool take_priority(int priority);

}  // namespace lcca_linux
