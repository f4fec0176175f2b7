// Columns by the shape of their cuts: nested ones form chains, which can be bisected.
#pragma once

#include <cstdint>
#include <vector>

#include "columns/regions.hpp"

namespace surtree {

// Cuts whose sets of rows are nested. Cut k divides the rows of ranks 0..k from those above, and every two
// neighbouring ranks are divided by one cut.
struct Chain {
    std::vector<int> cut;  // in the numbering of the problem
};

// Cuts of one column in no order.
struct Unordered {
    int n_bins = 0;
    std::vector<int> cut;
    std::vector<Region> holds;  // the bins, for each cut
};

// A problem over the same rows whose columns are the chains, and after them the others. A column with missing
// values is two chains: one with the missing values at the top, one with them at the bottom.
struct ChainedProblem {
    Problem problem;
    std::vector<std::uint16_t> bins;  // what problem.bins points to
    std::vector<Chain> chains;
    std::vector<Unordered> others;
    std::vector<int> short_columns;  // that have few bins: chains, then all others

    int n_chains() const { return static_cast<int>(chains.size()); }
    int n_bins(int column) const {
        return column < n_chains() ? static_cast<int>(chains[at(column)].cut.size()) + 1
                                   : others[at(column - n_chains())].n_bins;
    }
    // The place of an unordered column among the short ones.
    int short_place(int other) const {
        return static_cast<int>(short_columns.size() - others.size()) + other;
    }
};

ChainedProblem split_into_chains(const Problem& problem);

// The length of the longest chain.
int longest_chain(const Problem& problem);

}  // namespace surtree
