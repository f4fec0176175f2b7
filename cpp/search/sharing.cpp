// Sides of one set of rows that serve others (see side_memo.hpp), as the search uses them.
#include <array>

#include "search/sweep.hpp"

namespace surtree {

// No side of the root is solved before all are prepared. Where time may end before, the most promising ones
// are solved first instead.
bool SweepSearch::worth_grouping() const {
    if (column_group_.empty()) return false;
    return !is_timed(control_) || workers_.seconds() * n_sides_ < control_.time_limit;
}

void SweepSearch::solve_within_groups(int side, Worker& worker) {
    const Column& column = column_of_side(side);
    RowSet child;
    take_rows(rows_.all, index_of(column), column.whole(), side - first_side(column), child);
    const SideCounts sides = sides_of(child);
    std::vector<Profile> profiles;
    for (const Column& other : columns_)
        if (column_group_[at(index_of(other))] == column_group_[at(index_of(column))] &&
            !solve_sides(child, other, sides, shared_depth - 2, worker, profiles))
            return;
}

// Solves what can be joined from sides that are known.
void SweepSearch::join_cached_sides(const RowSet& rows, const Column& column, const SideCounts& sides,
                                    std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out) {
    const ColumnRegions& axis = column.whole();
    const std::vector<double> leaves = table_solver_->leaf_gains(rows, index_of(column), unsolved);
    std::size_t n_seen = 0;
    std::erase_if(unsolved, [&](int s) {
        const std::size_t side = at(first_side(column) + s);
        const RowSetHash& hash = sides.hash[side];
        Profile& profile = out[at(s)];
        const double leaf = leaves[n_seen++];
        start_profile(leaf, sides.n[side], 3, profile);
        if (leaf > infeasible / 2 && profile.size() > 1 &&
            !side_cache_.join_sides(hash, worker.side_hashes.of(axis, s), profile))
            return false;
        store(3, hash, profile);
        return true;
    });
}

// Of rows that no tree splits: too few for two leaves, or a single one.
void SweepSearch::store_sides(double leaf, const std::vector<RowSetHash>& hashes) {
    const std::array<double, 4> gains{leaf, leaf, leaf, leaf};
    for (const RowSetHash& hash : hashes)
        if (hash != RowSetHash{}) side_cache_.store(hash, gains.data());
}

// What a kernel of depth three would find, if the sides of these rows are known.
bool SweepSearch::load_sides(const RowSet& rows, SideProfiles& out) const {
    if (column_group_.empty()) return false;
    out = {4, {}, {}};
    const std::vector<RowSetHash> hashes = sides_of(rows).hash;
    for (const Column& column : columns_) {
        if (column.n_cuts == 0) continue;
        std::uint64_t occupied = 0;
        const std::uint16_t* bins = rows.column(index_of(column));
        for (int r = 0; r < rows.n; ++r) occupied |= std::uint64_t{1} << bins[r];
        const ColumnRegions& axis = column.within(occupied);
        if (axis.n_cuts == 0) continue;
        out.axes.push_back(&axis);
        for (int s = 0; s < axis.n_sides; ++s) {
            SideCache::Gains gains;
            if (!side_cache_.find(hashes[at(side_of(axis, s))], gains)) return false;
            out.gains.insert(out.gains.end(), gains.begin(), gains.end());
        }
    }
    return true;
}

}  // namespace surtree
