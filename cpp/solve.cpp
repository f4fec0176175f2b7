// Picks the engine for a problem, and collects its solution.
#include <algorithm>
#include <numeric>

#include "columns/regroup.hpp"
#include "search/bisection.hpp"
#include "search/sweep.hpp"

namespace surtree {
namespace {

// From units of the grid to those of the caller.
void leave_grid(const Rows& rows, Solution& solution) {
    for (double& gain : solution.gains) gain *= rows.grid;
    for (double& bound : solution.gain_bounds) bound = (bound + rows.slack) * rows.grid;
}

template <class Search>
Solution run(Search& search, const Limits& limits) {
    Solution solution;
    solution.status = search.run();
    const bool is_optimal = solution.status == Status::optimal;
    solution.gains = search.gains();
    solution.gain_bounds = is_optimal ? solution.gains : search.gain_bounds();
    solution.proven_depth = is_optimal ? limits.max_depth : search.proven_depth();
    // A tree of k splits is no deeper than k.
    for (std::size_t k = 0; k <= at(solution.proven_depth) && k < solution.gains.size(); ++k)
        solution.gain_bounds[k] = solution.gains[k];
    return solution;
}

// An unfinished search need not build trees that are no better than those that the caller has: in large
// tables that takes longer than the time limit allows.
std::vector<bool> drop_known(const std::vector<double>& known, double grid, Solution& solution) {
    std::vector<bool> is_wanted(solution.gains.size(), true);
    if (solution.status == Status::optimal || known.empty()) return is_wanted;
    for (std::size_t k = 1; k < is_wanted.size(); ++k) {
        is_wanted[k] = solution.gains[k] > known[std::min(k, known.size() - 1)] / grid;
        if (!is_wanted[k]) solution.gains[k] = solution.gains[0];
    }
    return is_wanted;
}

}  // namespace

Solution solve(const Problem& problem, const Limits& limits, const Control& control) {
    Regrouped regrouped{problem, std::vector<int>(problem.cuts.size()), {}};
    std::iota(regrouped.cut_of.begin(), regrouped.cut_of.end(), 0);
    if (control.switches.regroup) regrouped = regroup(problem);
    const bool bisects = problem.objective->is_monotone && limits.max_depth > 1 && limits.max_splits > 1 &&
                         problem.n_rows > 2 && longest_chain(regrouped.problem) > control.switches.bisect;
    if (bisects) {
        Bisection search(regrouped.problem, limits, control);
        Solution solution = run(search, limits);
        solution.n_cuts = search.n_cuts();
        solution.n_evaluated = search.n_evaluated();
        const std::vector<bool> is_wanted = drop_known(control.known_gains, search.rows().grid, solution);
        solution.trees = build_trees(search, solution.status, regrouped.cut_of, is_wanted);
        leave_grid(search.rows(), solution);
        return solution;
    }
    SweepSearch search(regrouped.problem, limits, control);
    Solution solution = run(search, limits);
    const Profile gains = solution.gains;
    const std::vector<bool> is_wanted = drop_known(control.known_gains, search.rows().grid, solution);
    solution.trees = build_trees(search, gains, regrouped.cut_of, is_wanted);
    leave_grid(search.rows(), solution);
    return solution;
}

}  // namespace surtree
