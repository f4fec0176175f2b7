// Histograms over triples of columns, of rows that come in batches: all that trees of depth three need. The
// rows themselves are not kept, so that there may be any number of them.
#pragma once

#include "search/table_solver.hpp"

namespace surtree {

class TripleTables {
 public:
    // The columns, the cuts and the objective of the problem, for trees within these limits; its rows are not
    // looked at. Throws std::invalid_argument if there is no room for the tables.
    TripleTables(Problem problem, Limits limits, std::size_t memory_limit);
    TripleTables(const TripleTables&) = delete;  // the solver points to columns and rows

    const Problem& problem() const { return problem_; }
    const Limits& limits() const { return limits_; }

    // Adds the rows of a problem with the same columns and the same objective.
    void add(const Problem& batch);

    // All sums. Those of other tables may be added, number by number: they are exact.
    std::vector<double>& sums() { return sums_; }
    const std::vector<double>& sums() const { return sums_; }

    // The same solution as that of all rows together.
    Solution solve() const;

    const Columns& columns() const { return columns_; }
    const LeafValue& leaf() const { return rows_.leaf; }
    double tie() const;

    // A set of bins of an axis of the tables.
    struct Bins {
        int axis;
        std::uint64_t mask;

        auto operator<=>(const Bins&) const = default;
    };

    // The sums of the rows in all these sets of bins by the bins of one or two axes, the later one fastest.
    // Together these are at most three axes, each in `where` and in `by` once.
    std::vector<double> sums_by_bins(const std::vector<Bins>& where, const std::vector<int>& by) const;
    int n_bins(int axis) const { return tables_.layout().n_bins[axis]; }
    int axis_of(int column) const { return axis_of_[at(column)]; }

 private:
    // Before the tables: what rows too light for the grid gain at most, and the sums of all rows.
    static constexpr std::size_t n_slack = SumRoundedUp::size;
    const double* totals() const { return sums_.data() + n_slack; }
    const double* tables() const { return totals() + at(rows_.leaf.width()); }

    const Problem problem_;
    const Limits limits_;
    const bool stop_ = false;
    const Rows rows_;  // without rows
    const Columns columns_;
    const TableSolver tables_;
    std::vector<int> axis_of_;  // by column
    std::vector<double> sums_;
    RowSet chunk_;
    Scratch scratch_;
};

}  // namespace surtree
