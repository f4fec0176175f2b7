// The rows of a subproblem, sorted once per chain.
#pragma once

#include "columns/chains.hpp"
#include "rows/rows.hpp"

namespace surtree {

struct OrderedRows {
    struct Order {
        std::vector<std::int32_t> row;    // row indices in ascending order of rank
        std::vector<std::uint32_t> code;  // as in ScanInput
        std::vector<double> sums;         // n x width, in this order
    };

    int n = 0, width = 0;
    std::vector<Order> orders;                    // by chain
    std::vector<std::uint16_t> bins;              // short columns x n
    std::vector<std::vector<double>> histograms;  // by short column: n_bins x width
    std::vector<double> sums;                     // n x width
    std::vector<double> saturated;                // per row: its gain as a leaf of its own
    std::vector<RowSetHash> hashes;

    const std::uint16_t* bins_of(int short_column) const { return bins.data() + at(short_column) * at(n); }
};

// The side of a cut that each row is on, 0 or 1, and the totals of both sides.
struct Partition {
    std::vector<std::uint8_t> side;
    int chain = -1, position = 0;  // if a chain: rows before this position of its order are on side 0
    int n[2] = {};
    RowSetHash hash[2];
    std::vector<double> totals;  // 2 x width
};

// Sorts the rows by each chain. Codes mark the bins whose rows have nothing but exposure: if the gain is
// convex, a scan may skip cuts between two such bins.
OrderedRows order_rows(const Rows& rows, const ChainedProblem& chained);

// Fills in the sides only, not the totals.
void divide_chain(const OrderedRows& rows, int chain, int position, Partition& out);

// Rows where a cut of an unordered column holds are on side 1.
void divide_other(const OrderedRows& rows, const ChainedProblem& chained, int column, int cut,
                  Partition& out);

// Fills in counts, hashes and totals from the sides.
void add_up(const OrderedRows& rows, Partition& out);

// The histograms of a short column on both sides: one by a pass over the rows, the other by subtraction.
void split_histogram(const OrderedRows& rows, int short_column, const Partition& partition,
                     std::vector<double> (&out)[2]);

void take_side(const OrderedRows& rows, const Partition& partition, int side, OrderedRows& out);

}  // namespace surtree
