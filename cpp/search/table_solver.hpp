// Where the recursion ends: subproblems of at most three levels, handed to the kernels.
#pragma once

#include <memory>

#include "kernel/kernels.hpp"
#include "rows/rows.hpp"
#include "search/sides.hpp"
#include "search/stump_store.hpp"

namespace surtree {

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

    TableSolver(const Columns& columns, const Rows& rows, int depth, const bool* stop);

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

    // The gain, as a leaf, of the rows in tables; and of the rows on some sides of a column.
    double leaf_gain(const double* tables) const;
    std::vector<double> leaf_gains(const RowSet& rows, const Column& column,
                                   const std::vector<int>& sides) const;

 private:
    KernelInput input(const std::vector<const ColumnRegions*>& axes, const RowSet* rows, int depth,
                      Scratch& scratch, SideProfiles& out) const;
    void load_known(const StumpStore::Side& side, const std::vector<StumpStore::View>& views,
                    const KernelInput& in, Scratch& scratch) const;
    std::uint64_t occupied(const double* tables, int table_axis) const;

    const Columns& columns_;
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
