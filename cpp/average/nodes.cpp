#include "average/nodes.hpp"

#include <algorithm>
#include <cmath>

namespace surtree {

PairCells::PairCells(const std::vector<int>& n_bins) : first_bin_{0} {
    for (const int n : n_bins) first_bin_.push_back(first_bin_.back() + n);
    size_ = 1 + at(first_bin_.back());
    for (std::size_t one = 0; one < n_bins.size(); ++one)
        for (std::size_t other = 0; other < n_bins.size(); ++other) {
            first_cell_.push_back(size_);
            if (one < other) size_ += at(n_bins[one]) * at(n_bins[other]);
        }
}

std::size_t PairCells::of_bins(int column, int bin, int other, int other_bin) const {
    if (column > other) return of_bins(other, other_bin, column, bin);
    const std::size_t first = first_cell_[at(column) * at(n_columns()) + at(other)];
    return first + at(bin) * at(n_bins(other)) + at(other_bin);
}

AverageRows::AverageRows(const Problem& problem, const Limits& limits)
    : rows_(merge_rows(problem, limits, true)),
      cells_(problem.n_bins),
      cuts_(problem.cuts),
      cuts_by_column_(problem.cuts_by_column()),
      missing_bin_(problem.missing_bin) {
    const RowSet& all = rows_.all;
    const bool is_limited = rows_.leaf.is_limited();
    if (is_limited) least_ = *std::max_element(limits.least.begin(), limits.least.end());
    for (int row = 0; row < all.n; ++row) {
        const double* sums = all.sums.data() + at(row) * at(all.width);
        const double count = is_limited ? sums[problem.objective->n_sums] : 1;
        cell_of_.push_back({sums[0], sums[1], count, all.hashes[at(row)].low});
        const double events = sums[0] * unit();
        has_whole_events_ = has_whole_events_ && events == std::floor(events);
        for (int column = 0; column < all.n_columns; ++column)
            bin_of_.push_back(cells_.first_bin(column) + all.column(column)[row]);
    }
}

RowList AverageRows::all() const {
    RowList out(cell_of_.size());
    for (std::size_t row = 0; row < out.size(); ++row) out[row] = static_cast<int>(row);
    return out;
}

Cell AverageRows::total(const RowList& rows) const {
    Cell out;
    for (const int row : rows) out += cell_of_[at(row)];
    return out;
}

Histogram AverageRows::histogram(const RowList& rows) const {
    Histogram out(at(cells_.n_bins()));
    const std::size_t n_columns = at(cells_.n_columns());
    for (const int row : rows) {
        const int* bins = bin_of_.data() + at(row) * n_columns;
        for (std::size_t column = 0; column < n_columns; ++column) out[at(bins[column])] += cell_of_[at(row)];
    }
    return out;
}

std::vector<Cell> AverageRows::prefixes(const RowList& rows, int column) const {
    const std::size_t width = at(cells_.n_bins()), n_columns = at(cells_.n_columns());
    std::vector<Cell> out(at(cells_.n_bins(column) + 1) * width);
    for (const int row : rows) {
        const int* bins = bin_of_.data() + at(row) * n_columns;
        Cell* to = out.data() + at(bins[column] - cells_.first_bin(column) + 1) * width;
        for (std::size_t other = 0; other < n_columns; ++other) to[bins[other]] += cell_of_[at(row)];
    }
    for (std::size_t k = width; k < out.size(); ++k) out[k] += out[k - width];
    return out;
}

void AverageRows::find_choices(const Histogram& histogram, std::vector<Division>& out) const {
    out.clear();
    thread_local std::vector<Cell> prefix;
    thread_local std::vector<std::uint64_t> known;
    int n_columns = 0;
    for (int column = 0; column < cells_.n_columns(); ++column) {
        const int n_bins = cells_.n_bins(column);
        prefix.assign(1, Cell{});
        for (int bin = 0; bin < n_bins; ++bin)
            prefix.push_back(prefix.back() + histogram[at(cells_.first_bin(column) + bin)]);
        known.clear();
        const std::size_t begin = out.size();
        for (const int cut : cuts_of(column)) {
            Cell inside;
            for_each_run(cut, [&](int first, int last) { inside += prefix[at(last)] - prefix[at(first)]; });
            const Cell outside = prefix.back() - inside;
            if (!allows(inside) || !allows(outside)) continue;
            const std::uint64_t division = std::min(inside.hash, outside.hash);
            if (std::find(known.rbegin(), known.rend(), division) != known.rend()) continue;
            known.push_back(division);
            out.push_back({cut, inside, 0});
        }
        if (out.size() == begin) continue;
        ++n_columns;
        const double log_prior = -std::log(static_cast<double>(out.size() - begin));
        for (std::size_t k = begin; k < out.size(); ++k) out[k].log_prior = log_prior;
    }
    for (Division& choice : out) choice.log_prior -= std::log(static_cast<double>(n_columns));
}

void AverageRows::divide(const RowList& rows, int cut, RowList& inside, RowList& outside) const {
    const int column = cuts_[at(cut)].column;
    std::vector<char> holds(at(cells_.n_bins(column)), 0);
    for_each_run(cut,
                 [&](int first, int last) { std::fill(holds.begin() + first, holds.begin() + last, 1); });
    inside.clear();
    outside.clear();
    for (const int row : rows) {
        const int bin = bin_of_[at(row) * at(cells_.n_columns()) + at(column)] - cells_.first_bin(column);
        (holds[at(bin)] ? inside : outside).push_back(row);
    }
}

RowSetHash AverageRows::hash(const RowList& rows) const {
    RowSetHash out;
    for (const int row : rows) out = out + rows_.all.hashes[at(row)];
    return out;
}

}  // namespace surtree
