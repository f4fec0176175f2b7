// From a finished search to the trees: values were kept without the choices behind them, and of the few
// sets of rows that the best trees consist of the choices are found again.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "columns/regroup.hpp"
#include "search/bisection_trees.hpp"
#include "search/sweep.hpp"

namespace surtree {
namespace {

// Of equally good trees: the fewest splits, then the first column, then the first cut.
class TreeBuilder {
 public:
    TreeBuilder(SweepSearch& search, const std::vector<int>& cut_of) : search_(search), cut_of_(cut_of) {}

    Tree build(int k, const Profile& gains) {
        Tree out;
        const Profile of_sides = search_.gains_of_sides();
        if (of_sides[at(k)] < gains[at(k)] - search_.tie()) {
            build_ahead(*search_.look_ahead(), search_.rows().all, k, out);
            return out;
        }
        const int node = add_node(out), splits = fewest(k, of_sides);
        if (splits == 0) return out;
        const auto& sides = search_.root_sides();
        const Choice choice =
            choose(splits, [&](int side) -> const Profile& { return sides[at(side)].profile; });
        const int side = search_.first_side(search_.columns()[at(choice.column)]) + choice.cut;
        build_children(search_.rows().all, choice, sides[at(search_.opposite(side))].depth,
                       sides[at(side)].depth, node, out);
        return out;
    }

 private:
    // A cut of a column, and how many splits go to either side of it.
    struct Choice {
        int column = -1, cut = -1, yes = 0, no = 0;
    };

    // Calls back with every way to spend a number of splits.
    template <class ProfileOf, class Consider>
    void for_each_choice(int splits, const ProfileOf& profile_of, const Consider& consider) const {
        for (int c = 0; c < static_cast<int>(search_.columns().size()); ++c) {
            const Column& column = search_.columns()[at(c)];
            for (int cut = 0; cut < column.n_cuts; ++cut) {
                const Profile& yes = profile_of(search_.first_side(column) + cut);
                const Profile& no = profile_of(search_.first_side(column) + cut + column.n_cuts);
                for (int i = std::max(0, splits - static_cast<int>(no.size()));
                     i < std::min(splits, static_cast<int>(yes.size())); ++i)
                    consider(Choice{c, cut, i, splits - 1 - i}, yes[at(i)] + no[at(splits - 1 - i)]);
            }
        }
    }

    template <class ProfileOf>
    Choice choose(int splits, const ProfileOf& profile_of) const {
        double most = 2 * infeasible;
        for_each_choice(splits, profile_of, [&](const Choice&, double gain) { most = std::max(most, gain); });
        Choice chosen;
        for_each_choice(splits, profile_of, [&](const Choice& choice, double gain) {
            if (gain < most - search_.tie()) return;
            if (chosen.cut < 0 || original(choice) < original(chosen)) chosen = choice;
        });
        return chosen;
    }

    int original(const Choice& choice) const {
        return cut_of_[at(search_.columns()[at(choice.column)].first_cut + choice.cut)];
    }

    int fewest(int k, const Profile& gains) const { return fewest_splits(k, gains, search_.tie()); }

    void build_children(const RowSet& rows, const Choice& choice, int depth_no, int depth_yes, int node,
                        Tree& out) {
        const Column& column = search_.columns()[at(choice.column)];
        out.cut[at(node)] = original(choice);
        for (const bool holds : {false, true}) {
            (holds ? out.right : out.left)[at(node)] = static_cast<int>(out.cut.size());
            if ((holds ? choice.yes : choice.no) == 0) {
                add_node(out);
                continue;
            }
            RowSet child;
            take_rows(rows, choice.column, column.whole(), holds ? choice.cut : choice.cut + column.n_cuts,
                      child);
            build_node(child, holds ? depth_yes : depth_no, holds ? choice.yes : choice.no, out);
        }
    }

    void build_node(const RowSet& rows, int depth, int k, Tree& out) {
        const int node = add_node(out);
        if (k == 0 || rows.n == 1) return;
        const SweepSearch::Solved& solved = solved_again(rows, depth);
        const int splits = fewest(std::min(k, static_cast<int>(solved.profile.size()) - 1), solved.profile);
        if (splits == 0) return;
        const Choice choice =
            choose(splits, [&](int side) -> const Profile& { return solved.sides[at(side)]; });
        build_children(rows, choice, depth - 1, depth - 1, node, out);
    }

    void build_ahead(const SweepSearch::LookAhead& ahead, const RowSet& rows, int k, Tree& out) {
        const int splits = fewest(std::min(k, static_cast<int>(ahead.profile.size()) - 1), ahead.profile);
        const int exact = std::min(splits, static_cast<int>(ahead.exact.size()) - 1);
        if (ahead.exact[at(exact)] >= ahead.profile[at(splits)] - search_.tie())
            return build_node(rows, ahead.depth, exact, out);
        Choice choice{ahead.column, ahead.cut, 0, 0};
        double most = 2 * infeasible;
        const Profile &yes = ahead.yes->profile, &no = ahead.no->profile;
        for (int i = 0; i < std::min(splits, static_cast<int>(yes.size())); ++i) {
            const int j = std::min(splits - 1 - i, static_cast<int>(no.size()) - 1);
            if (yes[at(i)] + no[at(j)] <= most) continue;
            most = yes[at(i)] + no[at(j)];
            choice.yes = i;
            choice.no = j;
        }
        const int node = add_node(out);
        const Column& column = search_.columns()[at(choice.column)];
        out.cut[at(node)] = original(choice);
        for (const bool holds : {false, true}) {
            RowSet child;
            take_rows(rows, choice.column, column.whole(), holds ? choice.cut : choice.cut + column.n_cuts,
                      child);
            (holds ? out.right : out.left)[at(node)] = static_cast<int>(out.cut.size());
            build_ahead(holds ? *ahead.yes : *ahead.no, child, holds ? choice.yes : choice.no, out);
        }
    }

    // Trees of different sizes share many of their parts.
    const SweepSearch::Solved& solved_again(const RowSet& rows, int depth) {
        RowSetHash hash;
        for (const RowSetHash& row : rows.hashes) hash = hash + row;
        const std::array name{static_cast<std::uint64_t>(depth), hash.low, hash.high};
        const auto place = again_.find(name);
        if (place != again_.end()) return place->second;
        return again_.emplace(name, search_.solve_again(rows, depth, worker_)).first->second;
    }

    SweepSearch& search_;
    const std::vector<int>& cut_of_;
    Worker worker_;
    std::map<std::array<std::uint64_t, 3>, SweepSearch::Solved> again_;
};

// From units of the grid to those of the user's weights.
void leave_grid(const Rows& rows, Solution& solution) {
    for (double& gain : solution.gains) gain *= rows.grid;
    for (double& bound : solution.gain_bounds) bound = (bound + rows.slack) * rows.grid;
}

Solution solve_by_bisection(const Regrouped& regrouped, const Limits& limits, const Control& control) {
    Bisection search(regrouped.problem, limits, control);
    Solution solution;
    solution.status = search.run();
    solution.gains = search.gains();
    solution.gain_bounds = solution.status == Status::optimal ? solution.gains : search.gain_bounds();
    solution.n_cuts = search.n_cuts();
    solution.n_evaluated = search.n_evaluated();
    BisectionTrees trees(search, solution.status, regrouped.cut_of);
    for (int k = 0; k <= search.n_splits(); ++k) solution.trees.push_back(trees.build(k));
    leave_grid(search.rows(), solution);
    return solution;
}

}  // namespace

Solution solve(const Problem& problem, const Limits& limits, const Control& control) {
    Regrouped regrouped{problem, std::vector<int>(problem.cuts.size()), {}};
    std::iota(regrouped.cut_of.begin(), regrouped.cut_of.end(), 0);
    if (control.switches.regroup) regrouped = regroup(problem);
    if (longest_chain(regrouped.problem) > control.switches.bisect && limits.max_depth > 1 &&
        limits.max_splits > 1 && problem.n_rows > 2)
        return solve_by_bisection(regrouped, limits, control);
    SweepSearch search(regrouped.problem, limits, control);
    Solution solution;
    solution.status = search.run();
    solution.gains = search.gains();
    solution.gain_bounds = solution.status == Status::optimal ? solution.gains : search.gain_bounds();
    TreeBuilder builder(search, regrouped.cut_of);
    for (int k = 0; k <= search.n_splits(); ++k) solution.trees.push_back(builder.build(k, solution.gains));
    leave_grid(search.rows(), solution);
    return solution;
}

}  // namespace surtree
