#include "search/bounds.hpp"

#include <algorithm>
#include <limits>

namespace surtree {
namespace {

// Without the splits at the end that gain nothing: in a monotone profile, fewer splits gain as much.
std::size_t n_that_gain(const Profile& profile) {
    std::size_t n = profile.size();
    while (n > 1 && profile[n - 2] == profile[n - 1]) --n;
    return n;
}

}  // namespace

Profile root_gains(const Columns& columns, const std::vector<RootResult>& sides, double leaf, int n_splits) {
    Profile out(at(n_splits + 1), leaf);
    if (sides.empty()) return out;
    const auto join_sides = [&](const Column&, int, auto& yes, auto& no) {
        join(yes.data(), n_that_gain(yes), no.data(), n_that_gain(no), out);
    };
    for_each_cut(columns, sides, join_sides, &RootResult::profile);
    make_monotone(out);
    return out;
}

RootBounds::RootBounds(const Columns& columns, const Rows& rows) : columns_(columns), leaf_(rows.leaf) {
    const std::vector<double> saturated = leaf_.saturated(rows.all.sums.data(), rows.all.n);
    for (const Column& column : columns) {
        std::vector<BinTotal>& totals = totals_.emplace_back(at(column.n_bins));
        const std::uint16_t* bins = rows.all.column(column.index);
        for (int r = 0; r < rows.all.n; ++r) {
            totals[bins[r]].saturated += saturated[at(r)];
            totals[bins[r]].has_rows = true;
        }
    }
}

// A side that is not solved to its full depth gains at most the saturated gain. Where a part of it is solved,
// the best tree of the whole, seen from the part, is a tree of the part: the whole gains at most what the
// part gains, and the saturated gain of the rows beside it. That holds without limits on leaves only.
std::vector<RootResult> RootBounds::upper(std::vector<RootResult> sides, int depth, int budget) const {
    for (const Column& column : columns_) {
        const auto first = sides.begin() + column.first_side();
        std::ranges::move(upper(column, &*first, depth, budget), first);
    }
    return sides;
}

std::vector<RootResult> RootBounds::upper(const Column& column, const RootResult* sides, int depth,
                                          int budget) const {
    const bool is_monotone = leaf_.kernels().is_monotone;
    const ColumnRegions& regions = column.whole();
    const std::vector<BinTotal>& totals = totals_[at(column.index)];
    const auto inside = [&](int side, int bin) {
        for (const Run& run : regions.runs_of(side))
            if (bin >= run.first && bin < run.last) return true;
        return false;
    };
    const auto solved = [&](int side) { return sides[side].depth == depth && !sides[side].profile.empty(); };
    std::vector<RootResult> out(sides, sides + regions.n_sides);
    for (int s = 0; s < regions.n_sides; ++s) {
        if (solved(s)) continue;
        double whole = is_monotone ? 0 : std::numeric_limits<double>::infinity();
        for (int b = 0; b < column.n_bins; ++b) whole += inside(s, b) ? totals[at(b)].saturated : 0.0;
        Profile bound(at(budget + 1), whole);
        for (int t = 0; t < regions.n_sides && is_monotone && !leaf_.is_limited(); ++t) {
            double beside = 0;
            bool is_part = solved(t);
            for (int b = 0; b < column.n_bins && is_part; ++b) {
                // Rows that gain nothing by themselves still add to the sums of a leaf.
                if (inside(t, b) && !inside(s, b) && totals[at(b)].has_rows) is_part = false;
                if (inside(s, b) && !inside(t, b)) beside += totals[at(b)].saturated;
            }
            if (!is_part) continue;
            const Profile& part = sides[t].profile;
            for (std::size_t k = 0; k < bound.size(); ++k)
                bound[k] = std::min(bound[k], part[std::min(k, part.size() - 1)] + beside);
        }
        out[at(s)].profile = std::move(bound);
    }
    return out;
}

}  // namespace surtree
