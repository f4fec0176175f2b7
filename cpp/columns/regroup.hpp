// Binary columns that belong together, as one column.
//
// A table may come binarised already: thresholds of one variable (nested sets of rows), or one-hot
// categories (sets apart). Two sets are compatible when they, or their complements, are nested or apart;
// pairwise compatible sets form a tree, and k of them make only k + 1 kinds of rows. Seen as one column
// with k + 1 bins, they cost the kernels no more than the variable that they came from.
#pragma once

#include <vector>

#include "problem.hpp"

namespace surtree {

// A problem over the same rows and cuts in another order. `cut_of[c]` is the original number of cut c.
struct Regrouped {
    Problem problem;
    std::vector<int> cut_of;
    std::vector<std::uint16_t> bins;  // what problem.bins points to
};

Regrouped regroup(const Problem& problem);

}  // namespace surtree
