#include "axis.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace surtree {
namespace {

struct RegionLess {
    bool operator()(const Region& a, const Region& b) const {
        return std::lexicographical_compare(
            a.begin(), a.end(), b.begin(), b.end(), [](const Run& x, const Run& y) {
                return x.first != y.first ? x.first < y.first : x.last < y.last;
            });
    }
};

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

Region intersection(const Region& a, const Region& b) {
    Region out;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        append(out, std::max(a[i].first, b[j].first), std::min(a[i].last, b[j].last));
        if (a[i].last < b[j].last)
            ++i;
        else
            ++j;
    }
    return out;
}

// The missing bin is the last one, so it never comes before the interval.
Region bins_of(const Cut& cut, int n_bins, int missing_bin) {
    Region region;
    append(region, cut.first, cut.last + 1);
    if (cut.missing && missing_bin > cut.last) append(region, missing_bin, missing_bin + 1);
    return cut.negated ? complement(region, n_bins) : region;
}

constexpr int mask_bits = 64;

Region bins_of(std::uint64_t mask, int n_bins) {
    Region region;
    for (int b = 0; b < std::min(n_bins, mask_bits); ++b)
        if (mask >> b & 1) append(region, b, b + 1);
    append(region, mask_bits, n_bins);
    return region;
}

}  // namespace

Axis::Axis(const std::vector<Region>& holds, std::vector<int> cuts, const Region& bins, int levels)
    : n_cuts(static_cast<int>(holds.size())), n_sides(2 * n_cuts), cut_of(std::move(cuts)) {
    if (!bins.empty()) {
        first_bin = bins.front().first;
        last_bin = bins.back().last;
    }
    std::vector<Region> regions;
    for (const Region& yes : holds) regions.push_back(intersection(yes, bins));
    for (int c = 0; c < n_cuts; ++c)
        regions.push_back(intersection(complement(holds[static_cast<std::size_t>(c)], last_bin), bins));

    std::map<Region, int, RegionLess> id_of;
    for (int r = 0; r < n_sides; ++r) id_of.emplace(regions[static_cast<std::size_t>(r)], r);
    const auto id = [&](const Region& region) {
        const auto [place, is_new] = id_of.emplace(region, static_cast<int>(regions.size()));
        if (is_new) regions.push_back(region);
        return place->second;
    };
    const auto cut_again = [&](int from, int to) {
        for (int r = from; r < to; ++r) {
            for (int c = 0; c < n_cuts; ++c) {
                const Region whole = regions[static_cast<std::size_t>(r)];
                const Region yes = intersection(whole, regions[static_cast<std::size_t>(c)]);
                const Region no = intersection(whole, regions[static_cast<std::size_t>(n_cuts + c)]);
                if (yes.empty() || no.empty()) continue;
                splits.push_back({id(yes), id(no)});
            }
            split_begin.push_back(static_cast<int>(splits.size()));
        }
    };
    split_begin.push_back(0);
    if (levels >= 2) cut_again(0, n_sides);
    n_regions = static_cast<int>(regions.size());
    if (levels >= 3) cut_again(n_sides, n_regions);
    n_deep = static_cast<int>(regions.size());

    run_begin.push_back(0);
    for (const Region& region : regions) {
        runs.insert(runs.end(), region.begin(), region.end());
        run_begin.push_back(static_cast<int>(runs.size()));
    }
    if (levels < 2) return;  // only the pair tables of levels 2 and 3 multiply by the membership
    const std::size_t stride = membership_stride(n_sides);
    membership.assign(static_cast<std::size_t>(last_bin) * stride, 0.0);
    for (std::size_t s = 0; s < static_cast<std::size_t>(n_sides); ++s)
        for (const Run& run : regions[s])
            for (int b = run.first; b < run.last; ++b)
                membership[static_cast<std::size_t>(b) * stride + s] = 1.0;
}

Column::Column(const Problem& problem, int column, int levels)
    : n_bins(problem.n_bins[static_cast<std::size_t>(column)]), first_cut(0), n_cuts(0), levels_(levels) {
    const int missing_bin = problem.missing_bin[static_cast<std::size_t>(column)];
    n_values_ = missing_bin < 0 ? n_bins : missing_bin;
    ordered_ = true;
    std::vector<int> cuts;
    for (std::size_t c = 0; c < problem.cuts.size(); ++c) {
        const Cut& cut = problem.cuts[c];
        if (cut.column != column) continue;
        cuts.push_back(static_cast<int>(c));
        holds_.push_back(bins_of(cut, n_bins, missing_bin));
        ordered_ = ordered_ && (cut.last == n_values_ - 1 || cut.first == missing_bin);
    }
    n_cuts = static_cast<int>(cuts.size());
    if (n_cuts > 0) first_cut = cuts.front();
    whole_ = std::make_unique<Axis>(holds_, cuts, Region{{0, n_bins}}, levels);
}

const Axis& Column::within(std::uint64_t occupied) const {
    if (ordered_ && n_values_ <= mask_bits) {
        // Empty bins inside the range are left in, so that there are few ranges to prepare for.
        const std::uint64_t values = n_values_ == mask_bits ? ~0ULL : (1ULL << n_values_) - 1;
        if (const std::uint64_t seen = occupied & values)
            occupied |= (~0ULL >> std::countl_zero(seen)) & (~0ULL << std::countr_zero(seen));
    }
    if (!ordered_ && n_bins > 12) occupied = ~0ULL;  // too many subsets to prepare for
    const std::lock_guard lock(cache_->mutex);
    std::unique_ptr<Axis>& axis = cache_->axes[occupied];
    if (axis) return *axis;

    const Region bins = bins_of(occupied, n_bins);
    std::map<Region, bool, RegionLess> seen;
    std::vector<Region> holds;
    std::vector<int> cuts;
    for (std::size_t c = 0; c < holds_.size(); ++c) {
        const Region yes = intersection(holds_[c], bins);
        const Region no = intersection(complement(holds_[c], n_bins), bins);
        if (yes.empty() || no.empty() || seen.contains(yes)) continue;
        seen[yes] = seen[no] = true;
        holds.push_back(yes);
        cuts.push_back(first_cut + static_cast<int>(c));
    }
    axis = std::make_unique<Axis>(holds, std::move(cuts), bins, levels_);
    return *axis;
}

}  // namespace surtree
