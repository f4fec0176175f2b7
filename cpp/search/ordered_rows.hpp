// The rows of a subproblem, for each chain in its order.
#pragma once

#include "columns/chains.hpp"
#include "rows/rows.hpp"

namespace surtree {

struct OrderedRows {
    struct Order {
        std::vector<std::int32_t> row;    // numbers of the rows, by rank
        std::vector<std::uint32_t> code;  // as ScanInput has them
        std::vector<double> sums;         // n x width, in this order
    };

    int n = 0, width = 0;
    std::vector<Order> orders;                    // by chain
    std::vector<std::uint16_t> bins;              // of the short columns x n
    std::vector<std::vector<double>> histograms;  // by short column: n_bins x width
    std::vector<double> sums;                     // n x width
    std::vector<double> saturated;                // the gain of each row as a leaf of its own
    std::vector<RowSetHash> hashes;

    const std::uint16_t* bins_of(int short_column) const { return bins.data() + at(short_column) * at(n); }
};

// Which side of a cut each row is on, 0 or 1, and what both sides hold.
struct Partition {
    std::vector<std::uint8_t> side;
    int chain = -1, position = 0;  // rows before this position of a chain are on side 0; or no chain
    int n[2] = {};
    RowSetHash hash[2];
    std::vector<double> totals;  // 2 x width
};

// Rows, with sums, in the order of each chain. Codes tell in which bins rows have nothing but exposure: where
// the gain is convex, a scan may pass over cuts between such bins.
OrderedRows order_rows(const Rows& rows, const ChainedProblem& chained);

// Rows before a position of a chain's order are on side 0. Only sides are filled in.
void divide_chain(const OrderedRows& rows, int chain, int position, Partition& out);

// Rows for which a cut of another column holds are on side 1.
void divide_other(const OrderedRows& rows, const ChainedProblem& chained, int other, int cut, Partition& out);

// Counts, hashes and totals.
void add_up(const OrderedRows& rows, Partition& out);

// The histograms of a short column on both sides.
void split_histogram(const OrderedRows& rows, int short_column, const Partition& partition,
                     std::vector<double> (&out)[2]);

void take_side(const OrderedRows& rows, const Partition& partition, int side, OrderedRows& out);

}  // namespace surtree
