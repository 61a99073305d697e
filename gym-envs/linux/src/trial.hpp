// One trial in real time: two hosts of this machine in network namespaces of their own, and the link between them.
#pragma once

#include <functional>

#include "plan.hpp"

namespace lcca_linux {

// Throws std::runtime_error for what the machine does not allow, and whatever `keep_going` throws, which is asked
// often.
Result run_trial(const Plan& plan, const std::function<void()>& keep_going);

}  // namespace lcca_linux
