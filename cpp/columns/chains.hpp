// Chains: columns whose cuts are nested, so that bisection can bound all cuts between two of them.
#pragma once

#include <cstdint>
#include <vector>

#include "columns/regions.hpp"

namespace surtree {

// The same rows, with one column per chain and then the unordered columns, such as those of categories. A
// column with missing values makes two chains: missing values rank lowest in the first and highest in the
// second.
struct ChainedProblem {
    struct Column {
        int n_bins;
        std::vector<int> cut;       // indices into the problem's cuts
        std::vector<Region> holds;  // per cut of an unordered column, the bins where it holds
    };

    Problem problem;
    std::vector<std::uint16_t> bins;  // storage of problem.bins
    std::vector<Column> columns;      // cut k of a chain separates bins 0..k from the bins above
    int n_chains = 0;
    std::vector<int> short_columns;  // chains with few bins, then all unordered columns

    int n_columns() const { return static_cast<int>(columns.size()); }
    const Column& operator[](int column) const { return columns[at(column)]; }
    // The index of an unordered column in `short_columns`.
    int short_place(int column) const {
        return static_cast<int>(short_columns.size()) - n_columns() + column;
    }
};

ChainedProblem split_into_chains(const Problem& problem);

// The most cuts of a column whose cuts are nested.
int longest_chain(const Problem& problem);

}  // namespace surtree
