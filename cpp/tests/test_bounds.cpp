// An unfinished search keeps its promise: after any number of tasks, the optimum lies between the gain of
// the best tree so far and the bound, for every number of splits.
#include "example.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

// Stops after 0, 1, 2, ... tasks until the search comes to its end.
void require_bounds(const Example& example, Control control, const std::vector<double>& optimum,
                    unsigned seed) {
    for (int last = 0;; ++last) {
        control.switches.stop_after = last;
        const Solution early = solve(example.problem, example.limits, control);
        CHECK(early.trees.size() == early.gains.size(), "seed %u, %d tasks", seed, last);
        for (std::size_t k = 0; k < early.gains.size(); ++k) {
            const double best = optimum[std::min(k, optimum.size() - 1)];
            CHECK(early.gains[k] <= best + tolerance(best), "seed %u, %d tasks, %zu splits: %.15g > %.15g",
                  seed, last, k, early.gains[k], best);
            CHECK(early.gain_bounds[k] >= best - tolerance(best),
                  "seed %u, %d tasks, %zu splits: bound %.15g < %.15g", seed, last, k, early.gain_bounds[k],
                  best);
            CHECK(k == 0 || early.gain_bounds[k] >= early.gain_bounds[k - 1], "seed %u, %d tasks", seed,
                  last);
            int splits = 0;
            const double gain = example.gain(early.trees[k], splits);
            CHECK(close(gain, early.gains[k]) && splits <= static_cast<int>(k),
                  "seed %u, %d tasks: the tree of at most %zu splits has %d and gains %.15g, not %.15g", seed,
                  last, k, splits, gain, early.gains[k]);
        }
        if (early.status != Status::optimal) continue;
        CHECK(last > 0 || optimum.size() <= 2, "seed %u: no task was needed", seed);
        return;
    }
}

std::vector<double> all_sizes(const Example& example) {
    std::vector<double> out;
    for (int k = 0; k <= example.limits.max_splits; ++k)
        out.push_back(example.best(example.all(), example.limits.max_depth, k));
    return out;
}

void set_limits(Example& example, int depth, unsigned seed) {
    const bool limited = seed % 2 == 1;
    example.set_limits(depth, (1 << depth) - 1, limited ? 2 : 1, limited ? 1 : 0);
}

// Against all trees. Kernels of one or two levels leave the sides of the root to tasks of their own.
TEST(bounds_hold_after_every_task) {
    for (unsigned seed = 0; seed < n_seeds(30); ++seed) {
        Example example(seed, {.n_rows = 12, .n_columns = 2, .most_bins = 4});
        for (const int depth : {2, 3}) {
            set_limits(example, depth, seed);
            const std::vector<double> optimum = all_sizes(example);
            for (const int kernel_depth : {1, 2, 3}) {
                Control control;
                control.switches.kernel_depth = kernel_depth;
                require_bounds(example, control, optimum, seed);
            }
            Control control;
            control.switches.bisect = 0;
            require_bounds(example, control, optimum, seed);
        }
    }
}

// Where trees are too many: against a search that came to its end. Depth 4 sweeps columns, depth 5 shares
// sides, and with a bound on time or a hook it does not.
TEST(bounds_of_deep_trees_hold_after_every_task) {
    for (unsigned seed = 0; seed < n_seeds(6); ++seed) {
        Example example(seed, {.n_rows = 40, .n_columns = 3, .n_bins = 4});
        for (const int depth : {4, 5}) {
            set_limits(example, depth, seed);
            const std::vector<double> optimum = solve(example.problem, example.limits, {}).gains;
            for (const bool may_end_early : {false, true})
                for (const int bisect : {0, 100}) {
                    Control control;
                    control.switches.bisect = bisect;
                    control.wants_progress = may_end_early;
                    require_bounds(example, control, optimum, seed);
                }
            // Few splits for so much depth: early trees are bushier than those of the end.
            example.limits.max_splits = depth + static_cast<int>(seed % 2);
            require_bounds(example, {}, optimum, seed);
        }
    }
}

TEST(a_stop_leaves_a_tree_and_a_bound) {
    for (const int bisect : {0, 100})
        for (const bool limited : {false, true}) {
            Example example(7, {.n_rows = 150, .n_columns = 4, .n_bins = 5});
            example.set_limits(5, 31, limited ? 9 : 1, limited ? 4 : 0);
            const Solution whole = solve(example.problem, example.limits, {});
            CHECK(whole.status == Status::optimal, "%d", static_cast<int>(whole.status));
            for (const double seconds : {1e-9, 0.002, 0.01}) {
                Control control;
                control.switches.bisect = bisect;
                control.time_limit = seconds;
                const Solution early = solve(example.problem, example.limits, control);
                CHECK(early.status == Status::time_limit || seconds > 1e-9, "not stopped");
                CHECK(early.trees.size() == whole.trees.size(), "%zu", early.trees.size());
                for (std::size_t k = 0; k < whole.gains.size(); ++k)
                    CHECK(early.gains[k] <= whole.gains[k] + 1e-9 &&
                              early.gain_bounds[k] >= whole.gains[k] - 1e-9,
                          "%zu splits: %g <= %g <= %g", k, early.gains[k], whole.gains[k],
                          early.gain_bounds[k]);
            }
        }
}

// Longer than a clock can count is no limit.
TEST(a_limit_of_ages_is_none) {
    Example example(7, {.n_rows = 150, .n_columns = 4, .n_bins = 5});
    example.set_limits(5, 31, 1, 0);
    for (const double seconds : {1e10, 1e300, static_cast<double>(INFINITY)}) {
        Control control;
        control.time_limit = seconds;
        const Solution found = solve(example.problem, example.limits, control);
        CHECK(found.status == Status::optimal, "%g seconds", seconds);
    }
}

}  // namespace
