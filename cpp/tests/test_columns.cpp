// Columns: regions against plain sets of bins, chains and regrouped columns against the rows of each cut.
#include <map>
#include <set>

#include "columns/chains.hpp"
#include "columns/regroup.hpp"
#include "example.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

using Mask = std::uint64_t;

bool holds(const Problem& problem, const Cut& cut, int bin) {
    const bool inside = (bin >= cut.first && bin <= cut.last && !(cut.gaps >> (bin & 63) & 1)) ||
                        (cut.missing && bin == problem.missing_bin[at(cut.column)]);
    return inside != cut.negated;
}

std::vector<bool> rows_of(const Problem& problem, const Cut& cut) {
    std::vector<bool> out;
    for (std::size_t r = 0; r < problem.n_rows; ++r)
        out.push_back(holds(problem, cut, problem.bins[at(cut.column) * problem.n_rows + r]));
    return out;
}

Mask bins_of(const Problem& problem, const Cut& cut) {
    Mask out = 0;
    for (int b = 0; b < problem.n_bins[at(cut.column)]; ++b) out |= Mask{holds(problem, cut, b)} << b;
    return out;
}

Mask bins_of(const ColumnRegions& regions, int region) {
    Mask out = 0;
    for (const Run& run : regions.runs_of(region))
        for (int b = run.first; b < run.last; ++b) out |= Mask{1} << b;
    return out;
}

Mask all_bins(const Column& column) { return (Mask{1} << column.n_bins) - 1; }

// Sides are listed as cuts are; further regions once each, and with each region its parts by every cut.
void require_regions(const ColumnRegions& regions, unsigned seed) {
    std::set<Mask> later;
    for (int r = regions.n_sides; r < regions.n_deep; ++r) later.insert(bins_of(regions, r));
    CHECK(later.size() == at(regions.n_deep - regions.n_sides), "seed %u: a region is listed twice", seed);
    for (int r = 0; r + 1 < static_cast<int>(regions.split_begin.size()); ++r) {
        const Mask region = bins_of(regions, r);
        int next = regions.split_begin[at(r)];
        for (int c = 0; c < regions.n_cuts; ++c) {
            const Mask yes = region & bins_of(regions, c), no = region & ~yes;
            if (yes == 0 || no == 0) continue;
            CHECK(next < regions.split_begin[at(r + 1)], "seed %u: region %d lacks cut %d", seed, r, c);
            const Split& split = regions.splits[at(next++)];
            CHECK(bins_of(regions, split.yes) == yes && bins_of(regions, split.no) == no,
                  "seed %u: region %d, cut %d", seed, r, c);
        }
        CHECK(next == regions.split_begin[at(r + 1)], "seed %u: region %d has too many splits", seed, r);
    }
}

TEST(sides_are_the_bins_where_cuts_hold) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Example example(seed, {.most_bins = 7});
        const Problem& problem = example.problem;
        const Columns columns(problem, 3);
        for (const Column& column : columns) {
            const ColumnRegions& whole = column.whole();
            CHECK(whole.n_cuts == column.n_cuts, "seed %u", seed);
            for (int c = 0; c < column.n_cuts; ++c) {
                const Mask yes = bins_of(problem, problem.cuts[at(column.first_cut + c)]);
                CHECK(bins_of(whole, c) == yes, "seed %u, cut %d", seed, c);
                CHECK(bins_of(whole, column.n_cuts + c) == (all_bins(column) & ~yes), "seed %u, cut %d", seed,
                      c);
                const int side = column.side(c, true);
                CHECK(columns.opposite(side) == column.side(c, false), "seed %u", seed);
                CHECK(columns.opposite(columns.opposite(side)) == side, "seed %u", seed);
                CHECK(&columns.of_side(side) == &column && columns.side_of(whole, c) == side, "seed %u",
                      seed);
            }
            require_regions(whole, seed);
        }
    }
}

// Cuts that divide the occupied bins in a new way are kept, and no others.
TEST(regions_within_occupied_bins_are_intersections) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Example example(seed, {.most_bins = 7});
        const Columns columns(example.problem, 3);
        std::mt19937 random(seed);
        for (const Column& column : columns)
            for (int round = 0; round < 10; ++round) {
                const Mask occupied = random() & all_bins(column);
                const ColumnRegions& regions = column.within(occupied);
                require_regions(regions, seed);
                std::set<Mask> expected, found;
                const auto divided = [&](Mask yes) { return std::min(yes, occupied & ~yes); };
                for (int c = 0; c < column.n_cuts; ++c)
                    expected.insert(divided(bins_of(column.whole(), c) & occupied));
                expected.erase(0);
                for (int c = 0; c < regions.n_cuts; ++c) {
                    const Mask yes = bins_of(regions, c) & occupied;
                    const int cut = regions.cut_of[at(c)] - column.first_cut;
                    CHECK(yes == (bins_of(column.whole(), cut) & occupied), "seed %u, cut %d", seed, cut);
                    found.insert(divided(yes));
                }
                found.erase(0);  // an ordered column keeps cuts within gaps of the occupied bins
                CHECK(found == expected, "seed %u: %zu ways to divide %llx, not %zu", seed, found.size(),
                      static_cast<unsigned long long>(occupied), expected.size());
                CHECK(regions.part_of.size() == at(column.whole().n_regions), "seed %u", seed);
                for (int r = 0; r < column.whole().n_regions; ++r) {
                    const Mask expected_part = bins_of(column.whole(), r) & occupied;
                    const int part = regions.part_of[at(r)];
                    CHECK(part < regions.n_regions, "seed %u, region %d", seed, r);
                    const Mask found_part = part == ColumnRegions::no_rows    ? 0
                                            : part == ColumnRegions::all_rows ? occupied
                                                                              : bins_of(regions, part);
                    CHECK((found_part & occupied) == expected_part, "seed %u, region %d", seed, r);
                }
            }
    }
}

TEST(an_occupied_interval_keeps_the_first_of_equal_cuts) {
    const Example example(1, {.n_rows = 20, .n_columns = 4, .n_bins = 6});
    const Columns columns(example.problem, 3);
    for (const Column& column : columns) {
        const Mask occupied = Mask{7} << 1;  // bins 1, 2, 3
        std::map<Mask, int> first;
        for (int c = column.n_cuts - 1; c >= 0; --c) {
            const Mask yes = bins_of(column.whole(), c) & occupied;
            first[std::min(yes, occupied & ~yes)] = column.first_cut + c;
        }
        first.erase(0);
        const ColumnRegions& regions = column.within(occupied);
        CHECK(at(regions.n_cuts) == first.size(), "%d cuts, not %zu", regions.n_cuts, first.size());
        for (int c = 0; c < regions.n_cuts; ++c) {
            const Mask yes = bins_of(regions, c);
            CHECK(first[std::min(yes, occupied & ~yes)] == regions.cut_of[at(c)], "cut %d", c);
        }
    }
}

std::vector<bool> opposite(std::vector<bool> rows) {
    rows.flip();
    return rows;
}

// Cut k of a chain divides ranks 0..k from those above; all cuts of the problem are in chains or others.
TEST(chains_are_nested_and_hold_all_cuts) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Example example(seed, {.most_bins = 7});
        const Problem& problem = example.problem;
        const ChainedProblem chained = split_into_chains(problem);
        CHECK(chained.problem.n_columns == chained.columns.size(), "seed %u", seed);
        std::set<std::vector<bool>> ways;
        for (int v = 0; v < chained.n_chains; ++v) {
            const ChainedProblem::Column& chain = chained[v];
            const std::uint16_t* rank = chained.problem.bins + at(v) * problem.n_rows;
            for (std::size_t k = 0; k < chain.cut.size(); ++k) {
                std::vector<bool> above;
                for (std::size_t r = 0; r < problem.n_rows; ++r) above.push_back(rank[r] > k);
                const std::vector<bool> yes = rows_of(problem, problem.cuts[at(chain.cut[k])]);
                CHECK(yes == above || yes == opposite(above), "seed %u, chain %d, cut %zu", seed, v, k);
                ways.insert(above);
                ways.insert(opposite(above));
            }
        }
        for (int v = chained.n_chains; v < chained.n_columns(); ++v) {
            const ChainedProblem::Column& other = chained[v];
            const std::uint16_t* bins = chained.problem.bins + at(v) * problem.n_rows;
            for (std::size_t c = 0; c < other.cut.size(); ++c) {
                std::vector<bool> yes;
                for (std::size_t r = 0; r < problem.n_rows; ++r)
                    yes.push_back(std::any_of(
                        other.holds[c].begin(), other.holds[c].end(),
                        [&](const Run& run) { return bins[r] >= run.first && bins[r] < run.last; }));
                CHECK(yes == rows_of(problem, problem.cuts[at(other.cut[c])]), "seed %u, cut %zu", seed, c);
                ways.insert(yes);
            }
        }
        for (std::size_t c = 0; c < problem.cuts.size(); ++c)
            CHECK(ways.count(rows_of(problem, problem.cuts[c])), "seed %u: cut %zu is lost", seed, c);
    }
}

// Columns with one row for each bin, the missing bin included.
struct Plain {
    std::vector<std::uint16_t> bins;
    Problem problem;

    explicit Plain(int n_rows) { problem.n_rows = at(n_rows); }
    Plain(const Plain&) = delete;

    void add(int n_bins, int missing_bin, const std::vector<Cut>& cuts) {
        for (std::size_t r = 0; r < problem.n_rows; ++r)
            bins.push_back(static_cast<std::uint16_t>(r % at(n_bins)));
        for (Cut cut : cuts) {
            cut.column = static_cast<int>(problem.n_columns);
            problem.cuts.push_back(cut);
        }
        problem.n_bins.push_back(n_bins);
        problem.missing_bin.push_back(missing_bin);
        ++problem.n_columns;
        problem.bins = bins.data();
    }
};

TEST(a_cut_with_gaps_holds_for_the_other_bins_and_is_no_chain) {
    const Cut cut{0, 1, 4, true, false, 1ULL << 2 | 1ULL << 3};
    CHECK((region_of(cut, 7, 6) == Region{{1, 2}, {4, 5}, {6, 7}}), "another region");
    Cut negated = cut;
    negated.negated = true;
    CHECK((region_of(negated, 7, 6) == Region{{0, 1}, {2, 4}, {5, 6}}), "another complement");
    for (int b = 0; b < 7; ++b) {
        CHECK(cut.holds(b, 6) == (b == 1 || b == 4 || b == 6), "bin %d", b);
        CHECK(negated.holds(b, 6) != cut.holds(b, 6), "bin %d", b);
    }
    Plain plain(5);
    plain.add(5, -1, {{0, 1, 4, false}, {0, 2, 4, false, false, 1ULL << 3}});
    CHECK(split_into_chains(plain.problem).n_chains == 0, "a chain with gaps");
}

TEST(missing_values_make_two_chains) {
    Plain plain(4);  // values 0, 1, 2, and missing
    plain.add(4, 3, {{0, 1, 2, false}, {0, 1, 2, true}, {0, 2, 2, false}, {0, 2, 2, true}, {0, 3, 3, true}});
    const ChainedProblem chained = split_into_chains(plain.problem);
    CHECK(chained.n_chains == 2 && chained.n_columns() == 2, "%d chains", chained.n_chains);
    const auto rank = [&](int chain, int row) { return chained.problem.bins[at(4 * chain + row)]; };
    CHECK(rank(0, 3) == 0 && rank(0, 2) == 2, "missing is not below the values");
    CHECK(rank(1, 3) == 3 && rank(1, 2) == 2, "missing is not above the values");
    CHECK((chained[0].cut == std::vector<int>{0, 2}), "the first chain");
    CHECK((chained[1].cut == std::vector<int>{1, 3, 4}), "the second chain");
}

// Regrouping makes such a cut of a binary column that is constant.
TEST(a_cut_that_holds_nowhere_stays_at_the_end_of_its_chain) {
    Plain plain(3);
    plain.add(3, -1, {{0, 1, 2, false}, {0, 3, 2, false}, {0, 2, 2, false}});
    const ChainedProblem chained = split_into_chains(plain.problem);
    CHECK(chained.n_chains == 1 && (chained[0].cut == std::vector<int>{0, 2, 1}), "another order");
    for (std::size_t r = 0; r < 3; ++r) CHECK(chained.problem.bins[r] == r, "rank of row %zu", r);
}

TEST(the_longest_chain_counts_ordered_columns_only) {
    Plain plain(6);
    CHECK(longest_chain(plain.problem) == 0, "no columns");
    plain.add(6, -1, {{0, 0, 0, false}, {0, 1, 1, false}, {0, 2, 2, false}, {0, 3, 3, false}});
    CHECK(longest_chain(plain.problem) == 0, "categories are no chain");
    plain.add(4, -1, {{0, 1, 3, false}, {0, 2, 3, false}, {0, 3, 3, false}});
    plain.add(3, -1, {{0, 1, 2, false}, {0, 2, 2, false}});
    CHECK(longest_chain(plain.problem) == 3, "%d", longest_chain(plain.problem));
}

// Binary columns of thresholds, of categories and of noise, each cut on either of its bins.
struct Binary {
    std::vector<std::uint16_t> bins;
    Problem problem;

    Binary(unsigned seed, int n_values, int n_noise) {
        std::mt19937 random(seed);
        problem.n_rows = 70;  // more than a word of bits
        std::vector<int> value, category;
        for (std::size_t r = 0; r < problem.n_rows; ++r) {
            value.push_back(static_cast<int>(random() % static_cast<unsigned>(n_values)));
            category.push_back(static_cast<int>(random() % 4));
        }
        std::vector<std::vector<bool>> sets;
        for (int v = 1; v < n_values; ++v) {
            sets.emplace_back();
            for (const int x : value) sets.back().push_back(x >= v);
        }
        for (int v = 0; v < 4; ++v) {
            sets.emplace_back();
            for (const int x : category) sets.back().push_back(x == v);
        }
        for (int k = 0; k < n_noise; ++k) {
            sets.emplace_back();
            for (std::size_t r = 0; r < problem.n_rows; ++r) sets.back().push_back(random() % 2);
        }
        // Within each kind: a threshold that comes among categories may happen to be compatible with them.
        std::shuffle(sets.begin(), sets.begin() + n_values - 1, random);
        std::shuffle(sets.begin() + n_values - 1, sets.begin() + n_values + 3, random);
        for (const std::vector<bool>& set : sets) {
            for (const bool in_set : set) bins.push_back(in_set);
            const int bin = random() % 2;
            problem.cuts.push_back({static_cast<int>(problem.n_columns++), bin, bin, false});
            problem.n_bins.push_back(2);
            problem.missing_bin.push_back(-1);
        }
        problem.bins = bins.data();
    }
    Binary(const Binary&) = delete;
};

TEST(regrouped_cuts_hold_for_the_same_rows) {
    bool any_negated = false;
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Binary binary(seed, 2 + static_cast<int>(seed % 9), static_cast<int>(seed % 3));
        const Regrouped regrouped = regroup(binary.problem);
        const std::set<int> cuts(regrouped.cut_of.begin(), regrouped.cut_of.end());
        CHECK(cuts.size() == binary.problem.cuts.size() &&
                  regrouped.problem.cuts.size() == binary.problem.cuts.size(),
              "seed %u: %zu cuts", seed, cuts.size());
        for (std::size_t c = 0; c < cuts.size(); ++c) {
            const Cut& cut = regrouped.problem.cuts[c];
            any_negated = any_negated || cut.negated;
            CHECK(rows_of(regrouped.problem, cut) ==
                      rows_of(binary.problem, binary.problem.cuts[at(regrouped.cut_of[c])]),
                  "seed %u, cut %zu", seed, c);
        }
    }
    CHECK(any_negated, "no cut is negated");
}

// Without noise, thresholds and categories are one column each; bins are those that rows have.
TEST(thresholds_and_categories_become_two_columns) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const Binary binary(seed, 8, 0);
        const Regrouped regrouped = regroup(binary.problem);
        CHECK(regrouped.problem.n_columns == 2, "seed %u: %zu columns", seed, regrouped.problem.n_columns);
        for (std::size_t c = 0; c < 2; ++c) {
            const std::uint16_t* bins = regrouped.problem.bins + c * binary.problem.n_rows;
            const std::set<int> seen(bins, bins + binary.problem.n_rows);
            CHECK(seen.size() == at(regrouped.problem.n_bins[c]) && *seen.begin() == 0 &&
                      *seen.rbegin() + 1 == regrouped.problem.n_bins[c],
                  "seed %u: %zu of %d bins have rows", seed, seen.size(), regrouped.problem.n_bins[c]);
        }
        CHECK(longest_chain(regrouped.problem) == 7, "seed %u: thresholds are no chain", seed);
    }
}

}  // namespace
