// The rows of a subproblem, for each chain in its order.
#pragma once

#include "chain.hpp"
#include "rows.hpp"

namespace surtree {

struct OrderedRows {
    struct Order {
        std::vector<std::int32_t> row;    // numbers of the rows, by rank
        std::vector<std::uint32_t> code;  // as ScanInput has them
        std::vector<double> sums;         // n x n_sums, in this order
    };

    int n = 0;
    std::vector<Order> orders;        // by chain
    std::vector<std::uint16_t> bins;  // of columns that are no chains: others x n
    std::vector<double> sums;         // n x n_sums
    std::vector<double> saturated;    // the gain of each row as a leaf of its own
    std::vector<Key> keys;
};

// Which side of a cut each row is on, 0 or 1, and what both sides hold.
struct Division {
    std::vector<std::uint8_t> side;
    int n[2] = {};
    Key key[2];
    std::vector<double> totals;  // 2 x n_sums
};

// `may_skip`: codes tell where bins hold no events, so that a scan may pass over cuts between them.
OrderedRows order_rows(const Rows& rows, const Unfolded& unfolded, bool may_skip);

// Rows before a position of a chain's order are on side 0.
void divide_chain(const OrderedRows& rows, int n_sums, int chain, int position, Division& out);

// Rows for which a cut of another column holds are on side 1.
void divide_other(const OrderedRows& rows, int n_sums, int other, const Unordered& column, int cut,
                  Division& out);

void take_side(const OrderedRows& rows, int n_sums, const Division& division, int side, OrderedRows& out);

}  // namespace surtree
