// The core without Python: against a recursion that looks at every tree, on random small problems.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "gain_table.hpp"
#include "kernels.hpp"
#include "problem.hpp"

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

    explicit Example(unsigned seed, int n_rows = 0, int n_columns = 0, int n_bins = 0) {
        std::mt19937 random(seed);
        const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
        const int n = n_rows ? n_rows : 2 + below(20), p = n_columns ? n_columns : 1 + below(4);
        for (int c = 0; c < p; ++c) {
            const int q = n_bins ? n_bins : 2 + below(3);
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
            const double weight = 1 + below(3);
            has_event.push_back(below(2) == 0);
            events.push_back(has_event.back() ? weight : 0);
            hazard.push_back(weight * (1 + below(20)) / 8.0);
        }
        limits.max_depth = problem.cuts.size() < 8 ? below(5) : below(4);
        limits.max_splits = below(1 << limits.max_depth);
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

    using Rows = std::vector<std::size_t>;

    double leaf(const Rows& rows, bool is_root) const {
        double e = 0, h = 0;
        int n_events = 0;
        for (const std::size_t r : rows) {
            e += events[r];
            h += hazard[r];
            n_events += has_event[r];
        }
        const bool allowed =
            static_cast<int>(rows.size()) >= limits.min_samples_leaf && n_events >= limits.min_events_leaf;
        if (!allowed && !is_root) return -INFINITY;
        return e > 0 ? e * std::log(e / h) : 0;
    }

    Rows side(const Rows& rows, const Cut& cut, bool wanted) const {
        Rows out;
        for (const std::size_t r : rows)
            if (holds(cut, r) == wanted) out.push_back(r);
        return out;
    }

    double best(const Rows& rows, int depth, int splits, bool is_root) const {
        double value = leaf(rows, is_root);
        if (depth == 0 || splits == 0 || (!is_root && value == -INFINITY)) return value;
        for (const Cut& cut : problem.cuts) {
            const Rows yes = side(rows, cut, true), no = side(rows, cut, false);
            if (yes.empty() || no.empty()) continue;
            for (int i = 0; i < splits; ++i)
                value = std::max(value,
                                 best(yes, depth - 1, i, false) + best(no, depth - 1, splits - 1 - i, false));
        }
        return value;
    }

    double value(const Tree& tree, int node, const Rows& rows, int& splits) const {
        const auto at = static_cast<std::size_t>(node);
        if (tree.cut[at] < 0) return leaf(rows, node == 0);
        ++splits;
        const Cut& cut = problem.cuts[static_cast<std::size_t>(tree.cut[at])];
        return value(tree, tree.left[at], side(rows, cut, false), splits) +
               value(tree, tree.right[at], side(rows, cut, true), splits);
    }
};

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(a)); }

void optimum_is_the_best_of_all_trees(const Control& control) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        Example example(seed);
        if (example.limits.max_depth > 3) example.limits.max_depth = 3;
        example.limits.max_splits = std::min(example.limits.max_splits, 4);
        const Solution solution = solve(example.problem, example.limits, control);
        Example::Rows all(example.problem.n_rows);
        for (std::size_t r = 0; r < all.size(); ++r) all[r] = r;
        for (std::size_t k = 0; k < solution.gains.size(); ++k) {
            const double expected = example.best(all, example.limits.max_depth, static_cast<int>(k), true);
            CHECK(close(solution.gains[k], expected), "seed %u, %zu splits: %.15g, not %.15g", seed, k,
                  solution.gains[k], expected);
            int splits = 0;
            const double of_tree = example.value(solution.trees[k], 0, all, splits);
            CHECK(close(of_tree, expected) && splits <= static_cast<int>(k), "seed %u: tree %.15g", seed,
                  of_tree);
        }
    }
}

// Neither do columns that are bisected.
void threads_change_nothing(const Control& control) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        Example example(seed);
        example.limits = {4, 15, 1, 0};
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

// With rows enough for whole columns to be swept, and with so few that two cuts often leave a single one.
void sharing_changes_nothing() {
    Control alone;
    alone.switches.share = false;
    for (unsigned seed = 0; seed < 16; ++seed)
        for (const int depth : {4, 5}) {
            Example example(seed, seed < 8 ? 150 : 30, 5, 5);
            const bool limited = seed % 2 == 1;
            example.limits = {depth, (1 << depth) - 1, limited ? 6 : 1, limited ? 2 : 0};
            Control together;
            together.n_threads = 1 + static_cast<int>(seed / 2 % 2);
            const Solution a = solve(example.problem, example.limits, alone);
            const Solution b = solve(example.problem, example.limits, together);
            CHECK(a.gains == b.gains, "seed %u, depth %d", seed, depth);
            for (std::size_t k = 0; k < a.trees.size(); ++k)
                CHECK(a.trees[k].cut == b.trees[k].cut, "seed %u, depth %d", seed, depth);
        }
}

void gain_is_the_formula() {
    std::mt19937_64 random(1);
    for (int round = 0; round < 20000; ++round) {
        double e[max_lanes], h[max_lanes], out[max_lanes];
        for (int l = 0; l < max_lanes; ++l) {
            e[l] = static_cast<double>(random() >> (12 + random() % 52));
            h[l] = 1 + static_cast<double>(random() >> (13 + random() % 51));
        }
        e[0] = 0;
        h[1] = std::max(e[1], 1.0);
        kernels().gains(e, h, out, max_lanes);
        for (int l = 0; l < max_lanes; ++l) {
            const double expected = e[l] > 0 ? e[l] * std::log(e[l] / h[l]) : 0;
            CHECK(std::abs(out[l] - expected) <=
                      1e-14 * e[l] * (1 + std::abs(std::log(std::max(e[l], 1.0) / h[l]))),
                  "g(%.17g, %.17g) = %.17g, not %.17g", e[l], h[l], out[l], expected);
        }
    }
}

void a_stop_leaves_a_tree_and_a_bound(Control control) {
    Example example(7, 150, 4, 5);
    for (const bool limited : {false, true}) {
        example.limits = {5, 31, limited ? 9 : 1, limited ? 4 : 0};
        const Solution whole = solve(example.problem, example.limits, {});
        CHECK(whole.status == Status::optimal, "%d", static_cast<int>(whole.status));
        for (const double seconds : {1e-9, 0.002, 0.01}) {
            control.time_limit = seconds;
            const Solution early = solve(example.problem, example.limits, control);
            CHECK(early.status == Status::time_limit || seconds > 1e-9, "not stopped");
            CHECK(early.trees.size() == whole.trees.size(), "%zu", early.trees.size());
            for (std::size_t k = 0; k < whole.gains.size(); ++k)
                CHECK(
                    early.gains[k] <= whole.gains[k] + 1e-9 && early.gain_bounds[k] >= whole.gains[k] - 1e-9,
                    "%zu splits: %g <= %g <= %g", k, early.gains[k], whole.gains[k], early.gain_bounds[k]);
        }
    }
}

void a_table_of_gains_finds_what_it_has_room_for() {
    GainTable table;
    const std::size_t room = 1 << 20;
    std::atomic<std::size_t> bytes_left = room;
    GainTable::Gains out;
    const auto number = [](std::size_t k) { return static_cast<double>(k); };
    std::size_t n_found = 0;
    for (std::size_t k = 0; k < 40000; ++k) table.store(key_of(k), {number(k), 1, 2, 3}, bytes_left);
    for (std::size_t k = 0; k < 40000; ++k)
        if (table.find(key_of(k), out)) {
            CHECK(out[0] == number(k) && out[3] == 3, "key %zu", k);
            ++n_found;
        }
    CHECK(n_found > room / GainTable::bytes_per_entry, "found %zu", n_found);
    CHECK(n_found * sizeof(out) < room - bytes_left && bytes_left <= room, "found %zu", n_found);
    CHECK(!table.find(key_of(40000), out), "nobody stored it");

    bytes_left = room;
    table.freeze();
    table.store(key_of(40000), {}, bytes_left);
    CHECK(!table.find(key_of(40000), out) && table.find(key_of(0), out), "nothing changes any more");
}

}  // namespace

int main() {
    gain_is_the_formula();
    a_table_of_gains_finds_what_it_has_room_for();
    sharing_changes_nothing();
    Control bisecting;
    bisecting.switches.bisect = 0;
    for (const Control& control : {Control{}, bisecting}) {
        optimum_is_the_best_of_all_trees(control);
        threads_change_nothing(control);
        a_stop_leaves_a_tree_and_a_bound(control);
    }
    std::printf("9 passed, 0 failed (%s)\n", kernels().name);
}
