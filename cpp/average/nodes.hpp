// Sets of rows as the average sees them: what is in each bin, and the cuts that divide them.
#pragma once

#include <cstdint>
#include <vector>

#include "average/average.hpp"
#include "rows/rows.hpp"

namespace surtree {

// Sums are whole numbers of a unit, so that they are exact and the rest of a set is found by subtraction.
struct Cell {
    double events = 0, expected = 0, count = 0;
    std::uint64_t hash = 0;

    Cell& operator+=(const Cell& other) {
        events += other.events;
        expected += other.expected;
        count += other.count;
        hash += other.hash;
        return *this;
    }
    Cell& operator-=(const Cell& other) {
        events -= other.events;
        expected -= other.expected;
        count -= other.count;
        hash -= other.hash;
        return *this;
    }
    friend Cell operator+(Cell a, const Cell& b) { return a += b; }
    friend Cell operator-(Cell a, const Cell& b) { return a -= b; }
};

// A cell for each bin of each column.
using Histogram = std::vector<Cell>;

// A way to divide a node: the first cut that does so.
struct Division {
    int cut;
    Cell inside;
    double log_prior;
};

// Rows of a node, by their index.
using RowList = std::vector<int>;

class AverageRows {
 public:
    AverageRows(const Problem& problem, const Limits& limits);

    const PairCells& cells() const { return cells_; }
    const std::vector<Cut>& cuts() const { return cuts_; }
    const std::vector<int>& cuts_of(int column) const { return cuts_by_column_[at(column)]; }
    double unit() const { return rows_.grid; }
    bool has_whole_events() const { return has_whole_events_; }
    RowList all() const;

    Histogram histogram(const RowList& rows) const;
    Cell total(const RowList& rows) const;

    // For one column, the histograms of the rows below each of its bins, and of all rows.
    std::vector<Cell> prefixes(const RowList& rows, int column) const;

    // Adds, for each run of bins of a cut, the prefix at its end less the one at its begin.
    template <class Add>
    void for_each_run(int cut, const Add& add) const {
        const Cut& c = cuts_[at(cut)];
        int first = c.first;
        for (int bin = c.first; bin <= c.last; ++bin) {
            if (c.has(bin)) continue;
            if (bin > first) add(first, bin);
            first = bin + 1;
        }
        if (c.last + 1 > first) add(first, c.last + 1);
        const int missing = missing_bin_[at(c.column)];
        if (c.missing && missing >= 0 && (missing < c.first || missing > c.last)) add(missing, missing + 1);
    }

    // The ways to divide a node, by column. Two cuts of a column that divide it alike are one.
    void find_choices(const Histogram& histogram, std::vector<Division>& out) const;

    // Rows for which a cut holds, and the others.
    void divide(const RowList& rows, int cut, RowList& inside, RowList& outside) const;

    RowSetHash hash(const RowList& rows) const;

 private:
    bool allows(const Cell& side) const { return side.count >= least_; }

    Rows rows_;
    PairCells cells_;
    std::vector<Cut> cuts_;
    std::vector<std::vector<int>> cuts_by_column_;
    std::vector<int> missing_bin_;
    std::vector<int> bin_of_;  // rows x columns: the bin among those of all columns
    std::vector<Cell> cell_of_;
    double least_ = 1;
    bool has_whole_events_ = true;
};

}  // namespace surtree
