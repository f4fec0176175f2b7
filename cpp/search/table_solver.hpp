// The base case of the recursion: solves subproblems of at most three levels with the kernels.
#pragma once

#include <memory>

#include "kernel/kernels.hpp"
#include "rows/rows.hpp"
#include "search/sides.hpp"
#include "stumps/store.hpp"

namespace surtree {

// Memory of one thread, reused between calls.
struct Scratch {
    std::vector<KernelAxis> views;
    std::vector<double> workspace;
    std::vector<double> tables;
    std::vector<int> groups, group_of;
    std::vector<double> known;
    std::vector<const double*> known_of_pair;
    std::vector<const double*> known_of_axis;
};

// Axes with the same cuts, kind by kind.
std::vector<std::vector<int>> kinds_of(const KernelAxis* axes, int n_axes);

// A column, with its bins of some rows, for a kernel.
KernelAxis kernel_axis(const ColumnRegions& regions, const std::uint16_t* bins);

class TableSolver {
 public:
    // The greatest depth, up to `depth`, whose tables are not too large: those of depth three, and what is
    // kept of all pairs of columns, take no more than so many bytes.
    static int deepest(const Problem& problem, int depth, std::size_t memory);
    static std::size_t bytes_of_depth_three(const Problem& problem);
    static constexpr int most_bins_of_depth_three = 64;

    TableSolver(const Columns& columns, const Rows& rows, int depth, const bool* stop);

    int depth() const { return depth_; }

    // Solves trees of this depth over a set of rows; false if stopped.
    bool solve(const RowSet& rows, int depth, Scratch& scratch, SideProfiles& out) const;

    // The same with tables that are made of the rows one at a time. For depth three that takes little memory
    // where columns are many.
    // For a side of the root, `context` gives access to the stumps that are stored already.
    bool solve_rows(const RowSet& rows, int depth, Scratch& scratch, SideProfiles& out,
                    const StumpStore::Context* context = nullptr) const;

    // Depth three over these rows as a kernel takes it, made one table at a time.
    KernelInput depth_three_of(const RowSet& rows, Scratch& scratch, SideProfiles& out) const;

    // Depth three from tables, which may be sums and differences of other tables.
    bool solve_tables(const double* tables, Scratch& scratch, SideProfiles& out,
                      const StumpStore::Context* context = nullptr) const;
    void add_rows(const RowSet& rows, int first, int last, double* tables, Scratch& scratch,
                  const bool* skipped = nullptr) const;

    // The tables that no kernel needs once these columns are swept.
    std::unique_ptr<bool[]> skipped_tables(const std::vector<bool>& swept) const;
    std::size_t tables_size() const { return layout_.size; }

    // The axes of tables that are kept, and the column of each: -1 where columns are fewer than three.
    bool can_be_given() const { return !triples_.empty() || layout_.size == 0; }
    const TableLayout& layout() const { return layout_; }
    int column_of(int axis) const { return order_[at(axis)]; }
    // Small tables stay in the cache all together, and pairs are margins of them.
    bool is_small() const { return layout_.size <= std::size_t{1} << 19; }

    // The gain of the rows in tables as a leaf; the same for the rows on some sides of a column.
    double leaf_gain(const double* tables) const;
    std::vector<double> leaf_gains(const RowSet& rows, const Column& column,
                                   const std::vector<int>& sides) const;

 private:
    KernelInput input(const std::vector<const ColumnRegions*>& axes, const RowSet* rows, const double* tables,
                      int depth, Scratch& scratch, SideProfiles& out, bool uses_lanes = false) const;
    std::vector<const ColumnRegions*> axes_of(const RowSet& rows, int depth) const;
    bool run(KernelInput& in, int depth, const std::vector<const ColumnRegions*>& axes, Scratch& scratch,
             const StumpStore::Context* context) const;
    void find_groups(KernelInput& in, int depth, Scratch& scratch) const;
    void load_known(const StumpStore::Context& context, const std::vector<StumpStore::View>& views,
                    const KernelInput& in, Scratch& scratch) const;
    std::uint64_t occupied(const double* tables, std::size_t axis) const;
    std::uint64_t occupied(const RowSet& rows, int column) const;

    const Columns& columns_;
    const LeafValue& leaf_;
    const bool has_light_rows_;
    const int width_;
    const int depth_;
    const bool* stop_;
    static constexpr int no_column = -1;
    std::vector<int> order_;  // the column of each table axis: those with cuts, by number of bins
    std::vector<int> table_bins_;
    std::vector<std::size_t> triples_;
    TableLayout layout_{};
};

}  // namespace surtree
