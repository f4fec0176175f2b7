// The worker pool: threads at work while the calling thread watches the clock and the user.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "portable.hpp"
#include "problem.hpp"

namespace surtree {

// Whether there is a limit on time that a clock can reach.
bool is_timed(const Control& control);

class Workers {
 public:
    // Starts the clock.
    explicit Workers(const Control& control) : control_(control), start_(Clock::now()) {}

    // Runs `work` on so many threads until each returns. At the deadline, or where the user wants to stop,
    // `stopped` becomes true: work that polls it ends soon. `progress` is asked for what is shown meanwhile.
    // A hook that is slow, or that is asked after the deadline, does not change how the work ends.
    Status run(int n_threads, const std::function<void()>& work, const std::function<Progress()>& progress);

    // The same in this thread, for work too short to be watched.
    Status run_here(const std::function<void()>& work);

    // Without any work, if time is over before it begins.
    Status end_in_time() {
        stop();
        return Status::time_limit;
    }

    // Asked before each task: false once stopped, or after as many tasks as `Switches::stop_after`
    // says.
    bool may_begin_task();

    bool stopped() const { return is_raised(&stop_); }
    const bool* stop_flag() const { return &stop_; }
    void go_on() { stop_ = false; }  // after a stop, to build trees

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
    using Clock = std::chrono::steady_clock;

    void stop() { raise_flag(&stop_); }

    const Control& control_;
    const Clock::time_point start_;
    bool stop_ = false;  // atomic, by the functions above
    std::atomic<int> n_begun_{0};
};

}  // namespace surtree
