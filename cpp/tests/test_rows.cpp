// Rows: merged rows with exact sums, hashes of sets of rows, limits on leaves, and the hash table.
#include <map>

#include "example.hpp"
#include "rows/flat_map.hpp"
#include "rows/rows.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

std::vector<int> bins_of(const RowSet& rows, int r) {
    std::vector<int> out;
    for (int c = 0; c < rows.n_columns; ++c) out.push_back(rows.column(c)[r]);
    return out;
}

std::vector<double> sums_of(const RowSet& rows, int r) {
    const auto first = rows.sums.begin() + static_cast<std::ptrdiff_t>(r) * rows.width;
    return {first, first + rows.width};
}

TEST(merged_rows_are_the_distinct_rows_with_exact_sums) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Example example(seed, {.most_rows = 60});
        const Rows rows = merge_rows(example.problem, {3, 7}, true);
        const RowSet& all = rows.all;
        CHECK(all.width == 2, "seed %u: %d numbers a row", seed, all.width);
        std::map<std::vector<int>, std::vector<double>> expected;  // by bins: sums in units
        for (std::size_t r = 0; r < example.problem.n_rows; ++r) {
            std::vector<int> bins;
            for (std::size_t c = 0; c < example.problem.n_columns; ++c)
                bins.push_back(example.bins[c * example.problem.n_rows + r]);
            std::vector<double>& sums = expected[bins];
            sums.resize(2);
            for (std::size_t k = 0; k < 2; ++k)
                sums[k] += std::nearbyint(example.sums[k * example.problem.n_rows + r] / rows.grid);
        }
        CHECK(at(all.n) == expected.size(), "seed %u: %d rows, not %zu", seed, all.n, expected.size());
        for (int r = 0; r < all.n; ++r)
            CHECK(sums_of(all, r) == expected[bins_of(all, r)], "seed %u, row %d", seed, r);
        for (const double total : sum_rows(all))
            CHECK(total < 0x1p53 && total >= 0, "seed %u: %g units are not exact", seed, total);
        const double hazard = sum_rows(all)[1] * rows.grid;
        const auto middle = example.sums.begin() + static_cast<std::ptrdiff_t>(example.problem.n_rows);
        CHECK(close(std::accumulate(middle, example.sums.end(), 0.0), hazard), "seed %u: %g", seed, hazard);
        CHECK(merge_rows(example.problem, {3, 7}, false).all.n == static_cast<int>(example.problem.n_rows),
              "seed %u: merged although not asked", seed);
    }
}

TEST(rounding_down_lowers_hazards_and_counts_what_is_lost) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        Example example(seed, {.most_rows = 60});
        Problem& problem = example.problem;
        problem.round_down = true;
        example.hazard(0) = 1e18;  // a unit of the grid is more than the other hazards
        example.events(1) = 1000;
        example.set_grid();
        const Rows rows = merge_rows(problem, {3, 7}, false);
        double slack = 0;
        for (std::size_t r = 0; r < problem.n_rows; ++r) {
            const double events = example.events(r) / rows.grid, hazard = example.hazard(r) / rows.grid;
            const std::vector<double> sums = sums_of(rows.all, static_cast<int>(r));
            if (hazard >= 1) {
                CHECK(sums[1] == std::floor(hazard) && sums[0] == std::nearbyint(events), "seed %u", seed);
                continue;
            }
            CHECK(sums[0] == 0 && sums[1] == 0, "seed %u: row %zu is not left out", seed, r);
            if (events > hazard) slack += events * std::log(events / hazard);
        }
        // That of each row is rounded up, so that their order does not matter.
        const double most = slack + static_cast<double>(problem.n_rows) * 0x1p-20;
        CHECK(slack > 0 && rows.slack > slack - tolerance(slack) && rows.slack < most + tolerance(slack),
              "seed %u: slack %g, not %g", seed, rows.slack, slack);
        problem.round_down = false;
        CHECK(merge_rows(problem, {3, 7}, false).slack == 0, "seed %u", seed);
    }
}

// The hash of a set is the sum of those of its rows, so two sides add up to the whole.
TEST(sides_have_the_rows_and_the_hash_of_their_bins) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Example example(seed, {.most_rows = 60});
        const Columns columns(example.problem, 2);
        const Rows rows = merge_rows(example.problem, example.limits, true);
        const RowSet& all = rows.all;
        for (const Column& column : columns)
            for (int region = 0; region < column.whole().n_regions; ++region) {
                const int c = column.index;
                RowSet part;
                take_rows(all, column, region, part);
                RowSetHash hash;
                int next = 0;
                for (int r = 0; r < all.n; ++r) {
                    bool inside = false;
                    for (const Run& run : column.whole().runs_of(region))
                        inside = inside || (all.column(c)[r] >= run.first && all.column(c)[r] < run.last);
                    if (!inside) continue;
                    hash = hash + all.hashes[at(r)];
                    CHECK(next < part.n && bins_of(part, next) == bins_of(all, r) &&
                              sums_of(part, next) == sums_of(all, r),
                          "seed %u, region %d, row %d", seed, region, r);
                    ++next;
                }
                CHECK(next == part.n, "seed %u: %d rows, not %d", seed, part.n, next);
                CHECK(hash_of(part) == hash && (part.n > 0) == (hash != RowSetHash{}), "seed %u", seed);
            }
    }
}

TEST(sorted_rows_are_grouped_by_bin) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Example example(seed, {.most_rows = 60});
        const Rows rows = merge_rows(example.problem, example.limits, true);
        for (int c = 0; c < rows.all.n_columns; ++c) {
            std::vector<int> begin;
            RowSet sorted;
            const int n_bins = example.problem.n_bins[at(c)];
            sort_rows(rows.all, c, n_bins, begin, sorted);
            CHECK(sorted.n == rows.all.n && begin.front() == 0 && begin.back() == sorted.n, "seed %u", seed);
            std::multimap<std::vector<int>, std::vector<double>> expected, found;
            for (int r = 0; r < sorted.n; ++r) {
                expected.emplace(bins_of(rows.all, r), sums_of(rows.all, r));
                found.emplace(bins_of(sorted, r), sums_of(sorted, r));
            }
            CHECK(found == expected, "seed %u: other rows", seed);
            for (int b = 0; b < n_bins; ++b)
                for (int r = begin[at(b)]; r < begin[at(b + 1)]; ++r)
                    CHECK(sorted.column(c)[r] == b, "seed %u, bin %d", seed, b);
        }
    }
}

// Limits of zero limit nothing, and are not counted.
TEST(a_leaf_is_allowed_with_enough_of_every_count) {
    constexpr std::size_t n_counts = 4;
    for (unsigned seed = 0; seed < 300; ++seed) {
        Example example(seed, {.n_rows = 12});
        Problem& problem = example.problem;
        std::mt19937 random(seed);
        std::vector<double> counts;
        for (std::size_t k = 0; k < n_counts * problem.n_rows; ++k) counts.push_back(random() % 3);
        problem.counts = counts.data();
        Limits limits{3, 7, std::vector<double>(n_counts)};
        for (double& least : limits.least) least = random() % 2 ? 1 + random() % 8 : 0;
        const int n_active = static_cast<int>(
            n_counts - at(static_cast<int>(std::count(limits.least.begin(), limits.least.end(), 0.0))));
        const Rows rows = merge_rows(problem, limits, false);
        CHECK(rows.leaf.is_limited() == (n_active > 0), "seed %u", seed);
        CHECK(rows.leaf.counted().size() == at(n_active) && rows.leaf.width() >= 2 + n_active, "seed %u",
              seed);
        for (int round = 0; round < 20; ++round) {
            std::vector<double> sums(at(rows.leaf.width())), total(n_counts);
            for (std::size_t r = 0; r < problem.n_rows; ++r) {
                if (random() % 2) continue;
                const std::vector<double> row = sums_of(rows.all, static_cast<int>(r));
                for (std::size_t k = 0; k < row.size(); ++k) sums[k] += row[k];
                for (std::size_t k = 0; k < n_counts; ++k) total[k] += counts[k * problem.n_rows + r];
            }
            bool allowed = true;
            for (std::size_t k = 0; k < n_counts; ++k) allowed = allowed && total[k] >= limits.least[k];
            CHECK(rows.leaf.allows(sums.data()) == allowed, "seed %u, %d limits", seed, n_active);
            const double gain = rows.leaf.limited_gain(sums.data());
            CHECK(gain == (allowed ? rows.leaf.gain(sums.data()) : infeasible), "seed %u: %g", seed, gain);
        }
    }
}

struct Colliding {
    int value = 0;
    bool operator==(const Colliding&) const = default;
    std::size_t hash() const { return at(value % 3); }
};

TEST(a_flat_map_keeps_the_first_value_of_each_key) {
    FlatMap<Colliding, int> map;
    CHECK(!map.find({1}) && !map.has_room(), "an empty map");
    for (int k = 1; k <= 200; ++k) {
        if (!map.has_room()) map.grow();
        CHECK(map.insert({k}, 10 * k) == 10 * k, "key %d", k);
        CHECK(map.insert({k}, -1) == 10 * k, "key %d is replaced", k);
    }
    for (int k = 1; k <= 200; ++k) CHECK(map.find({k}) && *map.find({k}) == 10 * k, "key %d", k);
    for (const int k : {-3, 201, 300}) CHECK(!map.find({k}), "key %d was not inserted", k);
}

}  // namespace
