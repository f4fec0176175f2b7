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

// An ColumnRegions, and where its numbers lie in the kernel's input and output.
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

struct KernelInput {
    const KernelAxis* axes;  // by number of cuts, ascending; each has at least one
    int n_axes;
    int n_rows;
    const double* sums;  // n_rows x n_sums: events, hazard[, rows, rows with an event]
    int n_sums;          // 2, or 4 where leaves are limited
    double min_samples;
    double min_events;
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
    const double* sums;         // n x n_sums
    int n_sums;                 // as above
    const std::uint8_t* side;   // by number of the row: on which side of the other cut it is, 0 or 1
    const double* totals;       // sums of both sides
    double min_samples;
    double min_events;
    double* workspace;  // of scan_workspace(n, n_sums) doubles
    double* best;       // in and out, for each side: the best gain with a cut, and that within the limits
};

constexpr std::size_t scan_workspace(int n, int n_sums) {
    return 2 * (static_cast<std::size_t>(n) + max_lanes + 3) * static_cast<std::size_t>(n_sums);
}

// Returns false if it was stopped: then the output means nothing.
using Kernel = bool (*)(const KernelInput&);

struct Kernels {
    const char* name;
    Kernel depth[3];                                          // trees of depth one, two, three
    std::size_t (*workspace)(const KernelInput&, int depth);  // in doubles
    // Adds rows first..last-1 of the input to tables; axes are those of the layout, in its order.
    void (*add_rows)(const KernelInput&, int first, int last, double* tables);
    // The best cut of a column on each side of another one.
    void (*scan)(const ScanInput&);
    // The same for cuts whose sums are known, on one side: sums of n_cuts parts, and max_lanes more of zeros.
    void (*scan_cuts)(const ScanInput&, int side, const double* sums, int n_cuts);
    // g for an array, so that tests can compare it with the formula.
    void (*gains)(const double* events, const double* hazard, double* out, int n);
};

const Kernels& kernels();

}  // namespace surtree
