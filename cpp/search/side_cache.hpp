// Sides of one set of rows that serve others.
//
// The rows where a, b and c hold are a side of those of a and b, of a and c, and of b and c. A kernel that
// solves one of these at depth three solves its sides at depth two, and so a part of the others. With the
// columns in two groups, any three cuts have two of one group: if all pairs of cuts within groups go through
// the kernel, the sides of all pairs across groups are known.
#pragma once

#include <atomic>
#include <vector>

#include "search/cache.hpp"
#include "search/profile.hpp"

namespace surtree {

// Names of the sides of all cuts, in any region of a column. Sides are numbered column by column: those where
// its cuts hold, then those where they do not.
class SideHashes {
 public:
    void read(const RowSet& rows, const std::vector<Column>& columns, int column);

    // Those of a region of the column; they stay until the next call.
    const std::vector<RowSetHash>& of(const ColumnRegions& axis, int region);

 private:
    const std::vector<Column>* columns_ = nullptr;
    int n_lines_ = 0;                  // bins of the column
    std::size_t n_cells_ = 0;          // bins of all columns, and one more for each
    std::vector<RowSetHash> running_;  // sums of the lines before each, and of all
    std::vector<RowSetHash> cells_;
    std::vector<RowSetHash> hashes_;
};

// Gains with at most 0 to 3 splits, of sets of rows at depth two.
class SideCache {
 public:
    using Gains = std::array<double, 4>;

    SideCache(const std::vector<Column>& columns, std::atomic<std::size_t>& bytes_left)
        : columns_(columns), bytes_left_(bytes_left) {}

    void store(const RowSetHash& rows, const double* gains);
    bool find(const RowSetHash& rows, Gains& out) const { return solved_.find(rows, out); }

    // All sides that others need are stored.
    void freeze() { solved_.freeze(); }

    // Joins the sides of a set of rows; false where one is not known.
    bool join_sides(const RowSetHash& rows, const std::vector<RowSetHash>& sides, Profile& out) const;

    // All sets of rows that three cuts make.
    static double bytes_of_all(int n_sides);

 private:
    const std::vector<Column>& columns_;
    std::atomic<std::size_t>& bytes_left_;
    Cache<Gains> solved_;
};

// 0 or 1 for each column, with about as many cuts in either group.
std::vector<int> two_groups(const std::vector<Column>& columns);

}  // namespace surtree
