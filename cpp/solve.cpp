// Picks the engine for a problem, and collects its solution.
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
Solution run(Search& search) {
    Solution solution;
    solution.status = search.run();
    solution.gains = search.gains();
    solution.gain_bounds = solution.status == Status::optimal ? solution.gains : search.gain_bounds();
    return solution;
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
        Solution solution = run(search);
        solution.n_cuts = search.n_cuts();
        solution.n_evaluated = search.n_evaluated();
        solution.trees = build_trees(search, solution.status, regrouped.cut_of);
        leave_grid(search.rows(), solution);
        return solution;
    }
    SweepSearch search(regrouped.problem, limits, control);
    Solution solution = run(search);
    solution.trees = build_trees(search, solution.gains, regrouped.cut_of);
    leave_grid(search.rows(), solution);
    return solution;
}

}  // namespace surtree
