// Lower and upper bounds of the whole tree, from the sides of the root that are solved so far.
#pragma once

#include "search/sides.hpp"

namespace surtree {

// The best profile known for the rows on one side of a root cut, and the depth it is optimal for.
struct RootResult {
    int depth = -1;
    Profile profile;
};

// The best gains of trees whose root is a leaf or has sides with these profiles.
Profile root_gains(const Columns& columns, const std::vector<RootResult>& sides, double leaf, int n_splits);

class RootBounds {
 public:
    RootBounds(const Columns& columns, const Rows& rows);

    // For each side, what no tree of this depth gains on it with at most 0, 1, ... `budget` splits; the same
    // of the sides of one column.
    std::vector<RootResult> upper(std::vector<RootResult> sides, int depth, int budget) const;
    std::vector<RootResult> upper(const Column& column, const RootResult* sides, int depth, int budget) const;

 private:
    // The saturated gain of a bin: a leaf for each of its rows.
    struct BinTotal {
        double saturated = 0;
        bool has_rows = false;
    };

    const Columns& columns_;
    const LeafValue& leaf_;
    std::vector<std::vector<BinTotal>> totals_;  // by column and bin
};

}  // namespace surtree
