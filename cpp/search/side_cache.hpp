// Cache of depth-two results that several depth-three subproblems have in common.
//
// The rows where a, b and c hold are a side of those of a and b, of a and c, and of b and c. A kernel that
// solves one of these at depth three solves its sides at depth two, and so a part of the others. With the
// columns in two groups, any three cuts have two of one group: if all pairs of cuts within groups go through
// the kernel, the sides of all pairs across groups are in the cache.
#pragma once

#include <atomic>
#include <vector>

#include "search/cache.hpp"
#include "search/sides.hpp"

namespace surtree {

// Hashes of the sides of all cuts, in any region of one column.
class SideHashes {
 public:
    void read(const RowSet& rows, const Columns& columns, const Column& column);

    // By number of the side, for a region of the column; they stay until the next call.
    const std::vector<RowSetHash>& of(int region);

 private:
    const Columns* columns_ = nullptr;
    const Column* column_ = nullptr;
    std::size_t n_cells_ = 0;          // bins of all columns, and one more for each
    std::vector<RowSetHash> running_;  // sums of the lines before each, and of all
    std::vector<RowSetHash> cells_;
    std::vector<RowSetHash> hashes_;
};

class SideCache {
 public:
    // Gains with at most 0 to 3 splits, at depth two.
    using Gains = std::array<double, 4>;

    // Memory for all sets of rows that three cuts make.
    static double bytes_of_all(int n_sides);

    SideCache(const Columns& columns, std::atomic<std::size_t>& bytes_left);

    bool in_same_group(const Column& a, const Column& b) const {
        return group_[at(a.index)] == group_[at(b.index)];
    }

    void store(const SideProfiles& profiles, const std::vector<RowSetHash>& hashes);
    // For rows that no tree splits: every budget has the gain of the leaf.
    void store_leaf(double gain, const std::vector<RowSetHash>& hashes);

    // Joins the sides of a set of rows; false where one is not known.
    bool join_into(Profile& out, const RowSetHash& rows, const std::vector<RowSetHash>& sides) const;

    // Loads what the kernel of depth three would find for a set of rows; false where a side is not known.
    bool load(const RowSet& rows, SideProfiles& out) const;

    // All sides that others need are stored: from now on nobody waits for a lock.
    void freeze() { solved_.freeze(); }

 private:
    const Columns& columns_;
    std::atomic<std::size_t>& bytes_left_;
    std::vector<int> group_;  // 0 or 1 for each column, with about as many cuts in either
    Cache<Gains> solved_;
};

}  // namespace surtree
