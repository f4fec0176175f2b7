#include "search/side_cache.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {

void SideHashes::read(const RowSet& rows, const std::vector<Column>& columns, int column) {
    columns_ = &columns;
    n_lines_ = columns[at(column)].n_bins;
    n_cells_ = 0;
    for (const Column& other : columns) n_cells_ += at(other.n_bins) + 1;
    running_.assign(at(n_lines_ + 1) * n_cells_, {});
    const std::uint16_t* line_of = rows.column(column);
    std::size_t first = 0;
    for (std::size_t c = 0; c < columns.size(); first += at(columns[c++].n_bins) + 1) {
        const std::uint16_t* bins = rows.column(static_cast<int>(c));
        for (int r = 0; r < rows.n; ++r) {
            RowSetHash& cell = running_[(std::size_t{line_of[r]} + 1) * n_cells_ + first + bins[r] + 1];
            cell = cell + rows.hashes[at(r)];
        }
        // Running sums within the lines, then over them.
        for (int line = 1; line <= n_lines_; ++line) {
            RowSetHash* here = running_.data() + at(line) * n_cells_ + first;
            for (int b = 0; b < columns[c].n_bins; ++b) here[b + 1] = here[b + 1] + here[b];
        }
    }
    for (std::size_t k = n_cells_; k < running_.size(); ++k)
        running_[k] = running_[k] + running_[k - n_cells_];
}

const std::vector<RowSetHash>& SideHashes::of(const ColumnRegions& of, int region) {
    cells_.assign(n_cells_, {});
    for (int u = of.run_begin[at(region)]; u < of.run_begin[at(region + 1)]; ++u) {
        const RowSetHash* low = running_.data() + at(of.runs[at(u)].first) * n_cells_;
        const RowSetHash* high = running_.data() + at(of.runs[at(u)].last) * n_cells_;
        for (std::size_t k = 0; k < n_cells_; ++k) cells_[k] = cells_[k] + (high[k] - low[k]);
    }
    hashes_.clear();
    const RowSetHash* cells = cells_.data();
    for (const Column& column : *columns_) {
        const ColumnRegions& axis = column.whole();
        for (int s = 0; s < axis.n_sides; ++s) {
            RowSetHash hash;
            for (int u = axis.run_begin[at(s)]; u < axis.run_begin[at(s + 1)]; ++u)
                hash = hash + (cells[axis.runs[at(u)].last] - cells[axis.runs[at(u)].first]);
            hashes_.push_back(hash);
        }
        cells += column.n_bins + 1;
    }
    return hashes_;
}

void SideCache::store(const RowSetHash& rows, const double* gains) {
    solved_.store(rows, {gains[0], gains[1], gains[2], gains[3]}, bytes_left_);
}

bool SideCache::join_sides(const RowSetHash& rows, const std::vector<RowSetHash>& sides, Profile& out) const {
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

double SideCache::bytes_of_all(int n_sides) {
    const double n = n_sides;
    return n * n * n / 6 * static_cast<double>(Cache<Gains>::bytes_per_entry);
}

std::vector<int> two_groups(const std::vector<Column>& columns) {
    std::vector<int> order(columns.size()), group(columns.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return columns[at(a)].n_cuts > columns[at(b)].n_cuts; });
    int n_cuts[2] = {};
    for (const int column : order) {
        const int smaller = n_cuts[1] < n_cuts[0];
        group[at(column)] = smaller;
        n_cuts[smaller] += columns[at(column)].n_cuts;
    }
    return group;
}

}  // namespace surtree
