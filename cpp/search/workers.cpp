#include "search/workers.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace surtree {
namespace {

constexpr std::chrono::milliseconds poll{20};

// Clocks count nanoseconds in 64 bits, 292 years: a limit of more than a hundred is none.
constexpr double no_limit = 100 * 365.25 * 86400;

// Threads that are joined whatever happens: a hook may throw, and a thread may fail to start.
struct Threads {
    std::function<void()> stop;
    std::vector<std::thread> all{};

    void join() {
        for (std::thread& thread : all) thread.join();
        all.clear();
    }
    ~Threads() {
        if (all.empty()) return;
        stop();
        join();
    }
};

}  // namespace

bool is_timed(const Control& control) { return control.time_limit > 0 && control.time_limit < no_limit; }

bool Workers::may_begin_task() {
    const int last = control_.switches.stop_after;
    if (last >= 0 && n_begun_++ >= last) stop();
    return !stopped();
}

Status Workers::run_here(const std::function<void()>& work) {
    work();
    return stopped() ? Status::interrupted : Status::optimal;
}

Status Workers::run(int n_threads, const std::function<void()>& work,
                    const std::function<Progress()>& progress) {
    std::mutex mutex;
    std::condition_variable done;
    int running = n_threads;
    Status status = Status::optimal;
    const auto end = [&](Status how) {
        if (status != Status::optimal) return;
        status = how;
        stop();
    };
    Threads threads{[&] { stop(); }};
    for (int t = 0; t < n_threads; ++t)
        threads.all.emplace_back([&] {
            work();
            const std::lock_guard lock(mutex);
            --running;
            done.notify_all();
        });
    // The clock has a thread of its own: the user's hook may take its time.
    if (is_timed(control_))
        threads.all.emplace_back([&] {
            const auto deadline = start_ + std::chrono::duration_cast<Clock::duration>(
                                               std::chrono::duration<double>(control_.time_limit));
            std::unique_lock lock(mutex);
            if (!done.wait_until(lock, deadline, [&] { return running == 0; })) end(Status::time_limit);
        });

    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, poll, [&] { return running == 0; })) {
        if (status != Status::optimal || !control_.should_stop) continue;
        lock.unlock();
        const bool wanted = control_.should_stop(control_.wants_progress ? progress() : Progress{});
        lock.lock();
        if (wanted) end(Status::interrupted);
    }
    lock.unlock();
    threads.join();
    return status == Status::optimal && stopped() ? Status::interrupted : status;
}

}  // namespace surtree
