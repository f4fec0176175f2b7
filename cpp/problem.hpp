// Input and output of the solver.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace surtree {

// Rows, bins, cuts and sides are counted with `int`, so that differences are signed. `at` makes an index of
// one.
constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

// A test of one column. It holds for bins first..last but those in `gaps` and, if `missing`, for the missing
// bin; if `negated`, for all other bins instead. Rows where it holds go right.
struct Cut {
    int column;
    int first;
    int last;
    bool missing;
    bool negated = false;
    std::uint64_t gaps = 0;  // a bit for each bin between first and last, for columns of at most 64 bins
    bool leads = true;       // false: trees that begin with it are not looked for, though some may be found

    // Whether the cut holds for a bin from first to last.
    bool has(int bin) const { return gaps == 0 || (gaps >> bin & 1) == 0; }
    bool holds(int bin, int missing_bin) const {
        return ((bin >= first && bin <= last && has(bin)) || (missing && bin == missing_bin)) != negated;
    }

    // Whether the cut divides low bins from high ones; n_values bins do not count the missing one.
    bool is_ordered(int n_values, int missing_bin) const {
        return gaps == 0 && (last == n_values - 1 || (missing_bin >= 0 && first == missing_bin));
    }
};

struct Kernels;

// Binned rows, their sums, and the cuts allowed on them. The caller owns the arrays.
struct Problem {
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    const std::uint16_t* bins = nullptr;  // n_columns x n_rows
    std::vector<int> n_bins;              // per column, the missing bin included
    std::vector<int> missing_bin;         // per column, -1 where nothing is missing
    std::vector<Cut> cuts;                // by column, then in the order that breaks ties
    const Kernels* objective = nullptr;   // the gain of a leaf
    std::vector<double> parameters;       // of the objective
    const double* sums = nullptr;         // n_sums of the objective x n_rows
    const double* counts = nullptr;       // counts that `Limits::least` limits x n_rows
    double grid = 1;          // the unit that sums are rounded to (see rows.hpp): a power of two, of which
                              // the total of each sum is less than 2^51
    bool round_down = false;  // round exposures down to the grid, not to the nearest

    std::vector<std::vector<int>> cuts_by_column() const {
        std::vector<std::vector<int>> out(n_columns);
        for (std::size_t c = 0; c < cuts.size(); ++c) out[at(cuts[c].column)].push_back(static_cast<int>(c));
        return out;
    }

    bool all_lead() const {
        return std::all_of(cuts.begin(), cuts.end(), [](const Cut& c) { return c.leads; });
    }

    // The same rows and objective, without columns and cuts.
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
    std::vector<double> least{};  // the minimum of each count in a leaf; zero is no limit
};

// The state of a running search, for trees of the largest size asked for.
struct Progress {
    double fraction = 0;
    double gain = 0;
    double gain_bound = 0;
};

// Switches off one optimisation at a time, for tests and benchmarks: answers stay the same. `stop_after` ends
// a search without a clock, so that tests can check every unfinished search.
struct Switches {
    int kernel_depth = 3;  // levels that a kernel solves at once
    bool memo = true;      // cache solved subproblems
    bool merge = true;     // merge identical rows
    bool regroup = true;   // merge compatible binary columns
    bool bounds = true;
    bool sweep = true;    // tables of a side as differences of prefix sums
    bool share = true;    // cache sides that several row sets have in common
    bool fill = true;     // evaluate four cuts once, not once for each of them as the root
    int screen = 1;       // at depth three: 0 solves all in double precision, 2 screens all tables first
    int bisect = 100;     // bisect if a column has more nested cuts than this
    int stop_after = -1;  // tasks at the root: sides or columns of a sweep, cuts of a bisection
};

// How to run. Nothing here changes an answer that is proven optimal.
struct Control {
    double time_limit = 0;  // seconds; 0 is no limit
    int n_threads = 1;
    std::size_t memory_limit = std::size_t{1} << 31;     // bytes for caches
    bool wants_progress = false;                         // if not, should_stop gets an empty Progress
    std::function<bool(const Progress&)> should_stop{};  // polled from the calling thread
    std::vector<double> known_gains{};                   // gains of known trees, by number of splits: an
                                                         // unfinished search has better trees or a leaf
    Switches switches{};
};

enum class Status { optimal, time_limit, interrupted };

// A tree as arrays in preorder; a leaf has cut -1.
struct Tree {
    std::vector<int> cut, left, right;

    // Appends a leaf and returns its index.
    int add_leaf() {
        for (std::vector<int>* of : {&cut, &left, &right}) of->push_back(-1);
        return static_cast<int>(cut.size()) - 1;
    }
};

// Entry k is for trees of at most k splits.
struct Solution {
    Status status = Status::optimal;
    std::vector<double> gains;
    std::vector<double> gain_bounds;
    std::vector<Tree> trees;
    int proven_depth = 0;                       // the largest depth whose optimum is known
    std::uint64_t n_cuts = 0, n_evaluated = 0;  // cuts of all row sets, and cuts evaluated
};

Solution solve(const Problem& problem, const Limits& limits, const Control& control);

// Sums values (n_values x n_rows) over the rows of each node (n_values x nodes of all trees, tree by tree),
// in plain double precision: exact where values are whole numbers of a unit.
void sum_nodes(const Problem& problem, const std::vector<Tree>& trees, const double* values,
               std::size_t n_values, double* sums);

// Finds the leaf of each row.
void find_leaves(const Problem& problem, const Tree& tree, std::int32_t* leaf_of_row);

}  // namespace surtree
