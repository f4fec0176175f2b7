// Threads at work while the calling thread watches the clock and the user.
#pragma once

#include <chrono>
#include <functional>

#include "problem.hpp"

namespace surtree {

using Clock = std::chrono::steady_clock;

// Runs `work` on so many threads until each returns. At the deadline, or where the user wants to stop,
// `stop` is set: work that looks at it ends soon. `progress` is asked for what is shown meanwhile.
Status watch(const Control& control, Clock::time_point start, int n_threads, bool& stop,
             const std::function<void()>& work, const std::function<Progress()>& progress);

}  // namespace surtree
