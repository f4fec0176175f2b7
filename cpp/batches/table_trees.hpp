// The trees of a solution, found again from the tables.
#pragma once

#include "batches/triple_tables.hpp"
#include "search/bounds.hpp"

namespace surtree {

// For at most 0, 1, 2, ... splits, a tree with this gain; `sides` has the best gains of the root's sides.
std::vector<Tree> build_trees(const TripleTables& tables, const Profile& gains,
                              const std::vector<RootResult>& sides);

}  // namespace surtree
