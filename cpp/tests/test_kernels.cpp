// Kernels of the processor's instruction set, against plain evaluation of every tree and of every cut.
#include "example.hpp"
#include "search/ordered_rows.hpp"
#include "search/table_solver.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

TEST(gain_is_the_formula) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 20000; ++round) {
        double sums[2 * max_lanes], e[max_lanes], h[max_lanes], out[max_lanes];
        for (int l = 0; l < max_lanes; ++l) {
            e[l] = static_cast<double>(random() >> (12 + random() % 52));
            h[l] = 1 + static_cast<double>(random() >> (13 + random() % 51));
        }
        e[0] = 0;
        h[1] = std::max(e[1], 1.0);
        for (int l = 0; l < max_lanes; ++l) {
            sums[2 * l] = e[l];
            sums[2 * l + 1] = h[l];
        }
        const double prior = round % 2 ? 1e6 : 0.0;
        find_kernels("relative_risk")->gains({&prior, nullptr, 0}, sums, max_lanes, out);
        for (int l = 0; l < max_lanes; ++l) {
            e[l] += prior;
            h[l] += prior;
            const double expected = e[l] > 0 ? e[l] * std::log(e[l] / h[l]) : 0;
            CHECK(std::abs(out[l] - expected) <=
                      1e-14 * e[l] * (1 + std::abs(std::log(std::max(e[l], 1.0) / h[l]))),
                  "g(%.17g, %.17g) = %.17g, not %.17g", e[l], h[l], out[l], expected);
        }
    }
}

// Also of two leaves that are added up in single precision, as screening does.
TEST(rough_gain_is_within_its_error) {
    std::mt19937_64 random(1);
    const Kernels& kernels = *find_kernels("relative_risk");
    if (!kernels.rough_gains) return;  // a compiler without vector extensions
    double most = 0;
    for (int round = 0; round < 100000; ++round) {
        constexpr int n = 2 * max_lanes;
        int sums[2 * n];
        float out[n];
        for (int l = 0; l < n; ++l) {
            sums[2 * l] = static_cast<int>(random() >> (33 + random() % 31));
            sums[2 * l + 1] = static_cast<int>(random() >> (33 + random() % 31));
            if (l == 0 || sums[2 * l + 1] == 0) sums[2 * l] = 0;
            if (l == 1) sums[2] = sums[3];
        }
        const double prior = round % 2 ? std::exp2(static_cast<double>(random() % 400) / 10) : 0.0;
        kernels.rough_gains(prior, sums, n, out);
        double expected[n], events[n];
        for (int l = 0; l < n; ++l) {
            const double e = sums[2 * l] + prior, h = sums[2 * l + 1] + prior;
            events[l] = e;
            expected[l] = e > 0 ? e * std::log2(e / h) : 0;
        }
        const auto require_close = [&](float rough, double exact, double e) {
            const double off = std::abs(rough - exact);
            most = std::max(most, off / std::max(e, 1.0));
            CHECK(off <= kernels.rough_error * e + 0x1p-23, "%g is off by %g, with %g events", exact, off, e);
        };
        for (int l = 0; l < n; ++l) {
            const int other = (l + 1) % n;
            require_close(out[l], expected[l], events[l]);
            require_close(out[l] + out[other], expected[l] + expected[other], events[l] + events[other]);
        }
    }
    CHECK(most > kernels.rough_error / 4, "the bound is needlessly wide: %g", most);
}

// For each side of each cut: the best gains with 0, 1, ... splits below it.
void require_side_gains(int depth) {
    const bool stop = false;
    for (unsigned seed = 0; seed < 150; ++seed) {
        // Every third one has columns enough of one kind for groups in lanes, and at times some of another.
        Shape shape{.n_columns = 1 + static_cast<int>(seed % 4), .most_bins = 5};
        if (seed % 3 == 2)
            shape = {.n_columns = 5 + static_cast<int>(seed % 7), .most_bins = 3, .alike = true};
        const Example example(seed, shape);
        const Problem& problem = example.problem;
        const Columns columns(problem, depth);
        const Rows rows = merge_rows(problem, example.limits, true);
        const TableSolver solver(columns, rows, depth, &stop);
        Scratch scratch;
        SideProfiles solved;
        CHECK(solver.solve(rows.all, depth, scratch, solved), "stopped");
        const std::vector<Profile> by_side = solved.by_side(columns);
        SideProfiles one_at_a_time;
        CHECK(solver.solve_rows(rows.all, depth, scratch, one_at_a_time), "stopped");
        CHECK(one_at_a_time.by_side(columns) == by_side, "seed %u: tables of rows differ", seed);
        std::vector<Example::Rows> ways;
        for (std::size_t c = 0; c < problem.cuts.size(); ++c) {
            const Column& column = columns[problem.cuts[c].column];
            for (const bool holds : {true, false}) {
                const Example::Rows members = example.side(example.all(), problem.cuts[c], holds);
                if (members.empty() || members.size() == problem.n_rows) continue;
                const Profile& found =
                    by_side[at(column.side(static_cast<int>(c) - column.first_cut, holds))];
                if (found.empty()) {  // divides the rows as a cut before it does
                    CHECK(std::find(ways.begin(), ways.end(), members) != ways.end(),
                          "seed %u: cut %zu is left out", seed, c);
                    continue;
                }
                ways.push_back(members);
                CHECK(found.size() == std::size_t{1} << (depth - 1), "%zu sizes", found.size());
                for (std::size_t k = 0; k < found.size(); ++k) {
                    const double expected = example.best(members, depth - 1, static_cast<int>(k), false);
                    CHECK(std::isinf(expected) ? found[k] < infeasible / 2
                                               : close(expected, found[k] * rows.grid),
                          "seed %u, cut %zu, %zu splits: %.15g, not %.15g", seed, c, k, found[k] * rows.grid,
                          expected);
                }
            }
        }
    }
}

TEST(depth_one_finds_the_gains_of_all_sides) { require_side_gains(1); }
TEST(depth_two_finds_the_gains_of_all_sides) { require_side_gains(2); }
TEST(depth_three_finds_the_gains_of_all_sides) { require_side_gains(3); }

// One long ordered column and a random partition of the rows, in units of the grid.
struct ScanExample {
    const Example example;
    const ChainedProblem chained;
    const Rows rows;
    const OrderedRows ordered;
    Partition partition;
    std::vector<double> workspace;

    ScanExample(unsigned seed, const Limits& limits)
        : example(seed, {.n_rows = 3 + static_cast<int>(seed) * 10, .n_columns = 1, .n_bins = 400}),
          chained(split_into_chains(ordered_problem(example.problem))),
          rows(merge_rows(chained.problem, limits, false)),
          ordered(order_rows(rows, chained)),
          workspace(scan_workspace(ordered.n, ordered.width)) {
        std::mt19937 random(seed);
        for (int r = 0; r < ordered.n; ++r) partition.side.push_back(random() % 3 == 0);
        add_up(ordered, partition);
    }

    static Problem ordered_problem(Problem problem) {
        problem.cuts.clear();
        problem.missing_bin = {-1};
        for (int b = 1; b < problem.n_bins[0]; ++b)
            problem.cuts.push_back({0, b, problem.n_bins[0] - 1, false});
        return problem;
    }

    ScanInput input(double* best) {
        const OrderedRows::Order& order = ordered.orders[0];
        return {ordered.n,
                order.row.data(),
                order.code.data(),
                order.sums.data(),
                rows.leaf.spec(),
                partition.side.data(),
                partition.totals.data(),
                workspace.data(),
                best};
    }

    // Sums of the rows of a side below each cut that divides them.
    std::vector<double> sums_below(int side, int& n_cuts) const {
        const OrderedRows::Order& order = ordered.orders[0];
        const std::size_t width = at(ordered.width);
        std::vector<double> out, below(width);
        int last = -1;
        n_cuts = 0;
        for (std::size_t k = 0; k < at(ordered.n); ++k) {
            if (partition.side[at(order.row[k])] != side) continue;
            const int bin = static_cast<int>(order.code[k] >> 1);
            if (last >= 0 && bin != last) {
                out.insert(out.end(), below.begin(), below.end());
                ++n_cuts;
            }
            last = bin;
            for (std::size_t c = 0; c < width; ++c) below[c] += order.sums[k * width + c];
        }
        return out;
    }

    // The best cut of a side: without limits, and within them.
    void require_best(int side, const double* found, unsigned seed) const {
        int n_cuts;
        const std::vector<double> below = sums_below(side, n_cuts);
        const std::size_t width = at(ordered.width);
        double best = infeasible, allowed = infeasible;
        for (int cut = 0; cut < n_cuts; ++cut) {
            const double* part = below.data() + at(cut) * width;
            std::vector<double> rest(width);
            for (std::size_t c = 0; c < width; ++c)
                rest[c] = partition.totals[at(side) * width + c] - part[c];
            const double gain = rows.leaf.gain(part) + rows.leaf.gain(rest.data());
            best = std::max(best, gain);
            if (rows.leaf.allows(part) && rows.leaf.allows(rest.data())) allowed = std::max(allowed, gain);
        }
        CHECK(close(best, found[0]), "seed %u, side %d: %.15g, not %.15g", seed, side, found[0], best);
        CHECK(close(allowed, found[1]), "seed %u, side %d: %.15g, not %.15g within limits", seed, side,
              found[1], allowed);
    }
};

const Limits scan_limits[] = {{2, 3}, {2, 3, {9.0, 0.0}}, {2, 3, {5.0, 3.0}}};

TEST(a_scan_finds_the_best_cut_of_each_side) {
    for (unsigned seed = 0; seed < 60; ++seed)
        for (const Limits& limits : scan_limits) {
            ScanExample scan(seed, limits);
            double best[4] = {infeasible, infeasible, infeasible, infeasible};
            scan.rows.leaf.kernels().scan(scan.input(best));
            for (const int side : {0, 1}) scan.require_best(side, best + 2 * side, seed);
        }
}

TEST(a_scan_of_known_sums_finds_the_best_cut) {
    for (unsigned seed = 0; seed < 60; ++seed)
        for (const Limits& limits : scan_limits) {
            ScanExample scan(seed, limits);
            double best[4] = {infeasible, infeasible, infeasible, infeasible};
            for (const int side : {0, 1}) {
                int n_cuts;
                std::vector<double> sums = scan.sums_below(side, n_cuts);
                sums.resize(sums.size() + at(max_lanes * scan.ordered.width), 0.0);
                scan.rows.leaf.kernels().scan_cuts(scan.input(best), side, sums.data(), n_cuts);
                scan.require_best(side, best + 2 * side, seed);
            }
        }
}

}  // namespace
