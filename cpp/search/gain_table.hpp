// Four numbers for each of many sets of rows, next to their names: one look at memory finds them.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "rows/rows.hpp"

namespace surtree {

class GainTable {
 public:
    using Gains = std::array<double, 4>;

    bool find(const RowSetHash& hash, Gains& out) const;

    // Once the budget is spent nothing more is kept.
    void store(const RowSetHash& hash, const Gains& gains, std::atomic<std::size_t>& bytes_left);

    // From now on nothing is stored, and threads find things without waiting for each other. To be called
    // while no other thread is at work.
    void freeze() { frozen_ = true; }

    // Where `find` will look.
    void prefetch(const RowSetHash& hash) const;

    // At most: a part is three quarters full when it is made twice as large.
    static constexpr std::size_t bytes_per_entry = 128;

 private:
    struct Entry {
        RowSetHash hash;  // zero, the name of the empty set, where there is none
        Gains gains;
    };
    struct Part {
        mutable std::mutex mutex;
        std::vector<Entry> entries;  // a power of two of them
        std::size_t n = 0;
    };

    static std::size_t place_of(const std::vector<Entry>& entries, const RowSetHash& hash);
    static bool look_up(const Part& part, const RowSetHash& hash, Gains& out);
    const Part& part_of(const RowSetHash& hash) const { return parts_[hash.high % parts_.size()]; }

    bool frozen_ = false;
    std::array<Part, 64> parts_;
};

}  // namespace surtree
