// What every question at the root is worth, and the trees near the best one, best first.
//
// A search to the end leaves the profiles of both sides of every root cut. Each of them is exact, so they
// price every question. Screening, which leaves out cuts that are no root of a best tree, is switched off.
//
// Trees come in order by streams: a set of rows has one for each number of splits. A stream joins, for
// every cut, the streams of its two sides; a heap holds the next pair of each. What a pair gains at most is
// known before its sides have streams, from their profiles, so that few sets of rows are ever looked at.
// Nothing further below its own best than the slack is a part of a tree within the slack: with the best part
// in its place the tree would be better than the best one.
//
// Conditions are asked of every part of a tree, in the box of its node: what no tree may contain is never
// joined to anything. Profiles do not know of conditions, and are bounds.
#pragma once

#include <memory>
#include <vector>

#include "problem.hpp"
#include "search/conditions.hpp"

namespace surtree {

// Gains of the two sides of each cut, the one where it does not hold first, with at most 0, 1, ... splits;
// minus infinity where a side cannot be.
struct SideGains {
    Status status = Status::optimal;
    std::size_t width = 0;  // numbers a side
    std::vector<double> gains;
};

SideGains side_gains(const Problem& problem, const Limits& limits, const Control& control);

class NearTrees {
 public:
    // Searches to the end. `within` is the share of what the best tree gains over a single leaf that others
    // may lose. With `distinct`, trees that divide the rows into the same leaves count once; with conditions,
    // those that divide all possible rows alike, and the best tree is one that satisfies them: ask for that
    // first. The problem outlives this object.
    NearTrees(const Problem& problem, const Limits& limits, const Control& control, double within,
              bool distinct, Conditions conditions = {});
    ~NearTrees();

    // The next trees and their gains: fewer than n where there are no more, or at a limit of time or memory,
    // after which no more will come.
    Solution next(std::size_t n, const Control& control);

    // The best tree of at most 0, 1, ... splits that satisfies the conditions, and a bound on its gain where
    // a limit ended the search; nothing where that came to no end over all trees.
    Solution best(const Control& control);

    std::vector<double> free_gains() const;  // of the best trees without conditions
    bool is_full() const;                    // of memory

 private:
    class Walk;
    std::unique_ptr<Walk> walk_;
};

}  // namespace surtree
