// One column as the kernels see it: the sets of bins ("regions") that cuts on it can make.
//
// A cut has two sides. Cutting a side again on the same column leaves an intersection of sides, and
// so on. Regions are listed once however many ways lead to them: in an ordered column of q bins
// they are its q(q+1)/2 intervals, so that a second cut of the same column costs few new sums.
#pragma once

#include <vector>

#include "problem.hpp"

namespace surtree {

// Bins first..last-1. A region is a list of runs, ascending and apart.
struct Run {
    int first, last;
};

// A region cut in two by another cut of the same column: ids of the two parts.
struct Split {
    int yes, no;
};

struct Axis {
    int n_bins = 0;
    int n_cuts = 0;
    int first_cut = 0;  // position of this axis' cuts in the problem's list
    int n_sides = 0;    // 2 * n_cuts: regions where cut c holds come first, then where it does not
    int n_regions = 0;  // sides, and sides cut once more (levels >= 2)
    int n_deep = 0;     // regions, and regions cut once more (levels >= 3)
    std::vector<Run> runs;
    std::vector<int> run_begin;  // runs of region r: run_begin[r] .. run_begin[r + 1] - 1
    std::vector<Split> splits;
    std::vector<int> split_begin;    // splits of region r, likewise
    std::vector<double> membership;  // n_bins x membership_stride: 1 where the bin belongs to the side

    // levels: how many cuts of this column a path can hold that a kernel solves at once (1, 2 or 3).
    Axis(const Problem& problem, int column, int levels);
};

// Numbers that the widest vector holds, and lines of the membership padded to whole vectors.
constexpr int max_lanes = 8;
constexpr std::size_t membership_stride(int n_sides) {
    return static_cast<std::size_t>((n_sides + max_lanes - 1) / max_lanes * max_lanes);
}

}  // namespace surtree
