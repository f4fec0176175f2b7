// Regions: the sets of bins that cuts on one column can make.
//
// A cut has two sides. Cutting a side again on the same column gives the intersection of two sides, and so
// on. Each distinct set is listed once: an ordered column of q bins has only q(q+1)/2 intervals, so a second
// cut on the same column needs few new sums.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "problem.hpp"

namespace surtree {

// Bins first..last-1.
struct Run {
    int first, last;

    bool operator==(const Run&) const = default;
};

// A set of bins as disjoint runs in ascending order.
using Region = std::vector<Run>;

// The bins for which a cut holds.
Region region_of(const Cut& cut, int n_bins, int missing_bin);

// Kernels of two or three levels take no column with more bins.
constexpr int max_kernel_bins = 512;

// A region split by another cut of the same column: the indices of both parts.
struct Split {
    int yes, no;
};

struct ColumnRegions {
    int first_bin = 0, last_bin = 0;  // only bins first_bin..last_bin-1 hold rows
    int n_cuts = 0;
    int n_sides = 0;          // 2 * n_cuts: side c is where cut c holds, side n_cuts + c where it does not
    int n_regions = 0;        // sides, then sides split once (levels >= 2)
    int n_deep = 0;           // regions, then regions split once (levels >= 3)
    std::vector<int> cut_of;  // per cut, its index into the problem's cuts
    std::vector<Run> runs;
    std::vector<int> run_begin;  // region r has runs run_begin[r] .. run_begin[r + 1] - 1
    std::vector<Split> splits;
    std::vector<int> split_begin;    // the same for the splits of region r
    std::vector<double> membership;  // bins x whole_vectors(n_cuts + 1): 1 where the cut holds; last, ones

    std::span<const Run> runs_of(int region) const {
        return {runs.data() + run_begin[at(region)], runs.data() + run_begin[at(region + 1)]};
    }

    // Maps each region of the whole column to the region with the same occupied bins.
    static constexpr int all_rows = -1, no_rows = -2;
    std::vector<int> part_of;

    // sides: as n_sides says. levels: the depth of the kernel (1, 2 or 3), and so the most cuts of this
    // column on one path.
    ColumnRegions(const std::vector<Region>& sides, std::vector<int> cut_of, const Run& bins, int levels);

 private:
    void add_runs(const Region& region);
    template <std::size_t Bits>
    void add_regions(const std::vector<Region>& sides, int levels);
};

// The doubles of the widest vector, and n doubles padded to whole vectors.
constexpr int max_lanes = 8;
constexpr std::size_t whole_vectors(int n) {
    return static_cast<std::size_t>((n + max_lanes - 1) / max_lanes * max_lanes);
}

// A column with all its cuts, and a cache of its regions for rows that occupy only some of its bins. There,
// many cuts have an empty side or separate the same rows as another cut, and are left out.
class Column {
 public:
    Column(const Problem& problem, int column, int levels);

    int index, n_bins, first_cut, n_cuts;

    // Sides are numbered column by column: those where the cuts of a column hold, then those where they do
    // not.
    int side(int cut, bool holds) const { return 2 * first_cut + cut + (holds ? 0 : n_cuts); }
    int first_side() const { return side(0, true); }

    // With every cut, in the order of the problem.
    const ColumnRegions& whole() const { return *whole_; }

    // The same for so many cuts on a path.
    std::unique_ptr<ColumnRegions> regions(int levels) const;

    // With the cuts that separate rows of these bins. Of cuts that separate the same bins, the first is kept.
    // For columns of at most 64 bins.
    const ColumnRegions& within(std::uint64_t occupied) const;

    // Whether `within` leaves out all cuts that do not separate the bins: an unordered column of many bins
    // would have too many sets of them to cache, and keeps every cut.
    bool within_is_exact() const { return ordered_ || n_bins <= most_cached_bins; }

 private:
    static constexpr int most_cached_bins = 12;

    void find_parts(std::uint64_t occupied, ColumnRegions& out) const;

    std::vector<std::uint64_t> holds_;  // per cut, the bins where it holds
    int n_values_;                      // bins without the missing bin
    bool ordered_;
    int levels_;
    std::unique_ptr<ColumnRegions> whole_;
    mutable std::mutex mutex_;
    mutable std::unordered_map<std::uint64_t, std::unique_ptr<ColumnRegions>> by_occupied_;
};

// All columns of a problem.
class Columns {
 public:
    Columns(const Problem& problem, int levels);

    int size() const { return static_cast<int>(columns_.size()); }
    const Column& operator[](int column) const { return columns_[at(column)]; }
    auto begin() const { return columns_.begin(); }
    auto end() const { return columns_.end(); }

    int n_sides() const { return 2 * static_cast<int>(column_of_cut_.size()); }
    const Column& of_side(int side) const { return columns_[at(column_of_cut_[at(side / 2)])]; }
    int opposite(int side) const;

    // The side where a cut of the problem holds.
    int side_of_cut(int cut) const;

    // The number of side `side` of `regions`.
    int side_of(const ColumnRegions& regions, int side) const;

 private:
    std::deque<Column> columns_;  // columns do not move
    std::vector<int> column_of_cut_;
};

}  // namespace surtree
