// Threads at work while the calling thread watches the clock and the user.
#pragma once

#include <chrono>
#include <functional>

#include "problem.hpp"

namespace surtree {

using Clock = std::chrono::steady_clock;

// Whether there is a limit on time that a clock can reach.
bool is_timed(const Control& control);

// Runs `work` on so many threads until each returns. At the deadline, or where the user wants to stop,
// `stop` is set: work that looks at it ends soon. `progress` is asked for what is shown meanwhile. A hook
// that is slow, or that is asked after the deadline, does not change how the work ends.
Status run_workers(const Control& control, Clock::time_point start, int n_threads, bool& stop,
                   const std::function<void()>& work, const std::function<Progress()>& progress);

}  // namespace surtree
