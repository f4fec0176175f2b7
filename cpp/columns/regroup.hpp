// Regrouping: merges compatible binary columns into one column.
//
// A table may arrive binarised: as thresholds of one variable (nested sets of rows) or as one-hot categories
// (disjoint sets). Two sets are compatible if they, or their complements, are nested or disjoint. Pairwise
// compatible sets form a tree (a laminar family), and k of them make only k + 1 kinds of rows. As one column
// of k + 1 bins they cost the kernels no more than the variable that they came from.
#pragma once

#include <vector>

#include "problem.hpp"

namespace surtree {

// The same rows, and the same cuts in another order: cut c was cut_of[c] of the original problem.
struct Regrouped {
    Problem problem;
    std::vector<int> cut_of;
    std::vector<std::uint16_t> bins;  // storage of problem.bins
};

Regrouped regroup(const Problem& problem);

// The same, or the columns as they are where that is switched off.
Regrouped regrouped(const Problem& problem, const Switches& switches);

}  // namespace surtree
