// Solved subproblems of one depth, shared by all threads.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "rows/rows.hpp"
#include "search/profile.hpp"

namespace surtree {

// What a value keeps outside of itself, and what the allocator adds.
inline std::size_t bytes_beside(const Profile& profile) { return profile.size() * sizeof(double) + 16; }

// A subproblem is a set of rows: it does not matter which cuts led to it.
template <class Value>
class Cache {
 public:
    // Key, value, node of the table, bucket, and what the allocator adds.
    static constexpr std::size_t bytes_per_entry = sizeof(RowSetHash) + sizeof(Value) + 64;

    bool find(const RowSetHash& hash, Value& out) {
        Shard& shard = shard_of(hash);
        const std::lock_guard lock(shard.mutex);
        const auto place = shard.solved.find(hash);
        if (place == shard.solved.end()) return false;
        out = place->second;
        return true;
    }

    // Once the budget is spent nothing more is kept: what is not found is solved again.
    void store(const RowSetHash& hash, const Value& value, std::atomic<std::size_t>& bytes_left) {
        const std::size_t bytes = bytes_per_entry + bytes_beside(value);
        if (bytes_left.load(std::memory_order_relaxed) < bytes) return;
        Shard& shard = shard_of(hash);
        const std::lock_guard lock(shard.mutex);
        if (shard.solved.emplace(hash, value).second) bytes_left.fetch_sub(bytes, std::memory_order_relaxed);
    }

 private:
    struct Hash {
        std::size_t operator()(const RowSetHash& hash) const { return hash.low; }
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<RowSetHash, Value, Hash> solved;
    };
    Shard& shard_of(const RowSetHash& hash) { return shards_[hash.high % shards_.size()]; }
    std::array<Shard, 64> shards_;
};

}  // namespace surtree
