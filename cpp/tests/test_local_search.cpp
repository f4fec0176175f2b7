// Local search: what it claims is what its tree is worth, within the limits, whatever the threads.
#include "example.hpp"
#include "local/local_search.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

constexpr Shape long_columns{.most_rows = 61, .most_bins = 41, .weighted = false};

double worth_of(const Example& example, const Tree& tree, double price) {
    int splits = 0;
    const double gain = example.gain(tree, splits);
    return splits <= example.limits.max_splits ? gain - price * splits : -INFINITY;
}

double claim_of(const LocalOptimum& best) { return *std::max_element(best.worth.begin(), best.worth.end()); }

TEST(a_tree_is_worth_what_is_claimed) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        Example example(seed, long_columns);
        example.limits.max_splits = std::max(example.limits.max_splits, 1);
        const Restarts restarts{8, seed, seed % 3 == 0 ? 0.0 : 0.3};
        const LocalOptimum best = local_search(example.problem, example.limits, restarts, {});
        const double worth = worth_of(example, best.tree, restarts.price);
        CHECK(close(worth, claim_of(best)), "seed %u: %.15g, not %.15g", seed, claim_of(best), worth);
    }
}

// The tree, with another subtree of it at a node; -1 is a leaf.
void copy(const Tree& tree, int from, int node, int by, Tree& out) {
    if (from == node) from = by;
    const auto here = out.cut.size();
    out.cut.push_back(from < 0 ? -1 : tree.cut[at(from)]);
    out.left.push_back(-1);
    out.right.push_back(-1);
    if (out.cut[here] < 0) return;
    out.left[here] = static_cast<int>(out.cut.size());
    copy(tree, tree.left[at(from)], node, by, out);
    out.right[here] = static_cast<int>(out.cut.size());
    copy(tree, tree.right[at(from)], node, by, out);
}

// One restart ends where no change of a node is better: another cut, a leaf, or one of its subtrees in its
// place. The latter two make the tree smaller, and must cost something.
TEST(no_change_of_a_node_improves) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        Example example(seed, {.n_rows = 30, .n_columns = 3, .n_bins = 4, .weighted = false});
        const bool limited = seed % 2 == 1;
        example.set_limits(3, 7, limited ? 4 : 1, limited ? 1 : 0);
        const double price = 0.4 * (seed % 5);
        const LocalOptimum best = local_search(example.problem, example.limits, {3, seed, price}, {});
        const double worth = worth_of(example, best.tree, price);
        for (int node = 0; node < static_cast<int>(best.tree.cut.size()); ++node) {
            if (best.tree.cut[at(node)] < 0) continue;
            for (const int by : {-1, best.tree.left[at(node)], best.tree.right[at(node)]}) {
                Tree other;
                copy(best.tree, 0, node, by, other);
                const double other_worth = worth_of(example, other, price);
                CHECK(other_worth < worth - 1e-13, "seed %u: node %d by %d: %.15g >= %.15g", seed, node, by,
                      other_worth, worth);
            }
            for (std::size_t cut = 0; cut < example.problem.cuts.size(); ++cut) {
                Tree other = best.tree;
                other.cut[at(node)] = static_cast<int>(cut);
                const double other_worth = worth_of(example, other, price);
                CHECK(other_worth <= worth + 1e-8, "seed %u: node %d with cut %zu: %.15g > %.15g", seed, node,
                      cut, other_worth, worth);
            }
        }
    }
}

// The result cannot be better than the optimum, and with many restarts it often is the optimum.
TEST(often_the_optimum_and_never_better) {
    int n_optimal = 0, n_problems = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Example example(seed, long_columns);
        example.set_limits(2, 3, 1, 0);
        const double claimed = claim_of(local_search(example.problem, example.limits, {50, seed, 0}, {}));
        const double optimum = solve(example.problem, example.limits, {}).gains.back();
        CHECK(claimed <= optimum + tolerance(optimum), "seed %u: %.15g > %.15g", seed, claimed, optimum);
        n_optimal += claimed >= optimum - tolerance(optimum);
        ++n_problems;
    }
    CHECK(n_optimal >= 0.8 * n_problems, "optimal in %d of %d", n_optimal, n_problems);
}

TEST(threads_change_nothing) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const Example example(seed, long_columns);
        Control three;
        three.n_threads = 3;
        const LocalOptimum a = local_search(example.problem, {3, 7}, {20, seed, 0}, {});
        const LocalOptimum b = local_search(example.problem, {3, 7}, {20, seed, 0}, three);
        CHECK(a.worth == b.worth && a.tree.cut == b.tree.cut && a.tree.left == b.tree.left, "seed %u", seed);
    }
}

TEST(a_stop_ends_the_search) {
    const Example example(3, long_columns);
    Control control;
    control.should_stop = [](const Progress&) { return true; };
    const LocalOptimum best = local_search(example.problem, {4, 15}, {1'000'000, 0, 0}, control);
    CHECK(best.worth.size() < 1'000'000 && !best.tree.cut.empty(), "%zu restarts", best.worth.size());
}

}  // namespace
