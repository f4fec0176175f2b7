// An incumbent: a good tree early, by looking ahead.
#pragma once

#include <memory>

#include "search/recursion.hpp"

namespace surtree {

// Each cut is the one that is best with the levels that kernels solve below it; the last of these levels are
// optimal.
struct Incumbent {
    int depth = 0;  // for which `exact` is optimal
    Profile exact;
    const Column* column = nullptr;  // of the cut, if there is one
    int cut = -1;
    std::unique_ptr<Incumbent> no, yes;
    Profile profile;  // the better of both, for each number of splits
};

// Null if stopped.
std::unique_ptr<Incumbent> find_incumbent(const Recursion& recursion, const RowSet& rows, int depth,
                                          Recursion::Worker& worker);

}  // namespace surtree
