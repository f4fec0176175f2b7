// Chains: columns whose cuts are nested, so that bisection can bound all cuts between two of them.
#pragma once

#include <cstdint>
#include <vector>

#include "columns/regions.hpp"

namespace surtree {

// Nested cuts. Cut k separates ranks 0..k from the ranks above: n cuts make n + 1 ranks.
struct Chain {
    std::vector<int> cut;  // indices into the problem's cuts
};

// A column whose cuts are not nested, such as one of categories.
struct Unordered {
    int n_bins = 0;
    std::vector<int> cut;
    std::vector<Region> holds;  // per cut, the bins where it holds
};

// The same rows, with one column per chain and then the unordered columns. A column with missing values makes
// two chains: missing values rank lowest in the first and highest in the second.
struct ChainedProblem {
    Problem problem;
    std::vector<std::uint16_t> bins;  // storage of problem.bins
    std::vector<Chain> chains;
    std::vector<Unordered> others;
    std::vector<int> short_columns;  // chains with few bins, then all unordered columns

    int n_chains() const { return static_cast<int>(chains.size()); }
    int n_bins(int column) const {
        return column < n_chains() ? static_cast<int>(chains[at(column)].cut.size()) + 1
                                   : others[at(column - n_chains())].n_bins;
    }
    // The index of an unordered column in `short_columns`.
    int short_place(int other) const {
        return static_cast<int>(short_columns.size() - others.size()) + other;
    }
};

ChainedProblem split_into_chains(const Problem& problem);

// The most cuts of a column whose cuts are nested.
int longest_chain(const Problem& problem);

}  // namespace surtree
