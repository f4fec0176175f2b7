// Parts of the searches by themselves: profiles, caches, the worker pool, sides and bounds.
#include <thread>

#include "example.hpp"
#include "search/bounds.hpp"
#include "search/frontier.hpp"
#include "search/side_cache.hpp"
#include "search/table_solver.hpp"
#include "search/workers.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

TEST(joined_profiles_share_splits_in_every_way) {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        const auto profile = [&] {
            Profile out(1 + random() % 5);
            for (double& gain : out) gain = random() % 100;
            make_monotone(out);
            return out;
        };
        const Profile yes = profile(), no = profile();
        Profile out(1 + random() % 9, 50.0), expected = out;
        join(yes, no, out);
        for (std::size_t k = 1; k < out.size(); ++k)
            for (std::size_t i = 0; i < k; ++i)
                if (i < yes.size() && k - 1 - i < no.size())
                    expected[k] = std::max(expected[k], yes[i] + no[k - 1 - i]);
        CHECK(out == expected, "round %d", round);
        make_monotone(out);
        CHECK(std::is_sorted(out.begin(), out.end()), "round %d", round);
    }
}

TEST(fewest_splits_ignore_gains_within_a_tie) {
    const Profile gains{1, 2, 2 + 1e-9, 3};
    CHECK(fewest_splits(3, gains, 1e-6) == 3, "%d", fewest_splits(3, gains, 1e-6));
    CHECK(fewest_splits(2, gains, 1e-6) == 1, "%d", fewest_splits(2, gains, 1e-6));
    CHECK(fewest_splits(2, gains, 0) == 2, "%d", fewest_splits(2, gains, 0));
    CHECK(fewest_splits(0, gains, 1) == 0, "%d", fewest_splits(0, gains, 1));
}

// The most splits of a tree that is some levels below the root of one within the limits, by listing trees.
TEST(budgets_are_the_splits_that_limits_and_rows_allow) {
    for (int depth = 0; depth <= 4; ++depth)
        for (int splits = 0; splits <= 16; ++splits)
            for (int n_rows = 1; n_rows <= 12; ++n_rows) {
                const std::vector<int> budget = split_budgets({depth, splits}, n_rows);
                const int useful = std::min({depth, splits, n_rows - 1});
                CHECK(static_cast<int>(budget.size()) == useful + 1, "depth %d, %d splits, %d rows", depth,
                      splits, n_rows);
                for (int d = 0; d <= useful; ++d) {
                    // A path to depth d spends a split at each level above it.
                    int most = std::min(splits, n_rows - 1) - (useful - d);
                    most = std::min(most, (1 << d) - 1);
                    CHECK(budget[at(d)] == most, "depth %d, %d splits, %d rows: %d at depth %d, not %d",
                          depth, splits, n_rows, budget[at(d)], d, most);
                }
            }
}

TEST(a_cache_finds_what_it_has_room_for) {
    Cache<SideCache::Gains> cache;
    const std::size_t room = 1 << 20;
    std::atomic<std::size_t> bytes_left = room;
    SideCache::Gains out{};
    const auto number = [](std::size_t k) { return static_cast<double>(k); };
    std::size_t n_found = 0;
    for (std::size_t k = 0; k < 40000; ++k) cache.store(hash_of_row(k), {number(k), 1, 2, 3}, bytes_left);
    for (std::size_t k = 0; k < 40000; ++k)
        if (cache.find(hash_of_row(k), out)) {
            CHECK(out[0] == number(k) && out[3] == 3, "hash %zu", k);
            ++n_found;
        }
    CHECK(n_found > room / Cache<SideCache::Gains>::bytes_per_entry, "found %zu", n_found);
    CHECK(n_found * sizeof(out) < room - bytes_left && bytes_left <= room, "found %zu", n_found);
    CHECK(!cache.find(hash_of_row(40000), out), "nobody stored it");
}

TEST(a_frozen_cache_keeps_what_it_has) {
    Cache<SideCache::Gains> cache;
    std::atomic<std::size_t> bytes_left = 1 << 20;
    SideCache::Gains out{};
    cache.store(hash_of_row(0), {1, 2, 3, 4}, bytes_left);
    cache.freeze();
    cache.store(hash_of_row(1), {}, bytes_left);
    CHECK(cache.find(hash_of_row(0), out) && out[2] == 3, "%g", out[2]);
    CHECK(!cache.find(hash_of_row(1), out), "stored after it was frozen");
}

TEST(a_cache_counts_the_memory_of_profiles) {
    Cache<Profile> cache;
    const Profile profile(1000, 1.5);
    std::atomic<std::size_t> bytes_left = 100'000;
    for (std::size_t k = 0; k < 100; ++k) cache.store(hash_of_row(k), profile, bytes_left);
    Profile out;
    int n_found = 0;
    for (std::size_t k = 0; k < 100; ++k) n_found += cache.find(hash_of_row(k), out) && out == profile;
    CHECK(n_found > 0 && n_found <= 12, "%d profiles of 8,000 bytes in 100,000", n_found);
}

const auto no_progress = [] { return Progress{}; };

TEST(threads_all_finish) {
    Control control;
    Workers workers(control);
    std::atomic<int> n_finished{0};
    const Status status = workers.run(5, [&] { ++n_finished; }, no_progress);
    CHECK(status == Status::optimal && n_finished == 5, "%d finished", n_finished.load());
    CHECK(!workers.stopped(), "nobody stopped them");
    CHECK(workers.run_here([&] { ++n_finished; }) == Status::optimal && n_finished == 6, "not run here");
}

TEST(threads_begin_as_many_tasks_as_allowed) {
    for (const int most : {0, 1, 7, 1000}) {
        Control control;
        control.switches.stop_after = most;
        Workers workers(control);
        std::atomic<int> n_tasks{0};
        const auto work = [&] {
            for (int k = 0; k < 20 && workers.may_begin_task(); ++k) ++n_tasks;
        };
        const Status status = workers.run(3, work, no_progress);
        CHECK(n_tasks == std::min(most, 60), "%d tasks, not %d", n_tasks.load(), most);
        CHECK(status == (most < 60 ? Status::interrupted : Status::optimal), "after %d tasks", most);
        workers.go_on();
        CHECK(!workers.stopped(), "after %d tasks", most);
    }
}

TEST(threads_stop_at_the_time_limit) {
    Control control;
    control.time_limit = 1e-3;
    control.should_stop = [](const Progress&) { return false; };
    Workers workers(control);
    const auto work = [&] {
        while (!workers.stopped()) std::this_thread::yield();
    };
    CHECK(workers.run(2, work, no_progress) == Status::time_limit, "ended otherwise");
    CHECK(!workers.may_begin_task(), "a task began after the end");
}

TEST(threads_stop_where_the_user_wants) {
    for (const bool wants_progress : {false, true}) {
        Control control;
        control.time_limit = 1e10;  // years: no limit
        control.wants_progress = wants_progress;
        double shown = -1;
        control.should_stop = [&](const Progress& progress) {
            shown = progress.gain;
            return true;
        };
        Workers workers(control);
        const auto work = [&] {
            while (!workers.stopped()) std::this_thread::yield();
        };
        const Status status = workers.run(2, work, [] { return Progress{0.5, 3, 4}; });
        CHECK(status == Status::interrupted, "ended otherwise");
        CHECK(shown == (wants_progress ? 3 : 0), "shown %g", shown);
    }
}

TEST(only_limits_that_a_clock_can_reach_are_timed) {
    Control control;
    for (const double seconds : {0.0, 1e10, static_cast<double>(INFINITY)}) {
        control.time_limit = seconds;
        CHECK(!is_timed(control), "%g seconds", seconds);
    }
    control.time_limit = 1e6;
    CHECK(is_timed(control), "11 days");
}

// A problem with its columns and unmerged rows: row r is row r of the example.
struct Prepared {
    const Problem& problem;
    const Columns columns;
    const Rows rows;

    Prepared(const Example& example, int levels)
        : problem(example.problem),
          columns(problem, levels),
          rows(merge_rows(problem, example.limits, false)) {}

    Example::Rows side(const Example& example, int side) const {
        const Column& column = columns.of_side(side);
        const int s = side - column.first_side();
        return example.side(example.all(), problem.cuts[at(column.first_cut + s % column.n_cuts)],
                            s < column.n_cuts);
    }
};

TEST(side_counts_are_those_of_plain_counting) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Example example(seed, {.most_bins = 6});
        const Prepared prepared(example, 1);
        const SideCounts counts(prepared.columns, prepared.rows.all);
        for (int side = 0; side < prepared.columns.n_sides(); ++side) {
            const Example::Rows rows = prepared.side(example, side);
            RowSetHash hash;
            for (const std::size_t r : rows) hash = hash + prepared.rows.all.hashes[r];
            CHECK(at(counts.n[at(side)]) == rows.size() && counts.hash[at(side)] == hash, "seed %u, side %d",
                  seed, side);
            CHECK(counts.divides(side, prepared.rows.all.n) ==
                      (!rows.empty() && rows.size() < example.problem.n_rows),
                  "seed %u, side %d", seed, side);
        }
    }
}

TEST(side_hashes_are_those_of_the_rows_of_a_region) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const Example example(seed, {.most_bins = 6});
        const Prepared prepared(example, 2);
        SideHashes hashes;
        for (const Column& column : prepared.columns) {
            hashes.read(prepared.rows.all, prepared.columns, column);
            for (int region = 0; region < column.whole().n_regions; ++region) {
                RowSet part;
                take_rows(prepared.rows.all, column, region, part);
                CHECK(hashes.of(region) == SideCounts(prepared.columns, part).hash, "seed %u, region %d",
                      seed, region);
            }
        }
    }
}

// What a kernel of depth three finds comes back from the cache: joined, and side by side.
TEST(cached_sides_join_as_the_kernel_does) {
    const bool stop = false;
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Example example(seed, {.most_bins = 5});
        const Prepared prepared(example, 3);
        const RowSet& all = prepared.rows.all;
        const TableSolver solver(prepared.columns, prepared.rows, 3, &stop);
        Scratch scratch;
        SideProfiles solved;
        CHECK(solver.solve(all, 3, scratch, solved), "stopped");
        std::atomic<std::size_t> bytes_left = 1 << 24;
        SideCache cache(prepared.columns, bytes_left);
        const SideCounts sides(prepared.columns, all);
        Profile expected(8, 2 * infeasible), joined = expected;
        const bool divided = !solved.gains.empty();
        CHECK(cache.join_into(joined, hash_of(all), sides.hash) == !divided, "seed %u: found too early",
              seed);
        cache.store(solved, sides.hash);
        joined = expected;
        CHECK(cache.join_into(joined, hash_of(all), sides.hash), "seed %u: a side is not found", seed);
        solved.join_into(expected);
        CHECK(joined == expected, "seed %u", seed);
        SideProfiles loaded;
        CHECK(cache.load(all, loaded), "seed %u: a side is not found", seed);
        std::vector<Profile> from_cache = loaded.by_side(prepared.columns);
        CHECK(from_cache == solved.by_side(prepared.columns), "seed %u", seed);
    }
}

std::vector<double> optima(const Example& example, const Example::Rows& rows, int depth, int budget,
                           double grid) {
    std::vector<double> out;
    for (int k = 0; k <= budget; ++k) out.push_back(example.best(rows, depth, k, false) / grid);
    return out;
}

// Whichever sides of the root are solved, no side gains more than its bound, nor does a whole tree.
TEST(bounds_of_the_root_are_never_below_the_optimum) {
    constexpr int depth = 1, budget = 1;
    int n_useful = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
        Example example(seed, {.n_columns = 2, .most_bins = 6});
        const bool limited = seed % 3 == 0;
        example.set_limits(depth + 1, 3, limited ? 3 : 1, limited ? 1 : 0);
        const Prepared prepared(example, 1);
        const RootBounds bounds(prepared.columns, prepared.rows);
        const double grid = prepared.rows.grid;
        std::vector<Profile> optimum;
        for (int side = 0; side < prepared.columns.n_sides(); ++side)
            optimum.push_back(optima(example, prepared.side(example, side), depth, budget, grid));
        std::mt19937 random(seed);
        for (int round = 0; round < 8; ++round) {
            std::vector<RootResult> results(optimum.size());
            for (std::size_t s = 0; s < results.size(); ++s) {
                if (prepared.side(example, static_cast<int>(s)).empty()) continue;
                const int kind = static_cast<int>(random() % 3);
                if (kind == 0) results[s] = {depth, optimum[s]};
                if (kind == 1) results[s] = {depth - 1, {optimum[s][0]}};  // solved to less depth
            }
            const std::vector<RootResult> upper = bounds.upper(results, depth, budget);
            double saturated = 0;
            for (const double gain :
                 prepared.rows.leaf.saturated(prepared.rows.all.sums.data(), prepared.rows.all.n))
                saturated += gain;
            for (std::size_t s = 0; s < results.size(); ++s) {
                if (prepared.side(example, static_cast<int>(s)).empty()) continue;
                for (std::size_t k = 0; k <= budget; ++k) {
                    const double bound = upper[s].profile[k], best = optimum[s][k];
                    CHECK(bound >= best - tolerance(best), "seed %u, side %zu, %zu splits: %.15g < %.15g",
                          seed, s, k, bound, best);
                }
                n_useful += results[s].depth != depth && upper[s].profile[0] < saturated / 2;
            }
            const double leaf = prepared.rows.leaf.gain(sum_rows(prepared.rows.all).data());
            const Profile whole = root_gains(prepared.columns, upper, leaf, example.limits.max_splits);
            for (int k = 0; k <= example.limits.max_splits; ++k) {
                const double best = example.best(example.all(), depth + 1, k) / grid;
                CHECK(whole[at(k)] >= best - tolerance(best), "seed %u, %d splits: %.15g < %.15g", seed, k,
                      whole[at(k)], best);
            }
        }
    }
    CHECK(n_useful > 100, "%d bounds are useful", n_useful);
}

// Two solved cuts of a chain bound all cuts between them.
TEST(bounds_between_two_cuts_of_a_chain_hold) {
    constexpr int child_depth = 1, child_budget = 1, n_splits = 3;
    for (unsigned seed = 0; seed < 60; ++seed) {
        Example example(seed, {.n_rows = 15, .n_columns = 2, .most_bins = 8});
        example.set_limits(child_depth + 1, n_splits, 1, 0);
        const ChainedProblem chained = split_into_chains(example.problem);
        const Rows rows = merge_rows(chained.problem, example.limits, false);
        const OrderedRows all = order_rows(rows, chained);
        const Profile start(n_splits + 1, rows.leaf.gain(sum_rows(rows.all).data()));
        Frontier frontier(all, chained, rows, {start, start, std::vector<Choice>(n_splits + 1)}, {},
                          child_budget, 0.0, nullptr);
        for (int chain = 0; chain < chained.n_chains; ++chain) {
            const int n = frontier.n_boundaries(chain);
            std::vector<Profile> optimum(at(n + 1));  // with the cut of each boundary
            for (int b = 1; b <= n; ++b) {
                Partition partition;
                frontier.divide(all, {chain, b}, partition);
                Outcome sides[2];
                for (const int side : {0, 1}) {
                    Example::Rows members;
                    for (const std::size_t r : example.all())
                        if (partition.side[r] == side) members.push_back(r);
                    CHECK(static_cast<int>(members.size()) == partition.n[side], "seed %u", seed);
                    sides[side].bound = optima(example, members, child_depth, child_budget, rows.grid);
                }
                optimum[at(b)].assign(n_splits + 1, -INFINITY);
                join(sides[0].bound, sides[1].bound, optimum[at(b)]);
                frontier.keep_bounds({chain, b}, sides);
            }
            for (int low = 0; low <= n; ++low)
                for (int high = low + 2; high <= n + 1; ++high)
                    for (std::size_t k = 1; k <= n_splits; ++k) {
                        double best = -INFINITY;
                        for (int b = low + 1; b < high; ++b) best = std::max(best, optimum[at(b)][k]);
                        const double bound = frontier.bound_between(chain, low, high, k);
                        CHECK(bound >= best - tolerance(best),
                              "seed %u, chain %d, %d to %d, %zu splits: %.15g < %.15g", seed, chain, low,
                              high, k, bound, best);
                    }
        }
    }
}

}  // namespace
