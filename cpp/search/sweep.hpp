// Dynamic programming over sets of rows: T(D, d, n) of the paper, for every n at once.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "search/cache.hpp"
#include "search/side_cache.hpp"
#include "search/table_solver.hpp"
#include "search/workers.hpp"

namespace surtree {

// What one thread needs for itself.
struct Worker {
    Scratch scratch;
    SideProfiles side_gains;
    std::vector<RowSet> rows;  // by depth: the child that is being solved
    RowSet sorted;
    std::vector<double> running_tables;
    std::vector<double> side_tables;
    SideHashes side_hashes;
    bool prepares = false;
};

// The rows of each side of each cut, counted and named without looking at the sides one by one.
// Sides are numbered column by column: those where its cuts hold, then those where they do not.
struct SideCounts {
    std::vector<int> n;
    std::vector<RowSetHash> hash;
};

class SweepSearch {
 public:
    SweepSearch(const Problem& problem, const Limits& limits, const Control& control);

    // Runs until every size is proven, or until a limit.
    Status run();

    // For at most 0, 1, 2, ... splits: the best gains found, those by the solved sides of the root alone,
    // and what no tree can exceed.
    Profile gains() const;
    Profile gains_of_sides() const;
    Profile gain_bounds() const;

    // The best profile known for the rows on one side of a root cut, and the depth it is optimal for.
    struct RootResult {
        int depth = -1;
        Profile profile;
    };
    const std::vector<RootResult>& root_sides() const { return root_sides_; }

    // A good tree early: each cut is the one that is best with two more levels below it, and the last three
    // levels are optimal.
    struct LookAhead {
        int depth = 0;  // for which `exact` is optimal
        Profile exact;
        int column = -1, cut = -1;  // of the cut, if there is one
        std::unique_ptr<LookAhead> no, yes;
        Profile profile;  // the better of both, for each number of splits
    };
    const LookAhead* look_ahead() const { return look_ahead_.get(); }

    // The profile of a set of rows and those of its sides (empty where a cut does not divide the rows).
    // Runs to the end, whatever the limits on time.
    struct Solved {
        Profile profile;
        std::vector<Profile> sides;
    };
    Solved solve_again(const RowSet& rows, int depth, Worker& worker);

    const Rows& rows() const { return rows_; }
    const std::vector<Column>& columns() const { return columns_; }
    int n_splits() const { return depth_ > 0 ? budget_.back() : 0; }

    int first_side(const Column& column) const { return 2 * column.first_cut; }
    int opposite(int side) const;

    // Gains this close are equal but for rounding.
    double tie() const { return rows_.tie; }

 private:
    // Sides of the root that a thread solves in one go; none for the look ahead. To prepare a side is to
    // solve its sides of the same group of columns, so that others can share them.
    struct Task {
        int first_side, last_side;
        bool prepares = false;
    };

    // Of a tree of this depth, sides two levels down are shared.
    static constexpr int shared_depth = 5;

    std::vector<Task> tasks() const;
    std::vector<int> promising_sides() const;
    bool is_quick() const;
    bool worth_grouping() const;
    Status run_tasks(const std::vector<Task>& tasks);
    void run_task(const Task& task, Worker& worker);
    void solve_within_groups(int side, Worker& worker);
    std::unique_ptr<LookAhead> look_ahead(const RowSet& rows, int depth, Worker& worker);
    void keep(int side, int depth, Profile profile);
    Progress progress(double fraction) const;

    bool solve(const RowSet& rows, int depth, Worker& worker, Profile& out);
    bool solve_sides(const RowSet& rows, const Column& column, const SideCounts& sides, int depth,
                     Worker& worker, std::vector<Profile>& out);
    bool solve_side(const RowSet& rows, const Column& column, int side, const SideCounts& sides, int depth,
                    Worker& worker, Profile& out);
    bool sweep(const RowSet& rows, const Column& column, const SideCounts& sides,
               const std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out);
    void join_cached_sides(const RowSet& rows, const Column& column, const SideCounts& sides,
                           std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out);
    bool caches_sides() const {
        return !column_group_.empty() && stage_depth_ <= depth_ && stage_depth_ <= shared_depth;
    }
    bool worth_sweeping(const RowSet& rows, const Column& column, const SideCounts& sides,
                        const std::vector<int>& unsolved) const;
    bool load_sides(const RowSet& rows, SideProfiles& out) const;
    const SideProfiles* kept_gains(const RowSet& rows) const;
    const double* region_tables(const ColumnRegions& axis, int region, Worker& worker) const;
    bool find(int depth, const RowSetHash& hash, Profile& out);
    void store(int depth, const RowSetHash& hash, const Profile& profile);

    void start_profile(double leaf, int n_rows, int depth, Profile& out) const;
    void join_sides(const SideProfiles& gains, Profile& out) const;
    template <class Visit>
    void for_each_side(const SideProfiles& gains, const Visit& visit) const;
    std::vector<Profile> profiles_of_sides(const SideProfiles& gains) const;
    void store_sides(const SideProfiles& gains, const std::vector<RowSetHash>& hashes);
    void store_sides(double leaf, const std::vector<RowSetHash>& hashes);
    std::vector<double> saturated_gains(const RowSet& rows) const;
    Profile root_profile(const std::vector<RootResult>& sides) const;
    SideCounts sides_of(const RowSet& rows) const;
    int side_of(const ColumnRegions& axis, int side) const;  // of the whole column
    const Column& column_of_side(int side) const;
    bool is_limited() const { return rows_.leaf.is_limited(); }
    int index_of(const Column& column) const { return static_cast<int>(&column - columns_.data()); }

    const Problem& problem_;
    const Control& control_;
    const Limits limits_;
    const Rows rows_;
    int depth_ = 0;
    std::vector<int> budget_;  // by depth: the most splits that a tree of this depth may have
    std::vector<Column> columns_;
    int n_sides_ = 0;
    Workers workers_;
    std::optional<TableSolver> table_solver_;  // made when the columns are
    std::vector<Cache<Profile>> cache_;        // by depth
    std::atomic<std::size_t> memory_left_;
    SideCache side_cache_{columns_, memory_left_};
    std::vector<int> column_group_;  // of each column; empty where nothing is shared
    std::optional<StumpStore> stumps_;
    int stage_depth_ = 0;
    bool prepared_ = false;  // the sides of the root, at this stage
    SideCounts root_rows_;
    // What the rows of a bin gain at most: a leaf for each of them.
    struct BinTotal {
        double saturated = 0;
        bool has_rows = false;
    };
    mutable std::vector<std::vector<BinTotal>>
        saturated_;  // by column and bin; used by the calling thread only
    mutable std::mutex root_mutex_;
    std::vector<RootResult> root_sides_;
    std::vector<SideProfiles> root_gains_;  // what kernels of depth three found of sides of the root
    std::unique_ptr<LookAhead> look_ahead_;
};

}  // namespace surtree
