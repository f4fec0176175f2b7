// Dynamic programming over sets of rows: T(D, d, n) of the paper, for every n at once.
#pragma once

#include <atomic>
#include <optional>

#include "search/cache.hpp"
#include "search/plan.hpp"
#include "search/side_cache.hpp"
#include "search/table_solver.hpp"
#include "search/workers.hpp"
#include "stumps/filler.hpp"

namespace surtree {

class Recursion {
 public:
    // Memory that one thread uses again and again.
    struct Worker {
        Scratch scratch;
        SideProfiles profiles;     // what kernels found last
        std::vector<RowSet> rows;  // by depth: the child that is being solved
        RowSet sorted;
        std::vector<double> running_tables, side_tables;
        SideHashes side_hashes;
        bool fills_side_cache = false;  // joins nothing from it yet
    };

    Recursion(const Problem& problem, const Limits& limits, const Control& control, Workers& workers);

    const Rows& rows() const { return rows_; }
    const Columns& columns() const { return columns_; }
    const TableSolver& tables() const { return tables_; }
    const Workload& workload() const { return workload_; }
    int depth() const { return static_cast<int>(budget_.size()) - 1; }
    int n_splits() const { return budget_.back(); }
    int budget(int depth) const { return budget_[at(depth)]; }
    // Sides of all cuts of the root.
    const SideCounts& root_sides() const { return root_sides_; }

    // The profile of a set of rows, for trees of at most this depth; false if stopped.
    bool solve(const RowSet& rows, int depth, Worker& worker, Profile& out);

    // The profiles of all sides of one column; empty where a side or its opposite has no rows.
    bool solve_sides(const RowSet& rows, const Column& column, const SideCounts& sides, int depth,
                     Worker& worker, std::vector<Profile>& out);
    bool solve_side(const RowSet& rows, const Column& column, int side, const SideCounts& sides, int depth,
                    Worker& worker, Profile& out);

    // A side of the root by kernels of this depth, whatever the budget.
    bool solve_root_side(int side, int depth, Worker& worker, Profile& out);

    // A profile of as many splits as rows and budget allow, all worth the leaf.
    void start_profile(double leaf, int n_rows, int depth, Profile& out) const;

    // Where trees are deep enough, depth-two results are cached two levels below the root. `fill` solves what
    // is to be stored for one side of the root, and `join` then serves all sides.
    bool has_side_cache() const { return side_cache_.has_value(); }
    void use_side_cache(bool use) { uses_side_cache_ = use && has_side_cache(); }
    void fill_side_cache(int side, Worker& worker);
    void freeze_side_cache() { side_cache_->freeze(); }
    void cache_root_sides(const SideProfiles& profiles);

    // At depth four the table of stumps may be filled before any side is solved; nullptr if it is not worth
    // it.
    StumpFiller* stump_filler() { return filler_ ? &*filler_ : nullptr; }
    StumpStore* stump_store() { return stumps_ ? &*stumps_ : nullptr; }
    void use_filled_stumps() { stumps_filled_ = true; }

    // The profile of a set of rows and those of its sides (empty where a cut does not divide the rows).
    // Runs to the end, whatever the limits on time.
    struct Solved {
        Profile profile;
        std::vector<Profile> sides;
    };
    Solved solve_again(const RowSet& rows, int depth, Worker& worker);

 private:
    bool sweep(const RowSet& rows, const Column& column, const SideCounts& sides,
               const std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out);
    bool solve_with_stumps(const RowSet& rows, const Column& column, int side, const SideCounts& sides,
                           Worker& worker, Profile& out);
    void make_stumps(const Problem& problem, std::size_t memory_limit);
    bool sweep_pays(const RowSet& rows, const Column& column, const SideCounts& sides,
                    const std::vector<int>& unsolved) const;
    const double* region_tables(const ColumnRegions& regions, int region, Worker& worker) const;
    void join_cached_sides(const RowSet& rows, const Column& column, const SideCounts& sides,
                           std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out);
    bool is_saturated(const RowSet& rows, double leaf) const;
    bool find(int depth, const RowSetHash& rows, Profile& out) const;
    void store(int depth, const RowSetHash& rows, const Profile& profile);

    const Switches use_;
    Workers& workers_;
    const Rows rows_;
    const std::vector<int> budget_;  // by depth: the most splits that a tree of this depth may have
    const Columns columns_;
    const TableSolver tables_;
    const Workload workload_;
    const SideCounts root_sides_;
    std::atomic<std::size_t> memory_left_;
    std::vector<Cache<Profile>> cache_;  // by depth
    std::optional<SideCache> side_cache_;
    bool uses_side_cache_ = false;
    std::optional<StumpStore> stumps_;
    std::optional<StumpFiller> filler_;
    bool stumps_filled_ = false;
    std::vector<SideProfiles> root_profiles_;  // what kernels found for sides of the root, to build trees
};

}  // namespace surtree
