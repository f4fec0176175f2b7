// Picks the engine for a problem, and collects its solution.
#include <algorithm>
#include <limits>

#include "columns/regroup.hpp"
#include "search/bisection.hpp"
#include "search/sweep.hpp"

namespace surtree {
namespace {

// Seconds after the end of the time that trees are built for: those of few sizes are built in less.
constexpr double patience_for_trees = 0.1;

// From units of the grid to those of the caller.
void leave_grid(const Rows& rows, Solution& solution) {
    for (double& gain : solution.gains) gain *= rows.grid;
    for (double& bound : solution.gain_bounds) bound = (bound + rows.slack) * rows.grid;
}

template <class Search, class... Options>
Solution run(Search& search, const Limits& limits, Options... options) {
    Solution solution;
    solution.status = search.run(options...);
    const bool is_optimal = solution.status == Status::optimal && ((options == 0) && ...);
    solution.gains = search.gains();
    solution.gain_bounds = is_optimal ? solution.gains : search.gain_bounds();
    solution.proven_depth = is_optimal ? limits.max_depth : search.proven_depth();
    // A tree of k splits is no deeper than k.
    for (std::size_t k = 0; k <= at(solution.proven_depth) && k < solution.gains.size(); ++k)
        solution.gain_bounds[k] = solution.gains[k];
    return solution;
}

// An unfinished search need not build trees that are no better than those that the caller has: in large
// tables that takes longer than the time limit allows. Neither need one for trees that begin with some cuts,
// but for those that are as good: they may come first.
std::vector<bool> drop_known(const std::vector<double>& known, const Rows& rows, bool keeps_equals,
                             Solution& solution) {
    std::vector<bool> is_wanted(solution.gains.size(), true);
    if (known.empty()) return is_wanted;
    for (std::size_t k = 1; k < is_wanted.size(); ++k) {
        double gain = known[std::min(k, known.size() - 1)] / rows.grid;
        if (keeps_equals) gain = a_little_less(gain, rows.scale);
        is_wanted[k] = solution.gains[k] > gain;
        if (!is_wanted[k]) solution.gains[k] = solution.gains[0];
    }
    return is_wanted;
}

// One run of the bisection; its trees, or those before where they are no worse.
Solution bisect_once(Bisection& search, double tolerance, const std::vector<int>& cut_of,
                     const Limits& limits, const std::vector<double>& known, Solution before) {
    Solution found = run(search, limits, tolerance);
    found.n_cuts = search.n_cuts();
    found.n_evaluated = search.n_evaluated();
    const bool is_proven = found.status == Status::optimal && tolerance == 0;
    std::vector<bool> is_wanted(found.gains.size(), true);
    if (!is_proven || !search.problem().all_lead())
        is_wanted = drop_known(known, search.rows(), is_proven, found);
    found.trees = build_trees(search, is_proven ? Status::optimal : Status::interrupted, cut_of, is_wanted);
    for (std::size_t k = 0; !is_proven && k < before.gains.size(); ++k) {
        if (is_wanted[k]) continue;
        found.gains[k] = before.gains[k];
        found.trees[k] = std::move(before.trees[k]);
    }
    return found;
}

Solution bisect(const Regrouped& regrouped, const Limits& limits, const Control& control) {
    Bisection search(regrouped.problem, limits, control);
    const double grid = search.rows().grid;
    std::vector<double> known = control.known_gains;
    Solution found;
    bool proof_is_next = false;
    for (const Stage& stage : plan_bisection(limits, control).stages) {
        if (proof_is_next && stage.tolerance > 0) continue;
        const double start = search.seconds();
        found = bisect_once(search, stage.tolerance, regrouped.cut_of, limits, known, std::move(found));
        if (found.status != Status::optimal || stage.tolerance == 0) break;
        known.resize(found.gains.size(), -std::numeric_limits<double>::infinity());
        for (std::size_t k = 0; k < known.size(); ++k) known[k] = std::max(known[k], found.gains[k] * grid);
        const double now = search.seconds();
        proof_is_next = proof_fits(now, now - start, stage.tolerance, control);
    }
    leave_grid(search.rows(), found);
    return found;
}

}  // namespace

Solution solve(const Problem& problem, const Limits& limits, const Control& control) {
    const Regrouped columns = regrouped(problem, control.switches);
    if (bisects(columns.problem, limits, control)) return bisect(columns, limits, control);
    SweepSearch search(columns.problem, limits, control);
    Solution solution = run(search, limits);
    const Profile gains = solution.gains;
    std::vector<bool> is_wanted(gains.size(), true);
    const bool is_proven = solution.status == Status::optimal;
    if (!is_proven || !problem.all_lead())
        is_wanted = drop_known(control.known_gains, search.rows(), is_proven, solution);
    std::function<bool()> is_over;
    if (solution.status == Status::time_limit)
        is_over = [&] { return search.seconds() > control.time_limit + patience_for_trees; };
    const std::vector<bool> asked = is_wanted;
    solution.trees = build_trees(search, gains, columns.cut_of, is_wanted, is_over);
    for (std::size_t k = 1; k < asked.size(); ++k)
        if (asked[k] && !is_wanted[k]) solution.gains[k] = solution.gains[k - 1];
    leave_grid(search.rows(), solution);
    return solution;
}

Plan plan(const Problem& problem, const Limits& limits, const Control& control) {
    const Regrouped columns = regrouped(problem, control.switches);
    if (bisects(columns.problem, limits, control)) return plan_bisection(limits, control);
    return SweepSearch(columns.problem, limits, control).plan();
}

}  // namespace surtree
