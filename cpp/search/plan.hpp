// The plan of a search: its stages, and every estimate of cost that they follow from.
//
// Estimates choose among ways to the same answer, and say what a search that may be stopped does first. They
// are measured; a factor of two more or less changes nothing but the time.
#pragma once

#include <string>
#include <vector>

#include "columns/regions.hpp"

namespace surtree {

enum class Step { fill_side_cache, clear_stumps, fill_stumps, screen, solve, find_incumbent, bisect };

struct Stage {
    Step step = Step::solve;
    int depth = 0;           // of the trees
    double seconds = 0;      // the estimate for one thread; zero: none
    bool is_quick = false;   // it finishes in a few milliseconds: threads would cost more than they save, and
                             // cancellation need not be polled
    bool by_column = false;  // a task is a column, not a side of a cut
    double share = 0;        // of the work at its depth: the rest is that of the `solve` that it prepares
    double tolerance = 0;    // of a bisection: the share of the loss up to which it proves the optimum

    // A stage that leaves no tree is left out unless so much fits into the time limit.
    double seconds_ahead = 0;
    bool fits(double elapsed, double time_limit) const {
        return seconds_ahead == 0 || elapsed + seconds_ahead < time_limit;
    }
    // Whether what leaves no tree would take more than all the time, seen from where it is: a pair of sides
    // is solved with the first of the two.
    bool is_late(double start, double elapsed, double done, double time_limit) const {
        const double whole = (elapsed - start) / (1 - (1 - done) * (1 - done));
        return elapsed > 0.1 * time_limit && start + whole > 1.1 * time_limit;
    }
};

struct Plan {
    std::string engine;
    std::vector<Stage> stages{};

    std::string text() const;  // a line for each stage
};

// The plan that `solve` follows.
Plan plan(const Problem& problem, const Limits& limits, const Control& control);

// Seconds of a search without a time limit on these threads, by the sizes of the table: what it prepares,
// deaf to the clock, and all of it.
struct Seconds {
    double to_prepare, in_all;
};
Seconds estimate(const Problem& problem, const Limits& limits, const Control& control);

// Kernels of this depth are swept: tables of sides are differences of running tables, of so many doubles.
constexpr int sweep_depth = 3;
constexpr std::size_t max_running_tables = std::size_t{1} << 24;
// The depth whose searches share depth-two results two levels below the root.
constexpr int side_cache_depth = 5;

// The sizes that the costs of a sweep depend on.
struct Workload {
    struct Axis {
        int n_cuts, n_bins;
    };
    std::vector<Axis> axes;  // columns with cuts
    int n_rows;              // distinct ones
    int width;               // of the sums of a row
    int depth, kernel_depth;
    double n_sides = 0, n_tables = 0, tables_size = 0;  // tables over three columns, and all their doubles

    Workload(const Problem& problem, int n_rows, int width, int depth, int kernel_depth);

    double seconds_to_fill_stumps() const;
    double seconds_to_sweep() const;  // all sides of the root, at the depth after that of the kernels
    bool stumps_pay() const { return seconds_to_fill_stumps() < seconds_to_sweep(); }

    // Whether running tables of a column pay for a set of rows whose sides have so many rows together.
    bool sweep_pays(int n_bins, int n_rows_of_set, double n_rows_of_sides) const;

    double seconds_to_solve(int depth) const;
    double seconds_to_end(bool has_side_cache) const;  // all depths
    bool is_quick(int depth) const;
    bool finds_incumbent_quickly() const;

 private:
    bool can_sweep_root() const { return tables_size <= static_cast<double>(max_running_tables) / 8; }
    double kernel_steps(double n_sets) const;
    double sum_of_products(int n, double (*number)(const Axis&)) const;
    double sets_of(int n) const;
    double seconds_of_cells(int n) const;
};

// The levels that kernels solve at once, and what they and running tables take of the memory on all threads.
int kernel_depth(const Problem& problem, int depth, const Control& control);
std::size_t bytes_of_threads(const Problem& problem, const Workload& load, const Control& control);

// The means that a sweep has.
struct Means {
    bool all_lead;  // all cuts may be the first one
    bool has_stumps, has_side_cache, may_screen;
};
Plan plan_sweep(const Workload& load, const Means& means, const Control& control);

// Screening pays if the sums over three axes stay in the cache, and if most lanes are of use: in double
// precision a triple takes several times as long. Afterwards few cuts should be open.
bool screened_sums_fit(std::vector<std::size_t> n_lines);
bool screening_pays(double n_lanes, int n_axes);
bool has_screened_enough(std::size_t n_open, const Columns& columns);

bool bisects(const Problem& problem, const Limits& limits, const Control& control);
Plan plan_bisection(const Limits& limits, const Control& control);
// Whether the proof should end in time, after a run with a tolerance that took so many seconds.
bool proof_fits(double elapsed, double seconds, double tolerance, const Control& control);

}  // namespace surtree
