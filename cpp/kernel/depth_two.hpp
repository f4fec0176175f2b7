// Kernels of depth one and two, from histograms of single columns and of pairs of columns.
#pragma once

#include "kernel/tables.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// One column: gains of its regions as leaves and with one split of the same column.
template <class Leaf>
struct Single {
    static constexpr int Width = Leaf::width;

    double* leaf;   // per deep region
    double* stump;  // per region: with at most one split

    Single(double* leaf_piece, double* stump_piece) : leaf(leaf_piece), stump(stump_piece) {}
    Single(Arena& arena, const KernelAxis& axis)
        : leaf(arena.take(axis.n_deep)), stump(arena.take(axis.n_regions)) {}

    // From a histogram.
    void solve(const Leaf& rule, const KernelAxis& axis, const double* per_bin, Arena scratch) const {
        double* prefix = scratch.take(area(axis.last_bin + 1, Width));
        SumArrays<Width> sums(scratch, static_cast<std::size_t>(axis.n_deep));
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
        limited_gains(rule, sums, leaf, axis.n_deep);
    }

    // For the first n regions, whose splits are listed.
    void split(const KernelAxis& axis, int n) const {
        for (int region = 0; region < n; ++region) {
            double best = leaf[region];
            for (int k = axis.split_begin[region]; k < axis.split_begin[region + 1]; ++k)
                best = larger(best, leaf[axis.splits[k].yes] + leaf[axis.splits[k].no]);
            stump[region] = best;
        }
    }

    static std::size_t scratch_size(const KernelInput& in) {
        std::size_t most = 0;
        for (int i = 0; i < in.n_axes; ++i) {
            Arena count{nullptr};
            count.take(area(in.axes[i].last_bin + 1, Width));
            SumArrays<Width> sums(count, in.axes[i].n_deep);
            if (count.used > most) most = count.used;
        }
        return most;
    }

    static std::size_t piece_size(const KernelInput& in) {
        std::size_t most = 0;
        for (int i = 0; i < in.n_axes; ++i) {
            Arena count{nullptr};
            Single single(count, in.axes[i]);
            if (count.used > most) most = count.used;
        }
        return most;
    }

    static int most_bins(const KernelInput& in) {
        int most = 0;
        for (int i = 0; i < in.n_axes; ++i)
            if (in.axes[i].last_bin > most) most = in.axes[i].last_bin;
        return most;
    }
};

template <int Width>
void bin_sums(const KernelInput& in, const KernelAxis& axis, double* out) {
    fill(out, area(axis.last_bin, Width), 0);
    for (int r = 0; r < in.n_rows; ++r)
        Cell<Width>::add(out + area(axis.bins[r], Width), in.sums + area(r, Width));
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
                if (i != j && size(in.axes[i], in.axes[j]) > best) best = size(in.axes[i], in.axes[j]);
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

    // Gains of regions from..to-1 of `a` with every side of `b`. In the table, bins of a are `a_stride` apart
    // and bins of b `b_stride`.
    void solve(const Leaf& rule, const double* table, const KernelAxis& a, std::size_t a_stride,
               const KernelAxis& b, std::size_t b_stride, int from, int to, double* out) const {
        if (from == to) return;
        const int width = padded(b.n_sides);
        const std::size_t line = area(width, Width);
        fill(sides + static_cast<std::size_t>(a.first_bin) * line, line, 0);
        for (int bin = a.first_bin; bin < a.last_bin; ++bin) {
            double* here = sides + static_cast<std::size_t>(bin + 1) * line;
            double* per_sum[Width];
            for (int c = 0; c < Width; ++c) per_sum[c] = here + c * width;
            to_sides<Width>(b, table + static_cast<std::size_t>(bin) * a_stride, b_stride, per_sum);
            for (std::size_t k = 0; k < line; k += lanes)
                store(here + k, load(here + k) + load(here - line + k));
        }
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
    double* scratch;
    double* piece;
    double* per_bin;

    explicit DepthOne(const KernelInput& input)
        : in(input),
          arena{input.workspace},
          scratch(arena.take(Single<Leaf>::scratch_size(input))),
          piece(arena.take(Single<Leaf>::piece_size(input))),
          per_bin(arena.take(area(Single<Leaf>::most_bins(input), Width))) {}

    bool run() {
        const Leaf rule(in.leaf);
        for (int i = 0; i < in.n_axes; ++i) {
            const KernelAxis& axis = in.axes[i];
            Arena pieces{piece};
            const Single<Leaf> single(pieces, axis);
            bin_sums<Width>(in, axis, per_bin);
            single.solve(rule, axis, per_bin, Arena{scratch});
            for (int s = 0; s < axis.n_sides; ++s) in.side_gains[axis.first_side + s] = single.leaf[s];
            if (stopped(in)) return false;
        }
        return true;
    }
};

// The best gains of each side of each cut with 0 and 1 splits. One pair of columns at a time, so that memory
// stays small with thousands of columns.
template <class Leaf>
struct DepthTwo {
    static constexpr int Width = Leaf::width;

    const KernelInput& in;
    Arena arena;
    double* scratch;
    double* piece;
    double* per_bin;
    unsigned* cell_of;
    double* table;
    PairSolver<Leaf> pair;
    double* gains;   // sides of the first column x sides of the second
    double* stumps;  // sides of all axes
    double* best;    // sides of one axis

    explicit DepthTwo(const KernelInput& input)
        : in(input),
          arena{input.workspace},
          scratch(arena.take(Single<Leaf>::scratch_size(input))),
          piece(arena.take(Single<Leaf>::piece_size(input))),
          per_bin(arena.take(area(Single<Leaf>::most_bins(input), Width))),
          cell_of(arena.cells(input.n_rows)),
          table(arena.take(PairSolver<Leaf>::most(input, PairSolver<Leaf>::table_size))),
          pair(arena, input),
          gains(arena.take(PairSolver<Leaf>::most(input, PairSolver<Leaf>::n_cells))),
          stumps(arena.take(all_sides(input))),
          best(arena.take(padded(all_sides(input)))) {}

    bool run() {
        const Leaf rule(in.leaf);
        for (int i = 0; i < in.n_axes; ++i) {
            const KernelAxis& axis = in.axes[i];
            Arena pieces{piece};
            const Single<Leaf> single(pieces, axis);
            bin_sums<Width>(in, axis, per_bin);
            single.solve(rule, axis, per_bin, Arena{scratch});
            single.split(axis, axis.n_sides);
            for (int s = 0; s < axis.n_sides; ++s) {
                in.side_gains[2 * (axis.first_side + s)] = single.leaf[s];
                stumps[axis.first_side + s] = single.stump[s];
            }
        }
        for (int i = 0; i < in.n_axes; ++i) {
            const KernelAxis& a = in.axes[i];
            for (int r = 0; r < in.n_rows; ++r) cell_of[r] = a.bins[r];
            for (int j = i + 1; j < in.n_axes; ++j) {
                const KernelAxis& b = in.axes[j];
                fill(table, PairSolver<Leaf>::table_size(a, b), 0);
                add_rows<Width>(in, 0, in.n_rows, cell_of, b.bins, b.last_bin, table);
                pair.solve(rule, table, a, area(b.last_bin, Width), b, Width, 0, a.n_sides, gains);
                cut_lines(a, b);
                cut_columns(a, b);
                if (stopped(in)) return false;
            }
        }
        for (int s = 0; s < all_sides(in); ++s) in.side_gains[2 * s + 1] = stumps[s];
        return true;
    }

    // Splits sides of a by the cuts of b.
    void cut_lines(const KernelAxis& a, const KernelAxis& b) const {
        for (int s = 0; s < a.n_sides; ++s) {
            const double* line = gains + area(s, b.n_sides);
            double& stump = stumps[a.first_side + s];
            stump = larger(stump, best_sum(line, line + b.n_cuts, b.n_cuts));
        }
    }

    // Splits sides of b by the cuts of a.
    void cut_columns(const KernelAxis& a, const KernelAxis& b) const {
        for (int k = 0; k < b.n_sides; k += lanes) {
            Vector acc = broadcast(2 * infeasible);
            for (int c = 0; c < a.n_cuts; ++c)
                acc = larger(acc, load(gains + area(c, b.n_sides) + k) +
                                      load(gains + area(a.n_cuts + c, b.n_sides) + k));
            store(best + k, acc);
        }
        raise(stumps + b.first_side, best, b.n_sides);
    }
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
