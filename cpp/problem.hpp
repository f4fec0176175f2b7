// The values that cross the border of the solver: a problem in, a solution out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace surtree {

// Numbers of rows, bins, cuts and sides are signed, so that differences are; what they index is not.
constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

// A yes-or-no question about one column: it holds for bins first..last, and for the
// column's missing bin where `missing` is set; for all other bins, if it is negated. Rows for which it
// holds go right.
struct Cut {
    int column;
    int first;
    int last;
    bool missing;
    bool negated = false;

    bool holds(int bin, int missing_bin) const {
        return ((bin >= first && bin <= last) || (missing && bin == missing_bin)) != negated;
    }

    // Whether the cut divides low bins from high ones; n_values bins do not count the missing one.
    bool is_ordered(int n_values, int missing_bin) const {
        return last == n_values - 1 || (missing_bin >= 0 && first == missing_bin);
    }
};

struct Kernels;

// The rows and the cuts allowed on them. Arrays belong to the caller.
struct Problem {
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    const std::uint16_t* bins = nullptr;  // n_columns x n_rows
    std::vector<int> n_bins;              // per column, the missing bin included
    std::vector<int> missing_bin;         // per column, -1 where nothing is missing
    std::vector<Cut> cuts;                // by column, then in the order that breaks ties
    const Kernels* objective = nullptr;   // what a leaf gains
    std::vector<double> parameters;       // of the objective
    const double* sums = nullptr;         // n_sums of the objective x n_rows
    const double* counts = nullptr;       // what `Limits::least` limits x n_rows
    bool round_down = false;              // exposures to the grid (see rows.hpp), instead of to the nearest

    // The same rows and objective, as yet without columns and cuts.
    Problem without_columns() const {
        Problem out = *this;
        out.n_columns = 0;
        out.bins = nullptr;
        out.n_bins.clear();
        out.missing_bin.clear();
        out.cuts.clear();
        return out;
    }
};

struct Limits {
    int max_depth = 3;
    int max_splits = 7;
    std::vector<double> least{};  // in a leaf, of each count of the problem; zero where nothing is limited
};

// Shown while a search runs. Bounds and gains are of the largest size asked for.
struct Progress {
    double fraction = 0;
    double gain = 0;
    double gain_bound = 0;
};

// What makes the search fast, to be left out one at a time: answers stay the same. And an early end that
// does not depend on a clock, so that tests can look at every unfinished search.
struct Switches {
    int kernel_depth = 3;  // levels that kernels solve at once
    bool memo = true;
    bool merge = true;    // identical rows
    bool regroup = true;  // binary columns that belong together
    bool bounds = true;
    bool sweep = true;    // tables of sides as differences
    bool share = true;    // sides of one set of rows serve others
    int bisect = 100;     // columns with more nested cuts than this are bisected
    int stop_after = -1;  // tasks of the root: sides or columns that are swept, cuts that are bisected
};

// How to run; nothing here changes an answer that is proven optimal.
struct Control {
    double time_limit = 0;  // seconds; 0 is no limit
    int n_threads = 1;
    std::size_t memory_limit = std::size_t{1} << 31;     // bytes that solved subproblems may take
    bool wants_progress = false;                         // else what should_stop gets is empty
    std::function<bool(const Progress&)> should_stop{};  // asked from the calling thread, now and then
    std::vector<double> known_gains{};                   // of trees known already, by number of splits
    Switches switches{};
};

enum class Status { optimal, time_limit, interrupted };

// A tree as flat arrays in preorder; a leaf has cut -1.
struct Tree {
    std::vector<int> cut, left, right;
};

// Entry k belongs to trees of at most k splits.
struct Solution {
    Status status = Status::optimal;
    std::vector<double> gains;
    std::vector<double> gain_bounds;
    std::vector<Tree> trees;
    std::uint64_t n_cuts = 0, n_evaluated = 0;  // cuts of all sets of rows, and those that were looked at
};

Solution solve(const Problem& problem, const Limits& limits, const Control& control);

// For each kind of value (n_values x n_rows) its sums over the rows of each node, tree after tree (n_values x
// nodes of all trees), added up in plain double precision.
void sum_nodes(const Problem& problem, const std::vector<Tree>& trees, const double* values,
               std::size_t n_values, double* sums);

// The leaf of each row.
void find_leaves(const Problem& problem, const Tree& tree, std::int32_t* leaf_of_row);

}  // namespace surtree
