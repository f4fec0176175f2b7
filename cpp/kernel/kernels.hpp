// Kernels: optimal trees of at most three levels, from histograms over pairs and triples of columns.
//
// A kernel solves the rows on each side of each cut at once: for side s it writes the best gains with
// 0, 1, ... splits below s. The caller joins the two sides of a cut. The same source is compiled once per
// instruction set; `find_kernels` picks one at run time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "columns/regions.hpp"

namespace surtree {

// The gain of a leaf that violates a limit. Finite, so that sums of a few of them stay finite.
constexpr double infeasible = -1e300;

// The regions of a column (see ColumnRegions), and its place in the kernel's input and output.
struct KernelAxis {
    int first_bin, last_bin;
    int n_cuts, n_sides, n_regions, n_deep;
    const Run* runs;
    const int* run_begin;
    const Split* splits;
    const int* split_begin;
    const double* membership;
    const std::uint16_t* bins;  // per row; null for an axis of one bin
    int table_axis;             // its axis in the tables
    int first_side;             // its first side in the output
};

// The tables that depth three starts from: one histogram per triple of axes i < j < k, one after the other.
struct TableLayout {
    int n_axes;
    const int* n_bins;           // per axis
    const std::size_t* triples;  // offset of the table of i < j < k, at [(i * n_axes + j) * n_axes + k]
    std::size_t size;            // of all tables, in doubles
};

// Intermediate results of depth three, per axis and per pair of axes i < j at [i * n_axes + j].
struct FoundStumps {
    int n_axes;
    const double* const* leaf;   // per region: gain as a leaf
    const double* const* stump;  // per region: best gain with at most one split
    const double* const* pair;   // per side x side: best gain with at most one split
};

// The parameters of an objective, in units of the grid, and the minimum of each count in a leaf.
struct LeafSpec {
    const double* parameters;
    const double* least;
    int n_counts;  // one that the kernels are compiled for, see `Kernels::padded_counts`
};

constexpr int max_counts = 4;

struct KernelInput {
    const KernelAxis* axes;  // in ascending order of cuts, at least one each
    int n_axes;
    int n_rows;
    const double* sums;  // n_rows x width: sums of the objective, then counts
    LeafSpec leaf;
    const TableLayout* layout;  // for depth three only
    const double* tables;       // for depth three, if the tables are there; null: it makes them of the rows
    const bool* stop;           // polled
    double* workspace;
    double* side_gains;  // out: sides x 2^(depth - 1)

    // For depth three; each may be null.
    const double* const* known;  // known stumps of pairs, indexed as FoundStumps::pair
    const double* const*
        known_regions;    // known stumps of regions, per axis; then all its pairs are known too
    const bool* skipped;  // tables that need not be filled, indexed as `triples`
    FoundStumps* found;   // out; points into the workspace

    // For depth two, and three without known stumps: axes with the same cuts, in groups of as many as a
    // vector has lanes.
    int n_groups;
    const int* groups;    // n_groups x lanes: axes, the first one again where there are too few
    const int* group_of;  // per axis; -1: none

    double* const* stumps;  // out, for `stumps` of two to four axes; raised, never lowered

    // For depth three, or null: stumps of pairs of axes by a third one as screening found them, in so many
    // units each. Then no triples are solved, and gains of two splits and more are rough.
    const float* const* rough;
    double rough_unit;
};

// The line that has the sums of a cut, in screening. An axis has a line of running sums for each bin, which
// serves the cuts with a side from the first bin on, and then one for each other cut.
struct CutLine {
    int line;
    int side;  // whose sums these are: 0 where the cut holds, 1 where it does not
};

// Some pairs of axes, one for each lane, to be screened with all axes before the first of both.
struct ScreenInput {
    const KernelAxis* axes;
    int n_axes, n_rows, max_bins;
    const CutLine* const* lines;  // per axis and cut
    const int* n_lines;           // per axis
    const int* order;             // n_axes x n_rows: rows in the order of their bins
    const int* begin;             // n_axes x (max_bins + 1): the first row of each bin, in this order
    const long long* packed;      // (width / 2) x n_rows: two whole numbers of 31 bits, the first one above
    int n_counts;
    const int* least;
    double prior;
    const int* pairs;  // lanes x 2
    const bool* stop;  // polled
    double* workspace;
    float* const* best;  // out, per pair i < j at [i * n_axes + j]: sides x sides, in bits; raised
};

// The rows sorted by an ordered column, and a partition of them by a cut of another column.
struct ScanInput {
    int n;                      // rows
    const std::int32_t* row;    // row indices
    const std::uint32_t* code;  // 2 * bin, plus 1 if rows of the bin may have events
    const double* sums;         // n x width
    LeafSpec leaf;
    const std::uint8_t* side;  // per row index: its side of the other cut, 0 or 1
    const double* totals;      // 2 x width: sums of both sides
    double* workspace;         // scan_workspace(n, width) doubles
    double* best;              // in and out, per side: the best gain with one cut, without and within limits
};

constexpr std::size_t scan_workspace(int n, int width) {
    return 2 * (static_cast<std::size_t>(n) + max_lanes + 3) * static_cast<std::size_t>(width);
}

// Returns false if stopped: then the output is undefined.
using Kernel = bool (*)(const KernelInput&);

// An objective, compiled for an instruction set.
struct Kernels {
    const char* instruction_set;
    const char* objective;
    // Copied from the objective (see objective/objectives.hpp).
    int n_sums, n_channels, n_parameters, exposure;
    bool is_convex, is_monotone;
    int lanes;                    // doubles in a vector
    int (*padded_counts)(int n);  // the number of counts, at least n, that kernels are compiled for
    double (*scale)(const double* totals);
    double (*saturated_exactly)(const double* channel);

    Kernel depth[3];                                          // trees of depth one, two, three
    std::size_t (*workspace)(const KernelInput&, int depth);  // in doubles
    // The best single splits below three cuts, of two, three and four axes (see stumps/kernel.hpp).
    Kernel stumps[3];
    std::size_t (*stumps_workspace)(const KernelInput&);
    // Screening (see screening/kernel.hpp); null for objectives without a rough gain.
    bool (*screen)(const ScreenInput&);
    std::size_t (*screen_workspace)(const ScreenInput&);
    // Rough gains of E = sums[2k] and H = sums[2k + 1], in bits; what they are off by at most, relative to E.
    void (*rough_gains)(double prior, const int* sums, int n, float* out);
    double rough_error;
    // Adds rows first..last-1 to the tables. The axes are those of the layout, in its order.
    void (*add_rows)(const KernelInput&, int first, int last, double* tables);
    // Finds the best cut of a column on each side of another cut.
    void (*scan)(const ScanInput&);
    // The same on one side, from the sums below each of n_cuts cuts, padded with max_lanes rows of zeros.
    void (*scan_cuts)(const ScanInput&, int side, const double* sums, int n_cuts);
    // For n rows of sums: the gain of each as a leaf, without limits; and its part of the saturated gain.
    void (*gains)(const LeafSpec&, const double* sums, int n, double* out);
    void (*saturated)(const LeafSpec&, const double* sums, int n, double* out);
    // Whether a leaf with these sums is within the limits.
    bool (*allows)(const LeafSpec&, const double* sums);
};

// The kernels of an objective for this processor; nullptr if there is no such objective.
const Kernels* find_kernels(const char* objective);

}  // namespace surtree
