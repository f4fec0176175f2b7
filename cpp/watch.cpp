#include "watch.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace surtree {
namespace {

constexpr std::chrono::milliseconds poll{20};

}  // namespace

Status watch(const Control& control, Clock::time_point start, int n_threads, bool& stop,
             const std::function<void()>& work, const std::function<Progress()>& progress) {
    std::mutex mutex;
    std::condition_variable done;
    int running = n_threads;
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; ++t)
        threads.emplace_back([&] {
            work();
            const std::lock_guard lock(mutex);
            --running;
            done.notify_one();
        });

    Status status = Status::optimal;
    const bool timed = control.time_limit > 0;
    const auto deadline = start + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(control.time_limit));
    std::unique_lock lock(mutex);
    while (running > 0) {
        auto wake = Clock::now() + poll;
        if (timed && status == Status::optimal) wake = std::min(wake, deadline);
        done.wait_until(lock, wake);
        if (running == 0 || status != Status::optimal) continue;
        if (timed && Clock::now() >= deadline) status = Status::time_limit;
        if (control.should_stop) {
            lock.unlock();
            if (control.should_stop(control.wants_progress ? progress() : Progress{}))
                status = Status::interrupted;
            lock.lock();
        }
        if (status != Status::optimal) std::atomic_ref(stop).store(true);
    }
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
    return status;
}

}  // namespace surtree
