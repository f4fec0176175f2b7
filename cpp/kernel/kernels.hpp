// Every tree of at most three levels over a set of rows, from sums over pairs and triples of columns.
//
// A kernel solves all subproblems "the rows on one side of one cut" at once, each for every number of
// splits: for side s it writes the best gains with 0, 1, ... splits below s. The caller joins the two
// sides of a cut. The same source is compiled once per instruction set; `kernels()` picks at run time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "columns/regions.hpp"

namespace surtree {

// The gain of a leaf that breaks a limit. Finite, so that sums of a few of them stay finite.
constexpr double infeasible = -1e300;

// The regions of a column, and where its numbers lie in the kernel's input and output.
struct KernelAxis {
    int first_bin, last_bin;
    int n_cuts, n_sides, n_regions, n_deep;
    const Run* runs;
    const int* run_begin;
    const Split* splits;
    const int* split_begin;
    const double* membership;
    const std::uint16_t* bins;  // one per row
    int table_axis;             // which axis of the tables it is
    int first_side;             // of its sides in the output
};

// The tables that depth three starts from, one after the other: sums per cell of bins of every triple
// of axes i < j < k; with fewer axes, of the only pair, or of the only one.
struct TableLayout {
    int n_axes;
    const int* n_bins;           // per axis
    const std::size_t* triples;  // where the table of i < j < k begins: at [(i * n_axes + j) * n_axes + k]
    std::size_t size;            // of all tables, in doubles
};

// What depth three finds on its way, for each axis and for each pair of axes i < j at [i * n_axes + j].
struct FoundStumps {
    int n_axes;
    const double* const* leaf;   // per region: its rows as a leaf
    const double* const* stump;  // per region: with at most one split
    const double* const* pair;   // side x side: with at most one split
};

// The parameters of an objective, in units of the grid, and the least value of each count in a leaf.
struct LeafSpec {
    const double* parameters;
    const double* least;
    int n_counts;  // one of those that kernels are made for
};

// The least number of counts, not below n, that kernels are made for. More are not.
constexpr int max_counts = 4;
constexpr int padded_counts(int n) { return n == 0 ? 0 : n <= 2 ? 2 : max_counts; }

struct KernelInput {
    const KernelAxis* axes;  // by number of cuts, ascending; each has at least one
    int n_axes;
    int n_rows;
    const double* sums;  // n_rows x width: those of the objective, then counts
    LeafSpec leaf;
    const TableLayout* layout;  // for depth three only
    const double* tables;       // likewise; instead of rows
    const bool* stop;           // looked at now and then
    double* workspace;
    double* side_gains;  // out: sides x 2^(depth - 1)

    // For depth three, all of these may be null.
    const double* const* known;          // stumps of pairs that need not be looked for, as in FoundStumps
    const double* const* known_regions;  // and of regions, per axis; then all its pairs are known
    const bool* skipped;                 // tables that need not be filled, as `triples` are numbered
    FoundStumps* found;                  // out; lives in the workspace
};

// The rows of an ordered column, in its order, and a cut of another column that divides them.
struct ScanInput {
    int n;                      // rows
    const std::int32_t* row;    // their numbers
    const std::uint32_t* code;  // twice the bin, and one more where its bin may hold events
    const double* sums;         // n x width
    LeafSpec leaf;
    const std::uint8_t* side;  // by number of the row: on which side of the other cut it is, 0 or 1
    const double* totals;      // sums of both sides
    double* workspace;         // of scan_workspace(n, width) doubles
    double* best;  // in and out, for each side: the best gain with a cut, and that within the limits
};

constexpr std::size_t scan_workspace(int n, int width) {
    return 2 * (static_cast<std::size_t>(n) + max_lanes + 3) * static_cast<std::size_t>(width);
}

// Returns false if it was stopped: then the output means nothing.
using Kernel = bool (*)(const KernelInput&);

// An objective, compiled for an instruction set.
struct Kernels {
    const char* instruction_set;
    const char* objective;
    // As the objective says (see objective/objectives.hpp).
    int n_sums, exposure;
    bool is_convex, is_monotone;
    double (*scale)(const double* totals);
    double (*saturated_exactly)(const double* row);

    Kernel depth[3];                                          // trees of depth one, two, three
    std::size_t (*workspace)(const KernelInput&, int depth);  // in doubles
    // Adds rows first..last-1 of the input to tables; axes are those of the layout, in its order.
    void (*add_rows)(const KernelInput&, int first, int last, double* tables);
    // The best cut of a column on each side of another one.
    void (*scan)(const ScanInput&);
    // The same for cuts whose sums are known, on one side: sums of n_cuts parts, and max_lanes more of zeros.
    void (*scan_cuts)(const ScanInput&, int side, const double* sums, int n_cuts);
    // For n rows of sums: the gain of each as a leaf, without limits; and what it adds to the saturated gain.
    void (*gains)(const LeafSpec&, const double* sums, int n, double* out);
    void (*saturated)(const LeafSpec&, const double* sums, int n, double* out);
    // Whether these sums may be those of a leaf.
    bool (*allows)(const LeafSpec&, const double* sums);
};

// The kernels of an objective for this processor; nullptr if nobody knows the objective.
const Kernels* find_kernels(const char* objective);

}  // namespace surtree
