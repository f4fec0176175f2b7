// The rows of a subproblem: distinct encoded rows with their sums, and a hash that names the set.
#pragma once

#include <cstdint>
#include <vector>

#include "columns/regions.hpp"
#include "problem.hpp"
#include "rows/leaf.hpp"

namespace surtree {

// Names a set of rows: the sum of a fixed random 128-bit number per row. Whatever cuts lead to the
// same rows, in whatever order and on whatever columns, lead to the same hash. Two different sets
// among N share a hash with a probability below N^2 / 2^128.
struct RowSetHash {
    std::uint64_t low = 0, high = 0;

    bool operator==(const RowSetHash&) const = default;
    std::size_t hash() const { return low; }
    RowSetHash operator+(const RowSetHash& other) const { return {low + other.low, high + other.high}; }
    RowSetHash operator-(const RowSetHash& other) const { return {low - other.low, high - other.high}; }
};

// The hash of one row.
RowSetHash hash_of_row(std::size_t row);

// Rows in column order. `sums` holds the sums of the objective for each row and, where leaves are limited,
// what is counted of the rows that were merged into it.
struct RowSet {
    int n = 0, n_columns = 0, width = 0;
    std::vector<std::uint16_t> bins;  // n_columns x n
    std::vector<double> sums;         // n x width
    std::vector<RowSetHash> hashes;

    const std::uint16_t* column(int c) const {
        return bins.data() + static_cast<std::size_t>(c) * static_cast<std::size_t>(n);
    }
};

// The distinct rows of a problem. Sums become whole numbers of `grid`, so that every
// sum and every difference of sums that the search takes is exact: the order of rows, of additions
// and of threads cannot change a result, and a sibling by subtraction is as good as a sum of its own.
//
// Rounding to the nearest unit is accurate unless light rows make a leaf beside heavy ones. Such problems
// are rounded down (`Problem::round_down`): the gain falls with the hazard, so no tree is worth more than
// its rounded gain plus `slack`, and a solution whose exact gain is as large is proven to be optimal.
struct Rows {
    RowSet all;
    LeafValue leaf;
    double grid;
    double slack = 0;             // in units of the grid: what rows of less than a unit could gain
    double scale = 0;             // of gains, as the objective has it
    double tie = 0;               // gains this close are equal but for rounding
    bool has_light_rows = false;  // perhaps: rows without exposure, which count for limits all the same
};

Rows merge_rows(const Problem& problem, const Limits& limits, bool merge);

// The hash of a set of rows.
RowSetHash hash_of(const RowSet& rows);

// The sums of all rows of a set.
std::vector<double> sum_rows(const RowSet& rows);

// The rows of `parent` whose bin lies in the region.
void take_rows(const RowSet& parent, int column, const ColumnRegions& regions, int region, RowSet& out);

// The same rows, without hashes, in the order of their bins in one column; those of bin b are begin[b] to
// begin[b + 1] - 1.
void sort_rows(const RowSet& rows, int column, int n_bins, std::vector<int>& begin, RowSet& out);

}  // namespace surtree
