// Cache of solved subproblems, shared by all threads.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "rows/flat_map.hpp"
#include "rows/rows.hpp"
#include "search/profile.hpp"

namespace surtree {

// Heap memory that a value owns, and what the allocator adds.
inline std::size_t heap_bytes(const Profile& profile) { return profile.size() * sizeof(double) + 16; }
template <std::size_t N>
std::size_t heap_bytes(const std::array<double, N>&) {
    return 0;
}

// A subproblem is a set of rows: it does not matter which cuts led to it.
template <class Value>
class Cache {
 public:
    bool find(const RowSetHash& rows, Value& out) const {
        const Shard& shard = shards_[shard_of(rows)];
        std::unique_lock lock(shard.mutex, std::defer_lock);
        if (!frozen_) lock.lock();
        const Value* found = shard.solved.find(rows);
        if (found) out = *found;
        return found;
    }

    // Once the memory is spent nothing more is kept: what is not found is solved again.
    void store(const RowSetHash& rows, const Value& value, std::atomic<std::size_t>& bytes_left) {
        if (frozen_) return;
        Shard& shard = shards_[shard_of(rows)];
        const std::lock_guard lock(shard.mutex);
        const bool grows = !shard.solved.has_room();
        const std::size_t bytes = heap_bytes(value) + (grows ? shard.solved.bytes_of_growth() : 0);
        if (bytes_left.load(std::memory_order_relaxed) < bytes || shard.solved.find(rows)) return;
        bytes_left.fetch_sub(bytes, std::memory_order_relaxed);
        if (grows) shard.solved.grow();
        shard.solved.insert(rows, value);
    }

    // Called while no other thread is at work.
    void clear() {
        for (Shard& shard : shards_) shard.solved = {};
    }

    // From now on nothing is stored, and threads need no lock to find things. To be called while no other
    // thread is at work.
    void freeze() { frozen_ = true; }

    void prefetch(const RowSetHash& rows) const {
        if (frozen_) shards_[shard_of(rows)].solved.prefetch(rows);
    }

    // At most: a shard is three quarters full when it is made twice as large.
    static constexpr std::size_t bytes_per_entry = sizeof(typename FlatMap<RowSetHash, Value>::Entry) * 8 / 3;

 private:
    struct Shard {
        mutable std::mutex mutex;
        FlatMap<RowSetHash, Value> solved;
    };
    std::size_t shard_of(const RowSetHash& rows) const { return rows.high % shards_.size(); }

    bool frozen_ = false;
    std::array<Shard, 64> shards_;
};

}  // namespace surtree
