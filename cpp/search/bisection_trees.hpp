// The trees of a bisection.
#pragma once

#include "search/bisection.hpp"

namespace surtree {

// For at most 0, 1, 2, ... splits, a tree with the gain of the search. After a search that was cut short they
// are the best that were found. `cut_of` has the caller's numbers of cuts.
std::vector<Tree> build_trees(Bisection& search, Status status, const std::vector<int>& cut_of);

}  // namespace surtree
