// Local search: what it claims is what its tree is worth, within the limits, whatever the threads.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "local_search.hpp"

using namespace surtree;

#define CHECK(condition, ...)                                           \
    do {                                                                \
        if (!(condition)) {                                             \
            std::printf("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            std::printf(__VA_ARGS__);                                   \
            std::printf("\n");                                          \
            std::exit(1);                                               \
        }                                                               \
    } while (false)

namespace {

struct Example {
    std::vector<std::uint16_t> bins;
    std::vector<double> events, hazard;
    std::vector<std::uint8_t> has_event;
    Problem problem;
    Limits limits;

    explicit Example(unsigned seed) {
        std::mt19937 random(seed);
        const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
        const int n = 2 + below(60), p = 1 + below(4);
        for (int c = 0; c < p; ++c) {
            const int q = 2 + below(40);
            const bool missing = below(3) == 0, nominal = below(2) == 0;
            problem.n_bins.push_back(q + missing);
            problem.missing_bin.push_back(missing ? q : -1);
            for (int b = nominal ? 0 : 1; b < q; ++b) {
                const int last = nominal ? b : q - 1;
                problem.cuts.push_back({c, b, last, false});
                if (missing) problem.cuts.push_back({c, b, last, true});
            }
            if (missing) problem.cuts.push_back({c, q, q, true});
            for (int r = 0; r < n; ++r) bins.push_back(static_cast<std::uint16_t>(below(q + missing)));
        }
        for (int r = 0; r < n; ++r) {
            has_event.push_back(below(2) == 0);
            events.push_back(has_event.back());
            hazard.push_back((1 + below(20)) / 8.0);
        }
        limits.max_depth = below(5);
        limits.max_splits = 1 + below(1 << limits.max_depth);
        if (below(2) == 0) limits.min_samples_leaf = 1 + below(4);
        if (below(2) == 0) limits.min_events_leaf = below(3);
        problem.n_rows = static_cast<std::size_t>(n);
        problem.n_columns = static_cast<std::size_t>(p);
        problem.bins = bins.data();
        problem.events = events.data();
        problem.hazard = hazard.data();
        problem.has_event = has_event.data();
    }

    bool holds(const Cut& cut, std::size_t row) const {
        const int bin = bins[static_cast<std::size_t>(cut.column) * problem.n_rows + row];
        return (bin >= cut.first && bin <= cut.last) ||
               (cut.missing && bin == problem.missing_bin[static_cast<std::size_t>(cut.column)]);
    }

    // The gain of a tree whose leaves and depth are checked on the way; splits are counted.
    double gain(const Tree& tree, int node, const std::vector<std::size_t>& rows, int depth,
                int& splits) const {
        const auto at = static_cast<std::size_t>(node);
        if (tree.cut[at] < 0) {
            double e = 0, h = 0;
            int n_events = 0;
            for (const std::size_t r : rows) {
                e += events[r];
                h += hazard[r];
                n_events += has_event[r];
            }
            if (node > 0)
                CHECK(static_cast<int>(rows.size()) >= limits.min_samples_leaf &&
                          n_events >= limits.min_events_leaf,
                      "leaf %d is too small", node);
            return e > 0 ? e * std::log(e / h) : 0;
        }
        CHECK(depth < limits.max_depth, "node %d is too deep", node);
        ++splits;
        std::vector<std::size_t> sides[2];
        for (const std::size_t r : rows)
            sides[holds(problem.cuts[static_cast<std::size_t>(tree.cut[at])], r)].push_back(r);
        return gain(tree, tree.left[at], sides[0], depth + 1, splits) +
               gain(tree, tree.right[at], sides[1], depth + 1, splits);
    }
};

void a_tree_is_worth_what_is_claimed() {
    for (unsigned seed = 0; seed < 500; ++seed) {
        const Example example(seed);
        const Restarts restarts{8, seed, seed % 3 == 0 ? 0.0 : 0.3};
        const LocalOptimum best = local_search(example.problem, example.limits, restarts, {});
        std::vector<std::size_t> all(example.problem.n_rows);
        for (std::size_t r = 0; r < all.size(); ++r) all[r] = r;
        int splits = 0;
        const double worth = example.gain(best.tree, 0, all, 0, splits) - restarts.price * splits;
        const double claimed = *std::max_element(best.worth.begin(), best.worth.end());
        CHECK(std::abs(worth - claimed) <= 1e-9 * (1 + std::abs(worth)), "seed %u: %.15g, not %.15g", seed,
              claimed, worth);
        CHECK(splits <= example.limits.max_splits, "seed %u: %d splits", seed, splits);
    }
}

// The result cannot be better than the optimum, and with many restarts it often is the optimum.
void often_the_optimum_and_never_better() {
    int n_optimal = 0, n_problems = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Example example(seed);
        example.limits = {2, 3, 1, 0};
        const LocalOptimum best = local_search(example.problem, example.limits, {50, seed, 0}, {});
        const double claimed = *std::max_element(best.worth.begin(), best.worth.end());
        const double optimum = solve(example.problem, example.limits, {}).gains.back();
        CHECK(claimed <= optimum + 1e-9 * (1 + std::abs(optimum)), "seed %u: %.15g > %.15g", seed, claimed,
              optimum);
        n_optimal += claimed >= optimum - 1e-9 * (1 + std::abs(optimum));
        ++n_problems;
    }
    CHECK(n_optimal >= 0.8 * n_problems, "optimal in %d of %d", n_optimal, n_problems);
}

void threads_change_nothing() {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const Example example(seed);
        Control three;
        three.n_threads = 3;
        const LocalOptimum a = local_search(example.problem, example.limits, {9, seed, 0}, {});
        const LocalOptimum b = local_search(example.problem, example.limits, {9, seed, 0}, three);
        CHECK(a.worth == b.worth && a.tree.cut == b.tree.cut && a.tree.left == b.tree.left, "seed %u", seed);
    }
}

void a_stop_ends_the_search() {
    const Example example(3);
    Control control;
    control.should_stop = [](const Progress&) { return true; };
    const LocalOptimum best = local_search(example.problem, {4, 15, 1, 0}, {1'000'000, 0, 0}, control);
    CHECK(best.tree.cut.empty(), "%zu nodes", best.tree.cut.size());
}

}  // namespace

int main() {
    a_tree_is_worth_what_is_claimed();
    often_the_optimum_and_never_better();
    threads_change_nothing();
    a_stop_ends_the_search();
    std::printf("4 passed, 0 failed\n");
}
