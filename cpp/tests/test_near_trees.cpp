// The trees near the best one and the prices of questions, compared with all trees of small problems.
#include <map>
#include <optional>
#include <set>

#include "example.hpp"
#include "search/near_trees.hpp"
#include "search/table_solver.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

constexpr std::size_t all_there_are = 1 << 20;

struct OneTree {
    double gain;
    std::vector<int> cuts;              // in preorder, -1 for a leaf
    std::vector<std::uint32_t> leaves;  // the rows of each, as bits; ascending
};

// Every tree within the limits, by their definition.
class AllTrees {
 public:
    static constexpr std::size_t most = 20'000;

    explicit AllTrees(const Example& example) : example_(example) {
        const int n = std::min(example.limits.max_splits, static_cast<int>(example.problem.n_rows) - 1);
        for (int k = 0; k <= n; ++k) {
            const std::vector<OneTree> some = of(example.all(), example.limits.max_depth, k, true);
            trees.insert(trees.end(), some.begin(), some.end());
        }
        for (const OneTree& tree : trees) best = std::max(best, tree.gain);
    }

    bool is_complete() const { return trees.size() < most; }
    double leaf() const { return trees[0].gain; }

    std::vector<OneTree> trees;
    double best = -INFINITY;

 private:
    std::vector<OneTree> of(const Example::Rows& rows, int depth, int splits, bool is_root) const {
        std::vector<OneTree> out;
        if (splits == 0) {
            const double gain = example_.leaf(rows, is_root);
            std::uint32_t bits = 0;
            for (const std::size_t r : rows) bits |= 1U << r;
            if (gain > -INFINITY) out.push_back({gain, {-1}, {bits}});
            return out;
        }
        if (depth == 0) return out;
        for (int c = 0; c < static_cast<int>(example_.problem.cuts.size()); ++c) {
            const Cut& cut = example_.problem.cuts[at(c)];
            const Example::Rows no = example_.side(rows, cut, false), yes = example_.side(rows, cut, true);
            if (no.empty() || yes.empty()) continue;
            for (int below = 0; below < splits; ++below) {
                const std::vector<OneTree> left = of(no, depth - 1, splits - 1 - below, false);
                if (left.empty()) continue;
                for (const OneTree& b : of(yes, depth - 1, below, false))
                    for (const OneTree& a : left) out.push_back(joined(c, a, b));
                if (out.size() >= most) return out;
            }
        }
        return out;
    }

    static OneTree joined(int cut, const OneTree& a, const OneTree& b) {
        OneTree out{a.gain + b.gain, {cut}, a.leaves};
        out.cuts.insert(out.cuts.end(), a.cuts.begin(), a.cuts.end());
        out.cuts.insert(out.cuts.end(), b.cuts.begin(), b.cuts.end());
        out.leaves.insert(out.leaves.end(), b.leaves.begin(), b.leaves.end());
        std::sort(out.leaves.begin(), out.leaves.end());
        return out;
    }

    const Example& example_;
};

enum class Kind { random, twin, gap, one_bin, alike_rows, wide, n_kinds };

// A problem with columns of its kind, few enough that all of its trees can be listed.
struct Small {
    Example example;
    std::optional<AllTrees> all;

    explicit Small(unsigned seed)
        : example(seed, {.n_columns = kind_of(seed) == Kind::wide ? 1 : 0,
                         .n_bins = kind_of(seed) == Kind::wide ? 14 : 0,
                         .most_rows = 9}) {
        Problem& problem = example.problem;
        const std::size_t n = problem.n_rows;
        switch (kind_of(seed)) {
            case Kind::twin: {  // below a cut of one, the same cut of the other divides nothing
                const std::vector<std::uint16_t> first(example.bins.begin(),
                                                       example.bins.begin() + example.n_rows());
                add_column(problem.n_bins[0], problem.missing_bin[0], first);
                for (const std::vector<int> own = problem.cuts_by_column()[0]; const int c : own) {
                    problem.cuts.push_back(problem.cuts[at(c)]);
                    problem.cuts.back().column = static_cast<int>(problem.n_columns) - 1;
                }
                break;
            }
            case Kind::gap:  // nobody has the second bin of a column
                for (std::uint16_t& bin : example.bins) bin = bin == 1 ? 0 : bin;
                break;
            case Kind::one_bin:
                add_column(1, -1, std::vector<std::uint16_t>(n, 0));
                break;
            case Kind::alike_rows:
                for (std::size_t c = 0; c < problem.n_columns; ++c)
                    std::fill_n(example.bins.begin() + static_cast<std::ptrdiff_t>(c * n), n,
                                example.bins[c * n]);
                break;
            default:
                break;
        }
        const std::size_t n_cuts = problem.cuts.size();
        if (n_cuts <= 3 && seed % 2) example.set_limits(5, 6, example.min_samples, example.min_events);
        for (all.emplace(example); !all->is_complete(); all.emplace(example)) --example.limits.max_depth;
    }

    static Kind kind_of(unsigned seed) {
        return static_cast<Kind>(seed % static_cast<unsigned>(Kind::n_kinds));
    }

    // The core solves few or many levels at once, with one thread or two.
    static Control control(unsigned seed) {
        Control out{.n_threads = seed % 5 == 0 ? 2 : 1};
        out.switches.kernel_depth = 3 - static_cast<int>(seed / 6 % 3);
        out.switches.regroup = seed % 4 > 0;
        return out;
    }

 private:
    void add_column(int n_bins, int missing_bin, const std::vector<std::uint16_t>& bins) {
        example.bins.insert(example.bins.end(), bins.begin(), bins.end());
        example.problem.bins = example.bins.data();
        example.problem.n_bins.push_back(n_bins);
        example.problem.missing_bin.push_back(missing_bin);
        ++example.problem.n_columns;
    }
};

std::vector<std::uint32_t> leaves_of(const Problem& problem, const Tree& tree) {
    std::vector<std::int32_t> leaf(problem.n_rows);
    find_leaves(problem, tree, leaf.data());
    std::vector<std::uint32_t> out(tree.cut.size());
    for (std::size_t r = 0; r < leaf.size(); ++r) out[at(leaf[r])] |= 1U << r;
    std::vector<std::uint32_t> leaves;
    for (std::size_t node = 0; node < out.size(); ++node)
        if (tree.cut[node] < 0) leaves.push_back(out[node]);
    std::sort(leaves.begin(), leaves.end());
    return leaves;
}

constexpr double shares[] = {0, 0.01, 0.1, 0.37, 1};

TEST(near_trees_are_those_of_all_trees) {
    std::size_t n_listed = 0;
    for (unsigned seed = 0; seed < n_seeds(600); ++seed) {
        const Small small(seed);
        const Example& example = small.example;
        const double within = shares[seed % 5], slack = within * (small.all->best - small.all->leaf());
        const double least = small.all->best - slack, rounding = tolerance(small.all->best);
        for (const bool distinct : {false, true}) {
            // What makes two trees one: their leaves, or their questions.
            std::map<std::pair<std::vector<std::uint32_t>, std::vector<int>>, double> surely, maybe;
            for (const OneTree& tree : small.all->trees) {
                const std::pair key{tree.leaves, distinct ? std::vector<int>{} : tree.cuts};
                if (tree.gain > least + rounding) surely[key] = tree.gain;
                if (tree.gain >= least - rounding) maybe[key] = tree.gain;
            }
            NearTrees near(example.problem, example.limits, Small::control(seed), within, distinct);
            double before = INFINITY;
            std::size_t n_found = 0;
            for (std::size_t n = 1;; n *= 2) {  // in batches, as callers ask
                const Solution some = near.next(n, {});
                CHECK(some.status == Status::optimal && !near.is_full(), "seed %u", seed);
                CHECK(some.trees.size() == some.gains.size() && some.trees.size() <= n, "seed %u", seed);
                for (std::size_t t = 0; t < some.trees.size(); ++t) {
                    const Tree& tree = some.trees[t];
                    int splits = 0;
                    const double gain = example.gain(tree, splits);
                    CHECK(close(gain, some.gains[t]), "seed %u: %.15g, not %.15g", seed, some.gains[t], gain);
                    CHECK(splits <= example.limits.max_splits, "seed %u: %d splits", seed, splits);
                    CHECK(some.gains[t] <= before, "seed %u: %.15g after %.15g", seed, some.gains[t], before);
                    before = some.gains[t];
                    const std::pair key{leaves_of(example.problem, tree),
                                        distinct ? std::vector<int>{} : tree.cut};
                    CHECK(maybe.erase(key) == 1, "seed %u: no tree, or twice the same", seed);
                    surely.erase(key);
                }
                n_found += some.trees.size();
                if (some.trees.size() < n) break;
            }
            CHECK(surely.empty(), "seed %u: %zu trees are not found", seed, surely.size());
            CHECK(n_found > 0, "seed %u: not even the best", seed);
            n_listed += n_found;
        }
    }
    CHECK(n_listed > n_seeds(600) * 10, "%zu trees: too few", n_listed);
}

TEST(prices_of_questions_are_those_of_forced_optima) {
    int n_priced = 0;
    for (unsigned seed = 0; seed < n_seeds(600); ++seed) {
        const Small small(seed);
        const Example& example = small.example;
        const SideGains sides = side_gains(example.problem, example.limits, Small::control(seed));
        CHECK(sides.status == Status::optimal, "seed %u", seed);
        const std::size_t n_cuts = example.problem.cuts.size();
        CHECK(sides.gains.size() == 2 * n_cuts * sides.width, "seed %u", seed);
        for (std::size_t c = 0; c < n_cuts; ++c) {
            Example::Rows rows[2];
            for (const int holds : {0, 1})
                rows[holds] = example.side(example.all(), example.problem.cuts[c], holds == 1);
            const bool divides = !rows[0].empty() && !rows[1].empty();
            for (std::size_t holds = 0; holds < 2; ++holds)
                for (int k = 0; k < std::min(static_cast<int>(sides.width), example.limits.max_splits); ++k) {
                    const double gain = sides.gains[(2 * c + holds) * sides.width + at(k)];
                    const bool can_be = divides && example.limits.max_depth > 0;
                    const double best =
                        can_be ? example.best(rows[holds], example.limits.max_depth - 1, k, false)
                               : -INFINITY;
                    CHECK(gain == best || close(gain, best), "seed %u, cut %zu, %d splits: %.15g, not %.15g",
                          seed, c, k, gain, best);
                    n_priced += gain > -INFINITY;
                }
            // The best tree that begins with the cut.
            double forced = -INFINITY, joined = -INFINITY;
            for (const OneTree& tree : small.all->trees)
                if (tree.cuts[0] == static_cast<int>(c)) forced = std::max(forced, tree.gain);
            const std::size_t n = sides.width, splits = at(example.limits.max_splits);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n && i + j < splits; ++j)
                    joined = std::max(joined, sides.gains[2 * c * n + i] + sides.gains[(2 * c + 1) * n + j]);
            CHECK(joined == forced || close(joined, forced), "seed %u, cut %zu: %.15g, not %.15g", seed, c,
                  joined, forced);
        }
    }
    CHECK(n_priced > 500, "%d prices", n_priced);
}

// A kernel of two levels takes every cut of a column. Where one does not divide the rows, its empty side is a
// leaf worth nothing, and its other side is the node itself: as good as no split, but no tree to list.
TEST(kernels_of_two_levels_list_cuts_that_divide_nothing) {
    const bool stop = false;
    int n_undivided = 0;
    for (unsigned seed = 0; seed < n_seeds(100); ++seed) {
        Example example(seed, {.n_rows = 12, .n_columns = 2, .n_bins = 4, .alike = true});
        for (std::uint16_t& bin : example.bins)
            bin = std::min<std::uint16_t>(bin, 2);  // nobody is in the last
        example.set_limits(3, 7);
        const Columns columns(example.problem, 3);
        const Rows rows = merge_rows(example.problem, example.limits, false);
        const TableSolver solver(columns, rows, 3, &stop);
        const SideCounts counts(columns, rows.all);
        for (const int depth : {1, 2, 3}) {
            Scratch scratch;
            SideProfiles solved;
            CHECK(solver.solve(rows.all, depth, scratch, solved), "stopped");
            const std::vector<Profile> sides = solved.by_side(columns);
            for (int side = 0; side < columns.n_sides(); ++side) {
                if (counts.divides(side, rows.all.n)) continue;
                const Profile& profile = sides[at(side)];
                CHECK(profile.empty() == (depth == 3), "seed %u, depth %d", seed, depth);
                for (std::size_t k = 0; k < profile.size(); ++k) {
                    const bool is_empty = counts.n[at(side)] == 0;
                    const double best =
                        example.best(example.all(), depth - 1, static_cast<int>(k)) / rows.grid;
                    CHECK(close(profile[k], is_empty ? 0 : best), "seed %u, depth %d", seed, depth);
                }
                ++n_undivided;
            }
        }
    }
    CHECK(n_undivided > 0, "all cuts divide the rows");
}

// Larger than what brute force can list.
struct Large {
    Example example{7, {.n_rows = 60, .n_columns = 4, .n_bins = 5, .alike = true}};
    std::vector<double> first;  // gains of the best trees

    Large() {
        example.set_limits(3, 7);
        NearTrees near(example.problem, example.limits, {}, 1, true);
        first = near.next(2000, {}).gains;
        CHECK(first.size() == 2000, "%zu trees", first.size());
    }

    void check_that_best_are(const Solution& some) const {
        CHECK(some.trees.size() == some.gains.size(), "%zu trees", some.trees.size());
        for (std::size_t t = 0; t < std::min(some.gains.size(), first.size()); ++t)
            CHECK(some.gains[t] == first[t], "tree %zu: %.15g, not %.15g", t, some.gains[t], first[t]);
    }
};

TEST(memory_ends_near_trees_with_what_is_known) {
    const Large large;
    std::size_t before = 0;
    for (const std::size_t bytes : {0, 50'000, 1'000'000, 3'000'000}) {
        NearTrees near(large.example.problem, large.example.limits, {.memory_limit = bytes}, 1, true);
        const Solution some = near.next(all_there_are, {});
        CHECK(near.is_full() && some.status == Status::optimal, "%zu bytes", bytes);
        large.check_that_best_are(some);
        CHECK(some.trees.size() >= before, "%zu trees in %zu bytes", some.trees.size(), bytes);
        before = some.trees.size();
        CHECK(near.next(1, {}).trees.empty(), "one more after the end");
    }
    CHECK(before > 100, "%zu trees", before);
}

TEST(time_ends_near_trees_with_what_is_known) {
    const Large large;
    for (const double seconds : {1e-9, 0.02}) {
        NearTrees near(large.example.problem, large.example.limits, {}, 1, false);
        large.check_that_best_are(near.next(0, {}));
        const Solution some = near.next(SIZE_MAX, {.time_limit = seconds});
        CHECK(some.status == Status::time_limit && !near.is_full(), "ended otherwise");
        CHECK(seconds > 1e-3 || some.trees.empty(), "%zu trees in no time", some.trees.size());
        CHECK(std::is_sorted(some.gains.rbegin(), some.gains.rend()), "%zu trees", some.trees.size());
        const Solution more = near.next(1, {});
        CHECK(more.status == Status::time_limit && more.trees.empty(), "one more after the end");
    }
}

TEST(near_trees_stop_where_the_user_wants) {
    const Large large;
    NearTrees near(large.example.problem, large.example.limits, {}, 1, true);
    int n_asked = 0;
    Control control;
    control.should_stop = [&](const Progress&) { return ++n_asked == 2; };
    const Solution some = near.next(SIZE_MAX, control);
    CHECK(some.status == Status::interrupted && n_asked == 2, "asked %d times", n_asked);
    large.check_that_best_are(some);
    CHECK(near.next(1, {}).trees.empty(), "one more after the end");
}

// Nothing is listed before all is proven; prices are of trees that were found.
TEST(a_search_that_is_stopped_has_no_near_trees) {
    for (unsigned seed = 0; seed < n_seeds(60); ++seed) {
        const Small small(seed);
        const Example& example = small.example;
        Control control = Small::control(seed);
        control.n_threads = 1;
        bool has_ended = false;
        for (int most = 0; !has_ended; ++most) {
            control.switches.stop_after = most;
            NearTrees near(example.problem, example.limits, control, 1, true);
            const Solution some = near.next(3, {});
            has_ended = some.status == Status::optimal;
            CHECK(has_ended != some.trees.empty(), "seed %u, %d tasks", seed, most);
            const SideGains sides = side_gains(example.problem, example.limits, control);
            CHECK((sides.status == Status::optimal) == has_ended, "seed %u, %d tasks", seed, most);
            for (std::size_t k = 0; k < sides.gains.size(); ++k) {
                const std::size_t side = k / sides.width;
                const Example::Rows rows =
                    example.side(example.all(), example.problem.cuts[side / 2], side % 2 == 1);
                const double best = example.best(rows, example.limits.max_depth - 1,
                                                 static_cast<int>(k % sides.width), false);
                CHECK(sides.gains[k] <= best + tolerance(best) || best == sides.gains[k],
                      "seed %u, %d tasks: %.15g > %.15g", seed, most, sides.gains[k], best);
            }
        }
    }
}

}  // namespace
