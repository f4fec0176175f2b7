// The trees of a sweep.
#pragma once

#include "search/sweep.hpp"

namespace surtree {

// For at most 0, 1, 2, ... splits, a tree with the gain of the search; `cut_of` has the caller's numbers of
// cuts.
std::vector<Tree> build_trees(SweepSearch& search, const Profile& gains, const std::vector<int>& cut_of);

}  // namespace surtree
