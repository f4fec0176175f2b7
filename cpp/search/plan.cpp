#include "search/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "columns/chains.hpp"
#include "columns/regroup.hpp"
#include "rows/leaf.hpp"
#include "search/table_solver.hpp"
#include "search/workers.hpp"

namespace surtree {
namespace {

// Seconds: to add a row to a table, to evaluate a cell, to clear and add up a cell of a table, and what a
// table takes besides.
constexpr double add = 1.3e-9, evaluate = 1.6e-9, clear = 1.5e-9, begin = 1e-6;

// Steps of the kernels (a row that is added to a table, or a cell of one) that are quick.
constexpr double quick_steps = 2e6, quick_incumbent_steps = 1e7;

// The shares of the work at a depth that are done before its sides are solved.
constexpr double share_of_stumps = 0.9, share_of_side_cache = 2.0 / 3, share_of_screening = 0.9;

// What the second level that kernels do not solve takes, and those beyond, against as many rows and cuts.
constexpr double share_of_second_level = 0.5, share_of_deep_level = 0.65;

constexpr double tolerances[] = {0.4, 0.27, 0.18, 0.12, 0.08, 0.05, 0.03};
// A proof takes about so many times as long as a run with tolerance one would.
constexpr double proof_by_tolerance = 125;
// A search that should take so many times as long as it may is begun as one that ends in time.
constexpr double hope = 1.5;
// Seconds of preparations, for each column and each cell of the table.
constexpr double prepare_column = 5e-5, prepare_cell = 1e-8;
// Screening makes depth three over many columns faster.
constexpr double many_tables = 500, screening_gain = 4;

constexpr double patience = 60;  // seconds that a proof may take where no time limit says it

}  // namespace

Workload::Workload(const Problem& problem, int n_rows_, int width_, int depth_, int kernel_depth_)
    : n_rows(n_rows_), width(width_), depth(depth_), kernel_depth(kernel_depth_) {
    std::vector<int> n_cuts(problem.n_columns, 0);
    for (const Cut& cut : problem.cuts) ++n_cuts[at(cut.column)];
    for (std::size_t c = 0; c < problem.n_columns; ++c)
        if (n_cuts[c] > 0) axes.push_back({n_cuts[c], problem.n_bins[c]});
    n_sides = 2 * static_cast<double>(problem.cuts.size());
    const int n = std::min(static_cast<int>(axes.size()), 3);
    if (n == 0) return;
    n_tables = sets_of(n);
    tables_size = width * sum_of_products(n, [](const Axis& axis) -> double { return axis.n_bins; });
}

// The sum over all sets of so many columns of the product of a number of each of them.
double Workload::sum_of_products(int n, double (*number)(const Axis&)) const {
    std::vector<double> sums(at(n) + 1, 0.0);
    sums[0] = 1;
    for (const Axis& axis : axes)
        for (std::size_t k = at(n); k > 0; --k) sums[k] += sums[k - 1] * number(axis);
    return sums[at(n)];
}

double Workload::sets_of(int n) const {
    return sum_of_products(n, [](const Axis&) { return 1.0; });
}

// The time to evaluate the tables over so many columns, without adding rows to them.
double Workload::seconds_of_cells(int n) const {
    return (sum_of_products(n, [](const Axis& axis) { return 2.0 * axis.n_cuts; }) * evaluate +
            sum_of_products(n, [](const Axis& axis) -> double { return axis.n_bins; }) * clear) *
           (0.5 + 0.25 * width);
}

double Workload::seconds_to_fill_stumps() const {
    // Then each side of the root needs tables of its rows over pairs.
    const double of_sides = n_sides * n_rows * add * sets_of(2);
    return of_sides + sets_of(4) * (n_rows * add + begin) + seconds_of_cells(4);
}

double Workload::seconds_to_sweep() const {
    const bool is_shared = can_sweep_root();
    const double n_sets = sets_of(3);
    const double of_side = n_sets * begin / 10 + seconds_of_cells(3);
    return n_sides * of_side * (is_shared ? 0.7 : 1.0) +
           n_rows * add * n_sets * (is_shared ? static_cast<double>(axes.size()) : n_sides / 2);
}

// Adding a row to a table costs about as much as copying ten numbers.
bool Workload::sweep_pays(int n_bins, int n_rows_of_set, double n_rows_of_sides) const {
    if (kernel_depth < sweep_depth || tables_size * (n_bins + 1) > static_cast<double>(max_running_tables))
        return false;
    return (n_rows_of_sides - n_rows_of_set) * n_tables > 0.1 * tables_size * n_bins;
}

// Beyond the kernels, each level is one for every side of the root, but sets of rows that the sides have in
// common are solved once: k cuts come in k! orders. They have fewer rows and fewer cuts than all.
double Workload::seconds_to_solve(int of_depth) const {
    const int levels = of_depth - kernel_depth, n = std::min(of_depth, kernel_depth);
    double seconds = n_rows * add * sets_of(n) + seconds_of_cells(n);
    if (levels > 0) {
        seconds = kernel_depth == sweep_depth ? seconds_to_sweep() : n_sides * seconds;
        if (levels == 1 && depth == of_depth) seconds = std::min(seconds, seconds_to_fill_stumps());
    }
    for (int level = 2; level <= levels; ++level)
        seconds *= (level == 2 ? share_of_second_level : share_of_deep_level) * n_sides / level;
    return seconds;
}

double Workload::seconds_to_end(bool has_side_cache) const {
    double seconds = 0;
    for (int d = kernel_depth; d <= depth; ++d)
        if (d != side_cache_depth - 1 || d == depth || !has_side_cache) seconds += seconds_to_solve(d);
    return seconds;
}

bool Workload::is_quick(int of_depth) const {
    double n_steps = kernel_steps(1);
    for (int d = kernel_depth; d < of_depth; ++d) n_steps *= n_sides;
    return n_steps < quick_steps;
}

// For the incumbent the kernels solve every set of rows in a tree.
bool Workload::finds_incumbent_quickly() const {
    const int levels = depth - kernel_depth;
    const double n_sets = std::min(std::ldexp(1.0, levels), static_cast<double>(n_rows));
    return levels * kernel_steps(n_sets) < quick_incumbent_steps;
}

// The steps of the kernels, if the rows are divided into so many sets.
double Workload::kernel_steps(double n_sets) const {
    const auto n_columns = static_cast<double>(axes.size());
    return n_rows * n_columns * n_columns * n_columns / 6 + 8 * n_sets * tables_size;
}

int kernel_depth(const Problem& problem, int depth, const Control& control) {
    // Half of the memory is for the kernels: of one thread for the root, of all threads for its sides. A
    // little they may always have.
    constexpr std::size_t least = std::size_t{1} << 26;
    const std::size_t n_kernels = depth > sweep_depth ? at(std::max(1, control.n_threads)) : 1;
    return TableSolver::deepest(problem, std::min(depth, control.switches.kernel_depth),
                                std::max(least, control.memory_limit / 2 / n_kernels));
}

std::size_t bytes_of_threads(const Problem& problem, const Workload& load, const Control& control) {
    if (load.kernel_depth < sweep_depth) return 0;
    if (load.depth == sweep_depth) return TableSolver::bytes_of_depth_three(problem);
    int most_bins = 0;
    for (const int n : problem.n_bins) most_bins = std::max(most_bins, n);
    const double all_bins = load.tables_size * (most_bins + 2);
    const std::size_t tables =
        all_bins > static_cast<double>(max_running_tables) ? 0 : static_cast<std::size_t>(all_bins);
    return at(std::max(1, control.n_threads)) *
           (TableSolver::bytes_of_depth_three(problem) + tables * sizeof(double));
}

// One more level at a time: each leaves a whole tree, and the order in which to go on.
Plan plan_sweep(const Workload& load, const Means& means, const Control& control) {
    Plan out{"sweep"};
    if (load.depth == 0 || load.n_sides == 0) return out;
    const bool may_end_early = is_timed(control) || control.wants_progress;
    const int n_threads = std::max(1, control.n_threads);
    const bool ends_in_time = is_timed(control) && load.seconds_to_end(means.has_side_cache) / n_threads <
                                                       hope * control.time_limit;
    // The kernels solve their levels at once, which takes long where there are many columns.
    const int first = may_end_early && !load.is_quick(load.kernel_depth) ? 1 : load.kernel_depth;
    for (int depth = first; depth <= load.depth; ++depth) {
        // The depth before the side cache is used only leaves a tree, for searches that may be stopped early.
        if (depth == side_cache_depth - 1 && means.has_side_cache && (!may_end_early || ends_in_time))
            continue;
        const double seconds = load.seconds_to_solve(depth);
        Stage solve{.depth = depth, .seconds = seconds, .is_quick = load.is_quick(depth)};
        double share = 0;
        const auto prepare = [&](Step step, double share_of_step, double seconds_ahead) {
            Stage& stage = out.stages.emplace_back(solve);
            stage.step = step;
            stage.share = share = share_of_step;
            stage.seconds = seconds * share;
            stage.seconds_ahead = seconds_ahead;
        };
        // No side of the root is solved before the cache is filled for all. Where time may end before, the
        // most promising sides are solved first instead.
        if (depth == side_cache_depth && means.has_side_cache && means.all_lead)
            prepare(Step::fill_side_cache, share_of_side_cache, seconds / n_threads / hope);
        // Nothing is proven before all stumps are found, so they or all must be within the time. A sweep
        // stores what it finds in the cleared table, which pays if it may end in time.
        if (depth == load.kernel_depth + 1 && means.has_stumps) {
            const double ahead = ends_in_time ? 0 : load.seconds_to_fill_stumps() / n_threads;
            prepare(Step::clear_stumps, 0, ahead);
            prepare(Step::fill_stumps, share_of_stumps, 2 * ahead);
        }
        if (depth == load.depth && means.may_screen) prepare(Step::screen, share_of_screening, 0);
        solve.by_column = depth == sweep_depth + 1;
        solve.seconds = seconds * (1 - share);
        out.stages.push_back(solve);
        if (depth == load.kernel_depth && depth + 1 < load.depth)
            out.stages.push_back({.step = Step::find_incumbent,
                                  .depth = depth,
                                  .seconds = seconds * (load.depth - depth),
                                  .is_quick = load.finds_incumbent_quickly()});
    }
    return out;
}

Seconds estimate(const Problem& problem, const Limits& limits, const Control& control) {
    const Regrouped columns = regrouped(problem, control.switches);
    const Problem& grouped = columns.problem;
    const auto n_columns = static_cast<double>(problem.n_columns);
    Seconds out{n_columns * (prepare_column + prepare_cell * static_cast<double>(problem.n_rows)), 0};
    out.in_all = out.to_prepare;
    const int depth = static_cast<int>(split_budgets(limits, static_cast<int>(problem.n_rows)).size()) - 1;
    if (depth == 0 || grouped.cuts.empty()) return out;
    if (bisects(grouped, limits, control)) {
        // The leaves of all trees with some cuts on a path, in any order: an order of magnitude.
        const double n_sides = 2 * static_cast<double>(grouped.cuts.size());
        out.in_all += evaluate * std::exp(depth * std::log(n_sides) - std::lgamma(depth + 1));
        return out;
    }
    double n_rows = 1;  // distinct ones, at most
    for (const int n : grouped.n_bins) n_rows = std::min(n_rows * n, static_cast<double>(problem.n_rows));
    const Workload load(grouped, static_cast<int>(n_rows), LeafValue(grouped, limits, grouped.grid).width(),
                        depth, kernel_depth(grouped, depth, control));
    const double seconds =
        load.seconds_to_end(load.kernel_depth == sweep_depth) / std::max(1, control.n_threads);
    out.in_all += depth == sweep_depth && load.n_tables > many_tables ? seconds / screening_gain : seconds;
    return out;
}

bool screened_sums_fit(std::vector<std::size_t> n_lines) {
    std::sort(n_lines.rbegin(), n_lines.rend());
    return n_lines[0] * n_lines[1] * n_lines[2] <= std::size_t{1} << 13;
}

bool screening_pays(double n_lanes, int n_axes) {
    const double n = n_axes;
    return n_lanes < 2 * n * (n - 1) * (n - 2) / 6;
}

bool has_screened_enough(std::size_t n_open, const Columns& columns) { return n_open <= at(columns.size()); }

bool bisects(const Problem& problem, const Limits& limits, const Control& control) {
    return problem.objective->is_monotone && limits.max_depth > 1 && limits.max_splits > 1 &&
           problem.n_rows > 2 && longest_chain(problem) > control.switches.bisect;
}

// A search that may be ended early first proves what takes little: that no tree is better by more than a
// share of the loss, and then by less and less. Where a run was so short that the search should end in time,
// the proof itself comes next.
Plan plan_bisection(const Limits& limits, const Control& control) {
    Plan out{"bisection"};
    const Stage proof{.step = Step::bisect, .depth = limits.max_depth};
    if (limits.max_depth > 2 && (is_timed(control) || control.wants_progress))
        for (const double tolerance : tolerances) out.stages.emplace_back(proof).tolerance = tolerance;
    out.stages.push_back(proof);
    return out;
}

bool proof_fits(double elapsed, double seconds, double tolerance, const Control& control) {
    const double whole = seconds * proof_by_tolerance * tolerance;
    return elapsed + whole < (is_timed(control) ? control.time_limit : patience);
}

std::string Plan::text() const {
    constexpr const char* names[] = {"fill side cache", "clear stumps",   "fill stumps", "screen",
                                     "solve",           "find incumbent", "bisect"};
    std::string out = engine + "\n";
    const auto write = [&out](const char* format, auto... values) {
        char text[80];
        std::snprintf(text, sizeof text, format, values...);
        out += text;
    };
    for (const Stage& stage : stages) {
        write("depth %d: %s", stage.depth, names[static_cast<int>(stage.step)]);
        if (stage.tolerance > 0) write(" within %g of the loss", stage.tolerance);
        if (stage.seconds > 0) write(", about %.2g s", stage.seconds);
        out += "\n";
    }
    return out;
}

}  // namespace surtree
