#include "search/side_cache.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {

void SideHashes::read(const RowSet& rows, const Columns& columns, const Column& column) {
    columns_ = &columns;
    column_ = &column;
    n_cells_ = 0;
    for (const Column& other : columns) n_cells_ += at(other.n_bins) + 1;
    running_.assign(at(column.n_bins + 1) * n_cells_, {});
    const std::uint16_t* line_of = rows.column(column.index);
    std::size_t first = 0;
    for (const Column& other : columns) {
        const std::uint16_t* bins = rows.column(other.index);
        for (int r = 0; r < rows.n; ++r) {
            RowSetHash& cell = running_[(std::size_t{line_of[r]} + 1) * n_cells_ + first + bins[r] + 1];
            cell = cell + rows.hashes[at(r)];
        }
        // Running sums within the lines, then over them.
        for (int line = 1; line <= column.n_bins; ++line) {
            RowSetHash* here = running_.data() + at(line) * n_cells_ + first;
            for (int b = 0; b < other.n_bins; ++b) here[b + 1] = here[b + 1] + here[b];
        }
        first += at(other.n_bins) + 1;
    }
    for (std::size_t k = n_cells_; k < running_.size(); ++k)
        running_[k] = running_[k] + running_[k - n_cells_];
}

const std::vector<RowSetHash>& SideHashes::of(int region) {
    cells_.assign(n_cells_, {});
    for (const Run& run : column_->whole().runs_of(region)) {
        const RowSetHash* low = running_.data() + at(run.first) * n_cells_;
        const RowSetHash* high = running_.data() + at(run.last) * n_cells_;
        for (std::size_t k = 0; k < n_cells_; ++k) cells_[k] = cells_[k] + (high[k] - low[k]);
    }
    hashes_.clear();
    const RowSetHash* cells = cells_.data();
    for (const Column& column : *columns_) {
        for (int s = 0; s < column.whole().n_sides; ++s) {
            RowSetHash hash;
            for (const Run& run : column.whole().runs_of(s))
                hash = hash + (cells[run.last] - cells[run.first]);
            hashes_.push_back(hash);
        }
        cells += column.n_bins + 1;
    }
    return hashes_;
}

double SideCache::bytes_of_all(int n_sides) {
    const double n = n_sides;
    return n * n * n / 6 * static_cast<double>(Cache<Gains>::bytes_per_entry);
}

SideCache::SideCache(const Columns& columns, std::atomic<std::size_t>& bytes_left)
    : columns_(columns), bytes_left_(bytes_left), group_(at(columns.size())) {
    std::vector<int> order(group_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return columns[a].n_cuts > columns[b].n_cuts; });
    int n_cuts[2] = {};
    for (const int column : order) {
        const int smaller = n_cuts[1] < n_cuts[0];
        group_[at(column)] = smaller;
        n_cuts[smaller] += columns[column].n_cuts;
    }
}

void SideCache::store(const SideProfiles& profiles, const std::vector<RowSetHash>& hashes) {
    profiles.for_each(columns_, [&](int side, const double* gains) {
        solved_.store(hashes[at(side)], {gains[0], gains[1], gains[2], gains[3]}, bytes_left_);
    });
}

void SideCache::store_leaf(double gain, const std::vector<RowSetHash>& hashes) {
    for (const RowSetHash& hash : hashes)
        if (hash != RowSetHash{}) solved_.store(hash, {gain, gain, gain, gain}, bytes_left_);
}

bool SideCache::join_into(Profile& out, const RowSetHash& rows, const std::vector<RowSetHash>& sides) const {
    for (const RowSetHash& side : sides) solved_.prefetch(side);
    Gains yes, no;
    const RowSetHash* side = sides.data();
    for (const Column& column : columns_) {
        for (int c = 0; c < column.n_cuts; ++c, ++side) {
            // The empty set has the hash zero.
            if (side[0] == RowSetHash{} || side[0] == rows) continue;
            if (!solved_.find(side[0], yes) || !solved_.find(side[column.n_cuts], no)) return false;
            join(yes.data(), yes.size(), no.data(), no.size(), out);
        }
        side += column.n_cuts;
    }
    make_monotone(out);
    return true;
}

bool SideCache::load(const RowSet& rows, SideProfiles& out) const {
    out = {4, {}, {}};
    const SideCounts sides(columns_, rows);
    for (const Column& column : columns_) {
        if (column.n_cuts == 0) continue;
        std::uint64_t occupied = 0;
        const std::uint16_t* bins = rows.column(column.index);
        for (int r = 0; r < rows.n; ++r) occupied |= std::uint64_t{1} << bins[r];
        const ColumnRegions& regions = column.within(occupied);
        if (regions.n_cuts == 0) continue;
        out.regions.push_back(&regions);
        for (int s = 0; s < regions.n_sides; ++s) {
            Gains gains;
            if (!solved_.find(sides.hash[at(columns_.side_of(regions, s))], gains)) return false;
            out.gains.insert(out.gains.end(), gains.begin(), gains.end());
        }
    }
    return true;
}

}  // namespace surtree
