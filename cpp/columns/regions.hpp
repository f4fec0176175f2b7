// One column as the kernels see it: the sets of bins ("regions") that cuts on it can make.
//
// A cut has two sides. Cutting a side again on the same column leaves an intersection of sides, and
// so on. Regions are listed once however many ways lead to them: in an ordered column of q bins
// they are its q(q+1)/2 intervals, so that a second cut of the same column costs few new sums.
#pragma once

#include <cstdint>
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

// A set of bins: runs, ascending and apart.
using Region = std::vector<Run>;

// The bins for which a cut holds.
Region region_of(const Cut& cut, int n_bins, int missing_bin);

// More bins than this, and kernels of more than one level are out of the question.
constexpr int max_kernel_bins = 512;

// A region cut in two by another cut of the same column: ids of the two parts.
struct Split {
    int yes, no;
};

struct ColumnRegions {
    int first_bin = 0, last_bin = 0;  // bins outside first_bin..last_bin-1 hold no rows
    int n_cuts = 0;
    int n_sides = 0;          // 2 * n_cuts: regions where cut c holds come first, then where it does not
    int n_regions = 0;        // sides, and sides cut once more (levels >= 2)
    int n_deep = 0;           // regions, and regions cut once more (levels >= 3)
    std::vector<int> cut_of;  // of each cut, its position in the problem's list
    std::vector<Run> runs;
    std::vector<int> run_begin;  // runs of region r: run_begin[r] .. run_begin[r + 1] - 1
    std::vector<Split> splits;
    std::vector<int> split_begin;    // splits of region r, likewise
    std::vector<double> membership;  // n_bins x whole_vectors(n_cuts + 1): 1 where the cut holds; 1 at last

    std::span<const Run> runs_of(int region) const {
        return {runs.data() + run_begin[at(region)], runs.data() + run_begin[at(region + 1)]};
    }

    // For each region of the whole column, the region that has the same rows among the occupied bins.
    static constexpr int all_rows = -1, no_rows = -2;
    std::vector<int> part_of;

    // sides: where each cut holds, then where it does not. levels: how many cuts of this column a path can
    // hold that a kernel solves at once (1, 2 or 3).
    ColumnRegions(const std::vector<Region>& sides, std::vector<int> cut_of, const Run& bins, int levels);

 private:
    void add_runs(const Region& region);
    template <std::size_t Words>
    void add_regions(const std::vector<Region>& sides, int levels);
};

// Numbers that the widest vector holds, and so many numbers padded to whole vectors.
constexpr int max_lanes = 8;
constexpr std::size_t whole_vectors(int n) {
    return static_cast<std::size_t>((n + max_lanes - 1) / max_lanes * max_lanes);
}

// A column with all its cuts, and the axes for rows that occupy only some of its bins: there many cuts
// have an empty side, or divide the rows as another cut does, and need not be looked at.
class Column {
 public:
    Column(const Problem& problem, int column, int levels);

    int n_bins, first_cut, n_cuts;

    // Every cut, in the order of the problem.
    const ColumnRegions& whole() const { return *whole_; }

    // The cuts that divide rows in these bins, each way to divide them once (by the first such cut).
    // For columns of at most 64 bins.
    const ColumnRegions& within(std::uint64_t occupied) const;

 private:
    void find_parts(std::uint64_t occupied, ColumnRegions& axis) const;

    std::vector<std::uint64_t> holds_;  // the bins where each cut holds
    int n_values_;                      // bins without the missing one
    bool ordered_;
    int levels_;
    std::unique_ptr<ColumnRegions> whole_;
    struct Cache {
        std::mutex mutex;
        std::unordered_map<std::uint64_t, std::unique_ptr<ColumnRegions>> axes;
    };
    std::unique_ptr<Cache> cache_ = std::make_unique<Cache>();
};

// All columns of a problem. Sides of cuts are numbered column by column: first where the cuts of the column
// hold, then where they do not.
class Columns {
 public:
    Columns(const Problem& problem, int levels);

    int size() const { return static_cast<int>(columns_.size()); }
    const Column& operator[](int column) const { return columns_[at(column)]; }
    auto begin() const { return columns_.begin(); }
    auto end() const { return columns_.end(); }

    int index_of(const Column& column) const { return static_cast<int>(&column - columns_.data()); }
    int n_sides() const { return 2 * static_cast<int>(column_of_cut_.size()); }
    int side(const Column& column, int cut, bool holds) const {
        return 2 * column.first_cut + cut + (holds ? 0 : column.n_cuts);
    }
    int first_side(const Column& column) const { return side(column, 0, true); }
    const Column& of_side(int side) const { return columns_[at(column_of_cut_[at(side / 2)])]; }
    int opposite(int side) const;

    // The number of a side of some regions of a column.
    int side_of(const ColumnRegions& regions, int side) const;

 private:
    std::vector<Column> columns_;
    std::vector<int> column_of_cut_;
};

}  // namespace surtree
