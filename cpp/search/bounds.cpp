// What is known of the whole tree while the sides of the root are being solved: gains, and bounds of them.
#include <algorithm>

#include "search/sweep.hpp"

namespace surtree {

Profile SweepSearch::gains_of_sides() const {
    const std::lock_guard lock(root_mutex_);
    return root_profile(root_sides_);
}

Profile SweepSearch::gains() const {
    Profile out = gains_of_sides();
    const std::lock_guard lock(root_mutex_);
    for (std::size_t k = 0; look_ahead_ && k < out.size(); ++k)
        out[k] = std::max(out[k], look_ahead_->profile[std::min(k, look_ahead_->profile.size() - 1)]);
    return out;
}

Profile SweepSearch::root_profile(const std::vector<RootResult>& sides) const {
    // The root may always be a leaf, whatever the limits say.
    Profile out(at(n_splits() + 1), table_solver_->leaf_gain(rows_.all, false));
    if (sides.empty()) return out;
    for (const Column& column : columns_)
        for (int c = 0; c < column.n_cuts; ++c) {
            const Profile& yes = sides[at(first_side(column) + c)].profile;
            const Profile& no = sides[at(first_side(column) + c + column.n_cuts)].profile;
            join(yes.data(), yes.size(), no.data(), no.size(), out);
        }
    make_monotone(out);
    return out;
}

// No tree gains more than a leaf for each distinct row.
std::vector<double> SweepSearch::saturated_gains(const RowSet& rows) const {
    return rows_.leaf.saturated(rows.sums.data(), rows.n);
}

// A side that is not solved to its full depth gains at most as much as one leaf for each distinct row.
// Where a part of it is solved, the best tree of the whole, seen from the part, is a tree of the part:
// the whole gains at most what the part gains, and a leaf for each row beside it. That holds for a part
// without limits on its leaves only.
Profile SweepSearch::gain_bounds() const {
    std::vector<RootResult> bounds;
    {
        const std::lock_guard lock(root_mutex_);
        bounds = root_sides_;
    }
    if (bounds.empty()) return root_profile(bounds);
    if (saturated_.empty()) {
        const std::vector<double> apart = saturated_gains(rows_.all);
        for (const Column& column : columns_) {
            std::vector<BinTotal>& per_bin = saturated_.emplace_back(at(column.n_bins));
            const std::uint16_t* bins = rows_.all.column(index_of(column));
            for (int r = 0; r < rows_.all.n; ++r) {
                per_bin[bins[r]].saturated += apart[at(r)];
                per_bin[bins[r]].has_rows = true;
            }
        }
    }
    for (const Column& column : columns_) {
        const ColumnRegions& axis = column.whole();
        const std::vector<BinTotal>& per_bin = saturated_[at(index_of(column))];
        const auto inside = [&](int side, int bin) {
            for (int u = axis.run_begin[at(side)]; u < axis.run_begin[at(side + 1)]; ++u)
                if (bin >= axis.runs[at(u)].first && bin < axis.runs[at(u)].last) return true;
            return false;
        };
        const std::vector<RootResult> known(bounds.begin() + first_side(column),
                                            bounds.begin() + first_side(column) + axis.n_sides);
        const auto solved = [&](int side) {
            return known[at(side)].depth == depth_ - 1 && !known[at(side)].profile.empty();
        };
        for (int s = 0; s < axis.n_sides; ++s) {
            if (solved(s)) continue;
            double whole = 0;
            for (int b = 0; b < column.n_bins; ++b) whole += inside(s, b) ? per_bin[at(b)].saturated : 0.0;
            Profile bound(at(budget_[at(depth_ - 1)] + 1), whole);
            for (int t = 0; t < axis.n_sides && !is_limited(); ++t) {
                double beside = 0;
                bool is_part = solved(t);
                for (int b = 0; b < column.n_bins && is_part; ++b) {
                    // Rows without events gain nothing apart, but add to the hazard of a leaf.
                    if (inside(t, b) && !inside(s, b) && per_bin[at(b)].has_rows) is_part = false;
                    if (inside(s, b) && !inside(t, b)) beside += per_bin[at(b)].saturated;
                }
                if (!is_part) continue;
                const Profile& part = known[at(t)].profile;
                for (std::size_t k = 0; k < bound.size(); ++k)
                    bound[k] = std::min(bound[k], part[std::min(k, part.size() - 1)] + beside);
            }
            bounds[at(first_side(column) + s)].profile = std::move(bound);
        }
    }
    return root_profile(bounds);
}

}  // namespace surtree
