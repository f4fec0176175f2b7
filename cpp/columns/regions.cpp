#include "columns/regions.hpp"

#include <algorithm>
#include <bit>
#include <bitset>

namespace surtree {
namespace {

void append(Region& region, int first, int last) {
    if (first >= last) return;
    if (!region.empty() && region.back().last == first)
        region.back().last = last;
    else
        region.push_back({first, last});
}

Region complement(const Region& region, int n_bins) {
    Region out;
    int next = 0;
    for (const Run& run : region) {
        append(out, next, run.first);
        next = run.last;
    }
    append(out, next, n_bins);
    return out;
}

template <std::size_t Bits>
std::bitset<Bits> set_of(std::span<const Run> region) {
    std::bitset<Bits> set;
    for (const Run& run : region)
        set |= ~std::bitset<Bits>{} >> (Bits - at(run.last - run.first)) << at(run.first);
    return set;
}

template <std::size_t Bits>
Region region_of(const std::bitset<Bits>& set, int n_bins) {
    Region region;
    for (int b = 0; b < n_bins; ++b)
        if (set[at(b)]) append(region, b, b + 1);
    return region;
}

constexpr int mask_bits = 64;

std::uint64_t mask_of(std::span<const Run> region) { return set_of<mask_bits>(region).to_ullong(); }

}  // namespace

// The missing bin is the last one, so it never comes before another bin of the cut.
Region region_of(const Cut& cut, int n_bins, int missing_bin) {
    Region region;
    if (cut.gaps == 0)
        append(region, cut.first, cut.last + 1);
    else
        for (int b = cut.first; b <= cut.last; ++b) append(region, b, b + cut.has(b));
    if (cut.missing && missing_bin > cut.last) append(region, missing_bin, missing_bin + 1);
    return cut.negated ? complement(region, n_bins) : region;
}

ColumnRegions::ColumnRegions(const std::vector<Region>& sides, std::vector<int> cuts, const Run& bins,
                             int levels)
    : first_bin(bins.first),
      last_bin(bins.last),
      n_cuts(static_cast<int>(cuts.size())),
      n_sides(2 * n_cuts),
      cut_of(std::move(cuts)) {
    n_regions = n_deep = n_sides;
    split_begin.push_back(0);
    run_begin.push_back(0);
    for (const Region& side : sides) add_runs(side);
    if (levels < 2) return;

    if (last_bin <= mask_bits)
        add_regions<mask_bits>(sides, levels);
    else
        add_regions<max_kernel_bins>(sides, levels);

    const std::size_t n = at(n_cuts), stride = whole_vectors(n_cuts + 1);
    membership.assign(at(last_bin) * stride, 0.0);
    for (std::size_t b = 0; b < at(last_bin); ++b) membership[b * stride + n] = 1.0;
    for (std::size_t c = 0; c < n; ++c)
        for (const Run& run : sides[c])
            for (int b = run.first; b < run.last; ++b) membership[at(b) * stride + c] = 1.0;
}

// Intersects sides with further cuts, level by level, and numbers the distinct sets in order of arrival.
template <std::size_t Bits>
void ColumnRegions::add_regions(const std::vector<Region>& sides, int levels) {
    using Set = std::bitset<Bits>;
    std::vector<Set> sets;
    std::unordered_map<Set, int> numbers;
    const auto n_found = [&] { return static_cast<int>(sets.size()); };
    for (const Region& side : sides) {  // side c has number c, even if it equals another
        sets.push_back(set_of<Bits>(side));
        numbers.try_emplace(sets.back(), n_found() - 1);
    }
    const auto number = [&](const Set& set) {
        const auto [place, is_new] = numbers.try_emplace(set, n_found());
        if (is_new) sets.push_back(set);
        return place->second;
    };
    const auto cut_again = [&](int from, int to) {
        for (int r = from; r < to; ++r) {
            const Set region = sets[at(r)];
            for (int c = 0; c < n_cuts; ++c) {
                const Set yes = region & sets[at(c)], no = region & sets[at(n_cuts + c)];
                if (yes.none() || no.none()) continue;
                const int number_of_yes = number(yes);
                splits.push_back({number_of_yes, number(no)});
            }
            split_begin.push_back(static_cast<int>(splits.size()));
        }
    };
    cut_again(0, n_sides);
    n_regions = n_found();
    if (levels >= 3) cut_again(n_sides, n_regions);
    n_deep = n_found();
    for (int r = n_sides; r < n_deep; ++r) add_runs(region_of(sets[at(r)], last_bin));
}

void ColumnRegions::add_runs(const Region& region) {
    runs.insert(runs.end(), region.begin(), region.end());
    run_begin.push_back(static_cast<int>(runs.size()));
}

Column::Column(const Problem& problem, int column, int levels)
    : index(column), n_bins(problem.n_bins[at(column)]), first_cut(0), n_cuts(0), levels_(levels) {
    const int missing_bin = problem.missing_bin[at(column)];
    n_values_ = missing_bin < 0 ? n_bins : missing_bin;
    ordered_ = true;
    std::vector<int> cuts;
    std::vector<Region> sides;
    for (std::size_t c = 0; c < problem.cuts.size(); ++c) {
        const Cut& cut = problem.cuts[c];
        if (cut.column != column) continue;
        cuts.push_back(static_cast<int>(c));
        sides.push_back(region_of(cut, n_bins, missing_bin));
        ordered_ = ordered_ && cut.is_ordered(n_values_, missing_bin);
    }
    n_cuts = static_cast<int>(cuts.size());
    if (n_cuts > 0) first_cut = cuts.front();
    if (n_bins <= mask_bits)
        for (const Region& yes : sides) holds_.push_back(mask_of(yes));
    for (std::size_t c = 0; c < cuts.size(); ++c) sides.push_back(complement(sides[c], n_bins));
    // Depth three always uses `within`: the whole column needs two levels at most.
    whole_ = std::make_unique<ColumnRegions>(sides, cuts, Run{0, n_bins}, std::min(levels, 2));
}

std::unique_ptr<ColumnRegions> Column::regions(int levels) const {
    std::vector<Region> sides;
    for (int s = 0; s < whole().n_sides; ++s)
        sides.emplace_back(whole().runs_of(s).begin(), whole().runs_of(s).end());
    return std::make_unique<ColumnRegions>(sides, whole().cut_of, Run{0, n_bins}, levels);
}

const ColumnRegions& Column::within(std::uint64_t occupied) const {
    if (ordered_) {
        // Gaps are filled: the cache then has one entry per interval instead of one per subset.
        const std::uint64_t values = n_values_ == mask_bits ? ~0ULL : (1ULL << n_values_) - 1;
        if (const std::uint64_t seen = occupied & values)
            occupied |= (~0ULL >> std::countl_zero(seen)) & (~0ULL << std::countr_zero(seen));
    } else if (!within_is_exact()) {
        occupied = ~0ULL >> (mask_bits - n_bins);
    }
    const std::lock_guard lock(mutex_);
    std::unique_ptr<ColumnRegions>& found = by_occupied_[occupied];
    if (found) return *found;

    std::vector<std::uint64_t> seen;
    std::vector<int> cuts;
    for (std::size_t c = 0; c < holds_.size(); ++c) {
        const std::uint64_t yes = holds_[c] & occupied, no = occupied & ~yes;
        if (yes == 0 || no == 0 || std::find(seen.begin(), seen.end(), yes) != seen.end()) continue;
        seen.insert(seen.end(), {yes, no});
        cuts.push_back(first_cut + static_cast<int>(c));
    }
    std::vector<Region> sides;
    for (const std::size_t first : {0, 1})
        for (std::size_t k = first; k < seen.size(); k += 2)
            sides.push_back(region_of(std::bitset<mask_bits>(seen[k]), n_bins));
    const Run bins{std::countr_zero(occupied), mask_bits - std::countl_zero(occupied)};
    found =
        std::make_unique<ColumnRegions>(sides, std::move(cuts), occupied == 0 ? Run{0, 0} : bins, levels_);
    find_parts(occupied, *found);
    return *found;
}

void Column::find_parts(std::uint64_t occupied, ColumnRegions& out) const {
    std::vector<std::uint64_t> regions;
    for (int r = 0; r < out.n_regions; ++r) regions.push_back(mask_of(out.runs_of(r)));
    for (int r = 0; r < whole().n_regions; ++r) {
        const std::uint64_t part = mask_of(whole().runs_of(r)) & occupied;
        const auto place = std::find(regions.begin(), regions.end(), part);
        out.part_of.push_back(part == 0          ? ColumnRegions::no_rows
                              : part == occupied ? ColumnRegions::all_rows
                                                 : static_cast<int>(place - regions.begin()));
    }
}

Columns::Columns(const Problem& problem, int levels) {
    for (int c = 0; c < static_cast<int>(problem.n_columns); ++c) columns_.emplace_back(problem, c, levels);
    for (const Cut& cut : problem.cuts) column_of_cut_.push_back(cut.column);
}

int Columns::opposite(int side) const {
    const Column& column = of_side(side);
    return side - column.first_side() < column.n_cuts ? side + column.n_cuts : side - column.n_cuts;
}

int Columns::side_of_cut(int cut) const {
    const Column& column = columns_[at(column_of_cut_[at(cut)])];
    return column.side(cut - column.first_cut, true);
}

int Columns::side_of(const ColumnRegions& regions, int side) const {
    const int holds = side_of_cut(regions.cut_of[at(side % regions.n_cuts)]);
    return side < regions.n_cuts ? holds : opposite(holds);
}

}  // namespace surtree
