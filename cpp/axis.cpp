#include "axis.hpp"

#include <algorithm>
#include <map>

namespace surtree {
namespace {

using Region = std::vector<Run>;

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
Region holds(const Cut& cut, int missing_bin) {
    Region region;
    append(region, cut.first, cut.last + 1);
    if (cut.missing && missing_bin > cut.last) append(region, missing_bin, missing_bin + 1);
    return region;
}

}  // namespace

Axis::Axis(const Problem& problem, int column, int levels)
    : n_bins(problem.n_bins[static_cast<std::size_t>(column)]) {
    const int missing_bin = problem.missing_bin[static_cast<std::size_t>(column)];
    std::vector<Region> regions;
    for (std::size_t c = 0; c < problem.cuts.size(); ++c) {
        if (problem.cuts[c].column != column) continue;
        if (regions.empty()) first_cut = static_cast<int>(c);
        regions.push_back(holds(problem.cuts[c], missing_bin));
    }
    n_cuts = static_cast<int>(regions.size());
    n_sides = 2 * n_cuts;
    for (int c = 0; c < n_cuts; ++c)
        regions.push_back(complement(regions[static_cast<std::size_t>(c)], n_bins));

    std::map<Region, int, RegionLess> id_of;
    for (int r = 0; r < n_sides; ++r) id_of.emplace(regions[static_cast<std::size_t>(r)], r);
    const auto id = [&](const Region& region) {
        const auto [place, is_new] = id_of.emplace(region, static_cast<int>(regions.size()));
        if (is_new) regions.push_back(region);
        return place->second;
    };

    split_begin.push_back(0);
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
    membership.assign(static_cast<std::size_t>(n_bins) * stride, 0.0);
    for (int s = 0; s < n_sides; ++s)
        for (const Run& run : regions[static_cast<std::size_t>(s)])
            for (int b = run.first; b < run.last; ++b)
                membership[static_cast<std::size_t>(b) * stride + static_cast<std::size_t>(s)] = 1.0;
}

}  // namespace surtree
