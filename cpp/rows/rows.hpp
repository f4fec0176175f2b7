// The rows of a subproblem: distinct rows of bins with their sums, and a hash of the set.
#pragma once

#include <cstdint>
#include <vector>

#include "columns/regions.hpp"
#include "problem.hpp"
#include "rows/leaf.hpp"

namespace surtree {

// Zobrist hash of a set of rows: the sum of a fixed random 128-bit number per row. The same rows have the
// same hash, whichever cuts led to them and in whichever order. Among N sets, two different ones share a hash
// with a probability below N^2 / 2^128.
struct RowSetHash {
    std::uint64_t low = 0, high = 0;

    bool operator==(const RowSetHash&) const = default;
    std::size_t hash() const { return low; }
    RowSetHash operator+(const RowSetHash& other) const { return {low + other.low, high + other.high}; }
    RowSetHash operator-(const RowSetHash& other) const { return {low - other.low, high - other.high}; }
};

RowSetHash hash_of_row(std::size_t row);

// Totals of each bin of a column: rows, the hash of their set, and the parts of their weight (n_parts x
// n_bins), which are whole numbers of some units, so that their sums are exact.
struct BinTotals {
    std::vector<std::int64_t> n;
    std::vector<std::uint64_t> hash_low, hash_high;
    std::vector<double> weight;
};

template <class Bin>
BinTotals sum_bins(const Bin* bins, std::size_t n_rows, std::size_t n_bins, const double* weight,
                   std::size_t n_parts) {
    BinTotals out{std::vector<std::int64_t>(n_bins), std::vector<std::uint64_t>(n_bins),
                  std::vector<std::uint64_t>(n_bins), std::vector<double>(n_parts * n_bins)};
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto bin = static_cast<std::size_t>(bins[row]);
        const RowSetHash hash = hash_of_row(row);
        ++out.n[bin];
        out.hash_low[bin] += hash.low;
        out.hash_high[bin] += hash.high;
        for (std::size_t p = 0; p < n_parts; ++p) out.weight[p * n_bins + bin] += weight[p * n_rows + row];
    }
    return out;
}

// Rows, stored column by column. The sums of a row are those of the objective and, if leaves are limited, the
// counts of the rows that were merged into it.
struct RowSet {
    int n = 0, n_columns = 0, width = 0;
    std::vector<std::uint16_t> bins;  // n_columns x n
    std::vector<double> sums;         // n x width
    std::vector<RowSetHash> hashes;

    const std::uint16_t* column(int c) const { return bins.data() + at(c) * at(n); }
};

// The distinct rows of a problem. Sums are rounded once to integer multiples of `grid`, so that every sum and
// every difference of sums is exact. Results do not depend on the order of rows, additions or threads, and
// the sums of a sibling may be found by subtraction.
//
// Rounding to the nearest unit is accurate unless a leaf of light rows occurs beside heavy rows. Such
// problems are rounded down (`Problem::round_down`): the gain decreases with the hazard, so the rounded gain
// plus `slack` is an upper bound for every tree. A tree whose exact gain reaches that bound is proven
// optimal.
struct Rows {
    RowSet all;
    LeafValue leaf;
    double grid;
    double slack = 0;             // upper bound on the gain of rows below one unit, in units of the grid
    double scale = 0;             // of gains, as the objective defines it
    double tie = 0;               // gains this close count as equal
    bool has_light_rows = false;  // there may be rows without exposure, which still count for limits
};

Rows merge_rows(const Problem& problem, const Limits& limits, bool merge);

// Gains this close count as equal, given their scale.
double tie_of(double scale);

// Gains of known trees were summed elsewhere, in another order. A little less is certain, and lets a search
// find these trees again.
double a_little_less(double gain, double scale);

// A sum of numbers that are not negative, each rounded up to a whole number of a fine unit. It is kept in two
// doubles, of coarse units and of fine ones, that are whole and stay exact: their order does not matter, and
// such sums may be added, number by number.
class SumRoundedUp {
 public:
    static constexpr std::size_t size = 2;

    explicit SumRoundedUp(double* parts) : parts_(parts) {}

    void add(double value);
    double total() const { return parts_[0] * coarse + parts_[1] * fine; }

 private:
    static constexpr double coarse = 0x1p20, fine = 0x1p-20;
    double* parts_;
};

// Adds a row of a problem to the sums of a row or leaf, in units of the grid, and returns its slack.
double add_row(const Problem& problem, const LeafValue& leaf, std::size_t row, double* to);

RowSetHash hash_of(const RowSet& rows);

std::vector<double> sum_rows(const RowSet& rows);

// The rows of `parent` whose bin lies in a region of the whole column.
void take_rows(const RowSet& parent, const Column& column, int region, RowSet& out);

// Counting sort by the bins of one column: rows of bin b become begin[b] .. begin[b + 1] - 1. Hashes are left
// out.
void sort_rows(const RowSet& rows, int column, int n_bins, std::vector<int>& begin, RowSet& out);

}  // namespace surtree
