// Where the recursion ends: subproblems of at most three levels, handed to the kernels.
#pragma once

#include <memory>

#include "kernel/kernels.hpp"
#include "rows/rows.hpp"
#include "search/profile.hpp"
#include "search/stump_store.hpp"

namespace surtree {

// Best gains of the sides of all cuts that divide a set of rows, with at most 0, 1, ... splits.
struct SideProfiles {
    std::size_t width = 0;                   // numbers a side
    std::vector<const ColumnRegions*> axes;  // sides come axis by axis, as each axis orders them
    std::vector<double> gains;
};

// Memory that one thread uses again and again.
struct Scratch {
    std::vector<KernelAxis> views;
    std::vector<double> workspace;
    std::vector<double> tables;
    std::vector<double> known;
    std::vector<const double*> known_of_pair;
    std::vector<const double*> known_of_axis;
};

class TableSolver {
 public:
    // The deepest level that kernels can solve at once without tables that are too large.
    static int deepest(const Problem& problem, int depth);

    TableSolver(const std::vector<Column>& columns, const Rows& rows, int depth, const bool* stop);

    int depth() const { return depth_; }

    // Trees of this depth over a set of rows; false if stopped.
    bool solve(const RowSet& rows, int depth, Scratch& scratch, SideProfiles& out) const;

    // Depth three can start from tables. Those of a set of rows are sums and differences of others.
    // Where they are those of a side of the root, what other columns have found is not looked for again.
    bool solve_tables(const double* tables, Scratch& scratch, SideProfiles& out,
                      const StumpStore::Side* side = nullptr) const;
    void add_rows(const RowSet& rows, int first, int last, double* tables, Scratch& scratch,
                  const bool* skipped = nullptr) const;

    // The tables that need not be filled for sides of a column, if other columns were swept before.
    std::unique_ptr<bool[]> skipped_tables(const std::vector<bool>& swept) const;
    std::size_t tables_size() const { return layout_.size; }
    std::size_t n_tables() const { return n_tables_; }

    // The gain of a set of rows as a leaf.
    double leaf_gain(const RowSet& rows, bool limited) const;
    double leaf_gain_of_tables(const double* tables) const;

    // Those of the rows on some sides of a column.
    std::vector<double> leaf_gains(const RowSet& rows, int column, const std::vector<int>& sides) const;

 private:
    KernelInput input(const std::vector<const ColumnRegions*>& axes, const RowSet* rows, int depth,
                      Scratch& scratch, SideProfiles& out) const;
    void load_known(const StumpStore::Side& side, const std::vector<StumpStore::View>& views,
                    const KernelInput& in, Scratch& scratch) const;
    std::uint64_t occupied(const double* tables, int table_axis) const;

    const std::vector<Column>& columns_;
    const LeafValue& leaf_;
    const bool has_light_rows_;
    const int width_;
    const int depth_;
    const bool* stop_;
    std::vector<int> order_;  // the axes of the tables: columns with cuts, by number of cuts
    std::vector<int> table_axis_;
    std::vector<int> table_bins_;
    std::vector<std::size_t> triples_;
    TableLayout layout_{};
    std::size_t n_tables_ = 0;
};

}  // namespace surtree
