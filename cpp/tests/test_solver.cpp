// The core without Python: against a recursion that looks at every tree, on random small problems.
#include "example.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

Control bisecting() {
    Control control;
    control.switches.bisect = 0;
    return control;
}

void require_optimum(const Control& control) {
    for (unsigned seed = 0; seed < n_seeds(300); ++seed) {
        Example example(seed);
        example.limits.max_depth = std::min(example.limits.max_depth, 3);
        example.limits.max_splits = std::min(example.limits.max_splits, 4);
        const Solution solution = solve(example.problem, example.limits, control);
        for (std::size_t k = 0; k < solution.gains.size(); ++k) {
            const double expected =
                example.best(example.all(), example.limits.max_depth, static_cast<int>(k));
            CHECK(close(solution.gains[k], expected), "seed %u, %zu splits: %.15g, not %.15g", seed, k,
                  solution.gains[k], expected);
            int splits = 0;
            const double of_tree = example.gain(solution.trees[k], splits);
            CHECK(close(of_tree, expected) && splits <= static_cast<int>(k), "seed %u: tree %.15g", seed,
                  of_tree);
        }
    }
}

TEST(sweep_finds_the_best_of_all_trees) { require_optimum({}); }
TEST(bisection_finds_the_best_of_all_trees) { require_optimum(bisecting()); }

// Of trees that gain the same, the one with the fewest splits: no split of it can be taken back.
void require_fewest_splits(const Control& control) {
    for (unsigned seed = 0; seed < n_seeds(200); ++seed) {
        Example example(seed, {.n_rows = 8, .most_bins = 3});
        example.set_limits(3, 7, 1, 0);
        const Solution solution = solve(example.problem, example.limits, control);
        for (std::size_t k = 0; k < solution.gains.size(); ++k) {
            int splits = 0;
            example.gain(solution.trees[k], splits);
            const double fewer = splits == 0 ? -INFINITY : solution.gains[at(splits - 1)];
            CHECK(fewer < solution.gains[k] - 1e-9, "seed %u: %d splits, fewer would do", seed, splits);
        }
    }
}

TEST(sweep_takes_the_fewest_splits) { require_fewest_splits({}); }
TEST(bisection_takes_the_fewest_splits) { require_fewest_splits(bisecting()); }

void require_same_with_threads(const Control& control) {
    for (unsigned seed = 0; seed < n_seeds(100); ++seed) {
        Example example(seed);
        example.set_limits(4, 15, 1, 0);
        Control two = control;
        two.n_threads = 2;
        const Solution a = solve(example.problem, example.limits, {});
        const Solution b = solve(example.problem, example.limits, two);
        for (std::size_t k = 0; k < a.gains.size(); ++k)
            CHECK(close(a.gains[k], b.gains[k]), "seed %u", seed);
        for (std::size_t k = 0; k < a.trees.size(); ++k)
            CHECK(a.trees[k].cut == b.trees[k].cut && a.trees[k].left == b.trees[k].left, "seed %u", seed);
    }
}

TEST(threads_change_nothing) { require_same_with_threads({}); }
TEST(threads_and_bisection_change_nothing) { require_same_with_threads(bisecting()); }

// With rows enough for whole columns to be swept, and with so few that two cuts often leave a single one.
void require_same_when_shared(unsigned first_seed, unsigned step, int n_threads) {
    Control alone, unfilled;
    alone.switches.share = false;
    unfilled.switches.fill = false;
    for (unsigned seed = first_seed; seed < 16; seed += step)
        for (const int depth : {4, 5}) {
            Example example(seed, {.n_rows = seed < 8 ? 150 : 30, .n_columns = 5, .n_bins = 5});
            const bool limited = seed % 2 == 1;
            example.set_limits(depth, (1 << depth) - 1, limited ? 6 : 1, limited ? 2 : 0);
            const Solution a = solve(example.problem, example.limits, alone);
            for (Control together : {Control{}, unfilled}) {
                together.n_threads = n_threads;
                const Solution b = solve(example.problem, example.limits, together);
                CHECK(a.gains == b.gains, "seed %u, depth %d", seed, depth);
                for (std::size_t k = 0; k < a.trees.size(); ++k)
                    CHECK(a.trees[k].cut == b.trees[k].cut, "seed %u, depth %d", seed, depth);
            }
        }
}

TEST(sharing_changes_nothing) { require_same_when_shared(0, 16 / n_seeds(16), 1); }
// Few: the thread sanitizer takes minutes for all of them.
TEST(threads_that_share_change_nothing) { require_same_when_shared(1, 5, 2); }

// To the last bit; with one kind of columns, or several, and with threads where there is enough to do.
TEST(screening_and_threads_change_nothing) {
    Control exact, screened;
    exact.switches.screen = 0;
    screened.switches.screen = 2;
    const auto require_same = [&](const Example& example, unsigned seed) {
        const Solution a = solve(example.problem, example.limits, exact);
        const Solution b = solve(example.problem, example.limits, screened);
        CHECK(a.gains == b.gains && a.gain_bounds == b.gain_bounds, "seed %u", seed);
        for (std::size_t k = 0; k < a.trees.size(); ++k)
            CHECK(a.trees[k].cut == b.trees[k].cut, "seed %u", seed);
    };
    for (unsigned seed = 0; seed < n_seeds(60); ++seed) {
        Example example(seed, {.n_columns = 3 + static_cast<int>(seed % 9),
                               .most_rows = 80,
                               .most_bins = 5,
                               .weighted = seed % 4 == 0,
                               .alike = seed % 3 == 0});
        const bool limited = seed % 2 == 1;
        example.set_limits(3, limited ? 5 : 7, limited ? 4 : 1, limited ? 2 : 0);
        require_same(example, seed);
    }
    screened.n_threads = 2;
    Example large(1, {.n_rows = 600, .n_columns = 30, .n_bins = 3});
    large.set_limits(3, 7);
    require_same(large, 1);
}

// Searches for trees that begin with some of the cuts: each finds the best of its own, and the best of all is
// the whole.
void require_parts_of_the_whole(const Control& control) {
    constexpr std::size_t n_parts = 3;
    for (unsigned seed = 0; seed < n_seeds(60); ++seed) {
        const bool limited = seed % 2 == 1;
        Example example(seed, {.n_rows = seed < 40 ? 12 : 60, .n_columns = 3, .most_bins = 5});
        const int depth = 3 + static_cast<int>(seed % 3);
        example.set_limits(depth, (1 << depth) - 1, limited ? 2 : 1, 0);
        const Solution whole = solve(example.problem, example.limits, control);
        std::vector<Solution> parts;
        for (std::size_t part = 0; part < n_parts; ++part) {
            Problem problem = example.problem;
            for (std::size_t c = 0; c < problem.cuts.size(); ++c) problem.cuts[c].leads = c % n_parts == part;
            parts.push_back(solve(problem, example.limits, control));
        }
        for (std::size_t k = 0; k < whole.gains.size(); ++k) {
            double most = -INFINITY;
            for (const Solution& part : parts) most = std::max(most, part.gains[k]);
            CHECK(close(most, whole.gains[k]), "seed %u, %zu splits: %.15g, not %.15g", seed, k, most,
                  whole.gains[k]);
            const Tree& tree = whole.trees[k];
            if (tree.cut[0] < 0) continue;
            CHECK(parts[at(tree.cut[0]) % n_parts].trees[k].cut == tree.cut, "seed %u, %zu splits", seed, k);
        }
    }
}

TEST(parts_of_a_sweep_are_the_whole) { require_parts_of_the_whole({}); }
TEST(parts_of_a_bisection_are_the_whole) { require_parts_of_the_whole(bisecting()); }

// Two channels, of which one is not used, are as one.
TEST(an_unused_channel_changes_nothing) {
    for (unsigned seed = 0; seed < n_seeds(40); ++seed) {
        const Example example(seed, {.n_columns = 4 + static_cast<int>(seed % 3), .most_rows = 60});
        const std::size_t n = example.problem.n_rows;
        Problem problem = example.problem;
        problem.objective = find_kernels("two_channels");
        problem.parameters = {example.problem.parameters[0], 0.0};
        std::vector<double> sums(4 * n, 0.0);
        std::copy(example.sums.begin(), example.sums.end(), sums.begin());
        problem.sums = sums.data();
        Limits limits = example.limits;
        limits.max_depth = 2 + static_cast<int>(seed % 3);
        for (const Control& control : {Control{}, bisecting()}) {
            const Solution one = solve(example.problem, limits, control);
            const Solution two = solve(problem, limits, control);
            for (std::size_t k = 0; k < one.gains.size(); ++k)
                CHECK(close(one.gains[k], two.gains[k]), "seed %u, %zu splits", seed, k);
        }
    }
}

// Weights over many orders of magnitude: hazards are rounded down, so that no tree is worth more than
// claimed.
TEST(rounding_down_hides_no_better_tree) {
    for (unsigned seed = 0; seed < n_seeds(600); ++seed) {
        Example example(seed, {.most_rows = 9});
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> exponent(-12, 12);
        for (std::size_t r = 0; r < example.problem.n_rows; ++r) {
            example.events(r) *= std::pow(10.0, exponent(random));
            example.hazard(r) *= std::pow(10.0, exponent(random));
        }
        const auto middle = example.sums.begin() + static_cast<std::ptrdiff_t>(example.problem.n_rows);
        const double events = std::accumulate(example.sums.begin(), middle, 0.0),
                     hazard = std::accumulate(middle, example.sums.end(), 0.0);
        // As Nelson and Aalen have it, all hazards add up to all events.
        for (std::size_t r = 0; r < example.problem.n_rows; ++r)
            example.hazard(r) *= events > 0 ? events / hazard : 1;
        // A prior far beyond all events would hide them: the caller refuses it.
        example.problem.parameters[0] *= events;
        example.problem.round_down = true;
        example.set_grid();
        example.limits.max_depth = std::min(example.limits.max_depth, 3);
        example.limits.max_splits = std::min(example.limits.max_splits, 4);
        for (const Control& control : {Control{}, bisecting()}) {
            const Solution solution = solve(example.problem, example.limits, control);
            for (std::size_t k = 0; k < solution.gains.size(); ++k) {
                const double best =
                    example.best(example.all(), example.limits.max_depth, static_cast<int>(k));
                CHECK(solution.gain_bounds[k] >= best - 1e-12 * (events + std::abs(best)),
                      "seed %u, %zu splits: %.15g < %.15g", seed, k, solution.gain_bounds[k], best);
            }
        }
    }
}

}  // namespace
