// Kernels of depth one and two, from histograms of single columns and of pairs of columns.
#pragma once

#include "kernel/lane_pairs.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// One column: gains of its regions as leaves.
template <class Leaf>
struct SingleSolver {
    static constexpr int Width = Leaf::width;

    double* prefix;  // (bins + 1) x Width
    SumArrays<Width> sums;

    static std::size_t most(const KernelInput& in, int KernelAxis::* size) {
        std::size_t best = 0;
        for (int i = 0; i < in.n_axes; ++i) raise(best, static_cast<std::size_t>(in.axes[i].*size));
        return best;
    }

    SingleSolver(Arena& arena, const KernelInput& in)
        : prefix(arena.take((most(in, &KernelAxis::last_bin) + 1) * Width)),
          sums(arena, most(in, &KernelAxis::n_deep)) {}

    // Gains of all deep regions, from a histogram.
    void solve(const Leaf& rule, const KernelAxis& axis, const double* per_bin, double* out) const {
        for (int c = 0; c < Width; ++c) prefix[c] = 0;
        for (std::size_t k = 0; k < area(axis.last_bin, Width); ++k)
            prefix[k + Width] = prefix[k] + per_bin[k];
        for (int region = 0; region < axis.n_deep; ++region)
            for (int c = 0; c < Width; ++c) {
                double sum = 0;
                for (int u = axis.run_begin[region]; u < axis.run_begin[region + 1]; ++u)
                    sum += prefix[axis.runs[u].last * Width + c] - prefix[axis.runs[u].first * Width + c];
                sums.of[c][region] = sum;
            }
        limited_gains(rule, sums, out, axis.n_deep);
    }
};

// The gains of the first n regions with at most one split of the same column, from those as leaves.
void split_regions(const KernelAxis& axis, int n, const double* leaf, double* stump) {
    for (int region = 0; region < n; ++region) {
        double best = leaf[region];
        for (int k = axis.split_begin[region]; k < axis.split_begin[region + 1]; ++k)
            best = larger(best, leaf[axis.splits[k].yes] + leaf[axis.splits[k].no]);
        stump[region] = best;
    }
}

// Two columns: gains of (region of one) x (side of the other) as leaves.
template <class Leaf>
struct PairSolver {
    static constexpr int Width = Leaf::width;

    double* sides;  // (bins + 1) x Width x sides: prefix sums over the bins of the first column
    SumArrays<Width> sums;

    static std::size_t most(const KernelInput& in,
                            std::size_t (*size)(const KernelAxis&, const KernelAxis&)) {
        std::size_t best = 0;
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = 0; j < in.n_axes; ++j)
                if (i != j) raise(best, size(in.axes[i], in.axes[j]));
        return best;
    }
    static std::size_t table_size(const KernelAxis& a, const KernelAxis& b) {
        return area(a.last_bin, b.last_bin) * Width;
    }
    static std::size_t running_size(const KernelAxis& a, const KernelAxis& b) {
        return area(a.last_bin + 1, padded(b.n_sides)) * Width;
    }
    static std::size_t n_cells(const KernelAxis& a, const KernelAxis& b) {
        return area(a.n_regions, b.n_sides);
    }

    PairSolver(Arena& arena, const KernelInput& in)
        : sides(arena.take(most(in, running_size))), sums(arena, most(in, n_cells)) {}

    // Gains of regions from..to-1 of `a` with every side of `b`. Strides are as in `running_sides`.
    void solve(const Leaf& rule, const double* table, const KernelAxis& a, std::size_t a_stride,
               const KernelAxis& b, std::size_t b_stride, int from, int to, double* out) const {
        if (from == to) return;
        running_sides<Width>(table, a, a_stride, b, b_stride, sides);
        const int width = padded(b.n_sides);
        const std::size_t line = area(width, Width);
        const double* const zeros = sides + static_cast<std::size_t>(a.first_bin) * line;
        // Regions are written in order: each overwrites what the one before wrote past its end.
        for (int region = from; region < to; ++region)
            for (int c = 0; c < Width; ++c)
                region_sum(a, region, sides + c * width, line, width, zeros,
                           sums.of[c] + area(region - from, b.n_sides));
        limited_gains(rule, sums, out, (to - from) * b.n_sides);
    }
};

// The gain of each side of each cut as a leaf.
template <class Leaf>
struct DepthOne {
    static constexpr int Width = Leaf::width;

    const KernelInput& in;
    Arena arena;
    const Leaf rule;
    SingleSolver<Leaf> single;
    double* per_bin;
    double* leaf;  // per deep region of one axis

    explicit DepthOne(const KernelInput& input)
        : in(input),
          arena{input.workspace},
          rule(input.leaf),
          single(arena, input),
          per_bin(arena.take(single.most(input, &KernelAxis::last_bin) * Width)),
          leaf(arena.take(single.most(input, &KernelAxis::n_deep))) {}

    bool run() {
        for (int i = 0; i < in.n_axes; ++i) {
            solve(in.axes[i]);
            for (int s = 0; s < in.axes[i].n_sides; ++s) in.side_gains[in.axes[i].first_side + s] = leaf[s];
            if (stopped(in)) return false;
        }
        return true;
    }

    void solve(const KernelAxis& axis) const {
        fill(per_bin, area(axis.last_bin, Width), 0);
        for (int r = 0; r < in.n_rows; ++r)
            add_cell<Width>(per_bin + area(axis.bins[r], Width), in.sums + area(r, Width));
        single.solve(rule, axis, per_bin, leaf);
    }
};

// The best gains of each side of each cut with 0 and 1 splits. One pair of columns at a time, so that memory
// stays small with thousands of columns.
template <class Leaf>
struct DepthTwo {
    static constexpr int Width = Leaf::width;

    const KernelInput& in;
    DepthOne<Leaf> one;
    Arena& arena;
    const LanePairs<Leaf> by_lanes;
    PairSolver<Leaf> pair;
    unsigned* cell_of;
    double* table;
    double* gains;   // sides of the first column x sides of the second
    double* stumps;  // sides of all axes

    explicit DepthTwo(const KernelInput& input)
        : in(input),
          one(input),
          arena(one.arena),
          by_lanes(arena, input, one.rule),
          pair(arena, input),
          cell_of(arena.cells(input.n_rows)),
          table(arena.take(pair.most(input, pair.table_size))),
          gains(arena.take(pair.most(input, pair.n_cells))),
          stumps(arena.take(all_sides(input))) {}

    bool run() {
        for (int i = 0; i < in.n_axes; ++i) {
            const KernelAxis& axis = in.axes[i];
            one.solve(axis);
            split_regions(axis, axis.n_sides, one.leaf, stumps + axis.first_side);
            for (int s = 0; s < axis.n_sides; ++s) in.side_gains[2 * (axis.first_side + s)] = one.leaf[s];
        }
        if (in.n_groups > 0 && !by_lanes.run(stumps)) return false;
        for (int i = 0; i < in.n_axes; ++i) {
            const KernelAxis& a = in.axes[i];
            if (by_lanes.solves(i, i)) continue;
            for (int r = 0; r < in.n_rows; ++r) cell_of[r] = a.bins[r];
            for (int j = i + 1; j < in.n_axes; ++j) {
                if (by_lanes.solves(i, j)) continue;
                const KernelAxis& b = in.axes[j];
                fill(table, pair.table_size(a, b), 0);
                add_rows<Width>(in, 0, in.n_rows, cell_of, b.bins, b.last_bin, table);
                pair.solve(one.rule, table, a, area(b.last_bin, Width), b, Width, 0, a.n_sides, gains);
                split_lines(gains, a.n_sides, b, stumps + a.first_side);
                split_columns(gains, b.n_sides, a, stumps + b.first_side);
                if (stopped(in)) return false;
            }
        }
        for (int s = 0; s < all_sides(in); ++s) in.side_gains[2 * s + 1] = stumps[s];
        return true;
    }
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
