// Histograms over bins, and sums over sides and regions from them.
#pragma once

#include "kernel/leaf.hpp"

namespace surtree::SURTREE_ISA {
namespace {

constexpr int padded(int n) { return (n + lanes - 1) / lanes * lanes; }

std::size_t area(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

// A bump allocator over the workspace. Without a workspace it only counts.
struct Arena {
    double* base;
    std::size_t used = 0;

    double* take(std::size_t n) {
        double* piece = base ? base + used : nullptr;
        // Padded: loops read and write up to one vector past the end.
        used += (n + 2 * max_lanes - 1) / max_lanes * max_lanes;
        return piece;
    }

    double** pointers(int n) {
        static_assert(sizeof(double*) <= sizeof(double));
        return reinterpret_cast<double**>(take(static_cast<std::size_t>(n)));
    }

    // The same for other numbers.
    template <class Number>
    Number* take_of(std::size_t n) {
        return reinterpret_cast<Number*>(take(n * sizeof(Number) / sizeof(double) + 1));
    }

    unsigned* cells(int n) { return take_of<unsigned>(static_cast<std::size_t>(n)); }
};

// Raises `most` to a size.
void raise(std::size_t& most, std::size_t size) {
    if (size > most) most = size;
}

template <class Number, class Value>
void fill(Number* to, std::size_t n, Value value) {
    for (std::size_t k = 0; k < n; ++k) to[k] = static_cast<Number>(value);
}

// The maximum of yes[k] + no[k].
double best_sum(const double* yes, const double* no, int n) {
    if (n >= lanes) {
        // The last vector may overlap the one before: that does not change a maximum.
        Vector acc = load(yes + n - lanes) + load(no + n - lanes);
        for (int k = 0; k + lanes < n; k += lanes) acc = larger(acc, load(yes + k) + load(no + k));
        return largest(acc);
    }
    double best = 2 * infeasible;
    for (int k = 0; k < n; ++k) best = larger(best, yes[k] + no[k]);
    return best;
}

// Lines of gains by the sides of `by`: raises to[line] to the best cut of `by`.
void split_lines(const double* gains, int n_lines, const KernelAxis& by, double* to) {
    for (int line = 0; line < n_lines; ++line, gains += by.n_sides)
        to[line] = larger(to[line], best_sum(gains, gains + by.n_cuts, by.n_cuts));
}

// The same for lines that are the sides of `by`, each with n gains: raises to[k] to the best cut of `by`.
void split_columns(const double* gains, int n, const KernelAxis& by, double* to) {
    const double* const fails = gains + area(by.n_cuts, n);
    for (int k = 0; k < n; k += lanes) {
        Vector best = broadcast(2 * infeasible);
        for (std::size_t line = 0; line < area(by.n_cuts, n); line += static_cast<std::size_t>(n))
            best = larger(best, load(gains + line + k) + load(fails + line + k));
        if (k + lanes <= n)
            store(to + k, larger(best, load(to + k)));
        else
            for (int l = 0; k + l < n; ++l) to[k + l] = larger(best[l], to[k + l]);
    }
}

bool stopped(const KernelInput& in) { return is_raised(in.stop); }

int all_sides(const KernelInput& in) {
    int n = 0;
    for (int i = 0; i < in.n_axes; ++i) n += in.axes[i].n_sides;
    return n;
}

// Sums of many row sets, as a structure of arrays.
template <int Width>
struct SumArrays {
    double* of[Width];

    SumArrays(Arena& arena, std::size_t n) {
        for (int c = 0; c < Width; ++c) of[c] = arena.take(n);
    }
};

// Limited gains of many leaves. Writes up to a whole vector past n.
template <class Leaf>
void limited_gains(const Leaf& leaf, const SumArrays<Leaf::width>& sums, double* out, int n) {
    for (double* of : sums.of) store(of + n, Vector{});
    for (int k = 0; k < n; k += lanes) {
        Vector here[Leaf::width];
        for (int c = 0; c < Leaf::width; ++c) here[c] = load(sums.of[c] + k);
        store(out + k, leaf.limited_gain(here));
    }
}

// Adds all sums of a row or cell, as one vector if the width is a power of two.
template <int Width>
void add_cell(double* to, const double* from) {
    if constexpr ((Width & (Width - 1)) == 0) {
        add_to<Width>(to, from);
    } else {
        for (int c = 0; c < Width; c += 2) add_cell<2>(to + c, from + c);
    }
}

// Adds rows first..last-1 to cells cell_of[row - first] * n_bins + bin.
template <int Width>
void add_rows(const KernelInput& in, int first, int last, const unsigned* cell_of, const std::uint16_t* bins,
              int n_bins, double* table) {
    const double* sums = in.sums + area(first, Width);
    for (int r = 0; r < last - first; ++r, sums += Width)
        add_cell<Width>(
            table + static_cast<std::size_t>(cell_of[r] * static_cast<unsigned>(n_bins) + bins[first + r]) *
                        Width,
            sums);
}

// Sums a table of outer x n x inner cells over its middle axis.
template <int Width>
void marginalise(const double* table, int outer, int n, int inner, double* out) {
    const std::size_t line = area(inner, Width);
    for (int o = 0; o < outer; ++o, out += line) {
        for (std::size_t k = 0; k < line; ++k) out[k] = table[k];
        table += line;
        for (int m = 1; m < n; ++m, table += line)
            for (std::size_t k = 0; k < line; ++k) out[k] += table[k];
    }
}

// Sums where each cut of `axis` holds, and over all bins, from a histogram with bins `stride` apart. This is
// a product with a matrix of zeros and ones, exact since all sums are integers. V vectors at a time.
template <int Width, int V>
void to_cuts(const KernelAxis& axis, int from, const double* per_bin, std::size_t stride,
             double* const (&out)[Width]) {
    const std::size_t line = whole_vectors(axis.n_cuts + 1);
    const double* belongs = axis.membership + static_cast<std::size_t>(axis.first_bin) * line + from;
    per_bin += static_cast<std::size_t>(axis.first_bin) * stride;
    Vector acc[Width][V] = {};
    for (int b = axis.first_bin; b < axis.last_bin; ++b, belongs += line, per_bin += stride)
        for (int c = 0; c < Width; ++c) {
            const Vector sum = broadcast(per_bin[c]);
            for (int v = 0; v < V; ++v) acc[c][v] += load(belongs + v * lanes) * sum;
        }
    for (int c = 0; c < Width; ++c)
        for (int v = 0; v < V; ++v) store(out[c] + from + v * lanes, acc[c][v]);
}

// Sums of each side of `axis`, padded with zeros to a whole vector.
template <int Width>
void to_sides(const KernelAxis& axis, const double* per_bin, std::size_t stride,
              double* const (&out)[Width]) {
    const int n_cuts = axis.n_cuts;
    for (int c = 0; c < Width; ++c) store(out[c] + padded(axis.n_sides) - lanes, Vector{});
    int from = 0;
    for (; n_cuts + 1 - from > 3 * lanes; from += 4 * lanes)
        to_cuts<Width, 4>(axis, from, per_bin, stride, out);
    const int left = (n_cuts + 1 - from + lanes - 1) / lanes;
    if (left == 3) to_cuts<Width, 3>(axis, from, per_bin, stride, out);
    if (left == 2) to_cuts<Width, 2>(axis, from, per_bin, stride, out);
    if (left == 1) to_cuts<Width, 1>(axis, from, per_bin, stride, out);
    // The opposite side is the total minus the side where the cut holds.
    for (int c = 0; c < Width; ++c) {
        double* const fails = out[c] + n_cuts;
        const double all = *fails;
        if (n_cuts < lanes) {
            for (int k = 0; k < n_cuts; ++k) fails[k] = all - out[c][k];
            continue;
        }
        for (int k = 0; k + lanes < n_cuts; k += lanes) store(fails + k, all - load(out[c] + k));
        store(fails + n_cuts - lanes, all - load(out[c] + n_cuts - lanes));
    }
}

// Running sums over the bins of `a` of the sums per side of `b`, a line for each bin and one before them. In
// the table, bins of a are `a_stride` apart and bins of b `b_stride`.
template <int Width>
void running_sides(const double* table, const KernelAxis& a, std::size_t a_stride, const KernelAxis& b,
                   std::size_t b_stride, double* lines) {
    const int width = padded(b.n_sides);
    const std::size_t line = area(width, Width);
    fill(lines + static_cast<std::size_t>(a.first_bin) * line, line, 0);
    for (int bin = a.first_bin; bin < a.last_bin; ++bin) {
        double* here = lines + static_cast<std::size_t>(bin + 1) * line;
        double* per_sum[Width];
        for (int c = 0; c < Width; ++c) per_sum[c] = here + c * width;
        to_sides<Width>(b, table + static_cast<std::size_t>(bin) * a_stride, b_stride, per_sum);
        for (std::size_t k = 0; k < line; k += lanes) store(here + k, load(here + k) + load(here - line + k));
    }
}

// Writes `base` plus the sums of one region, from n_bins + 1 prefix sums that lie `stride` apart.
inline void region_sum(const KernelAxis& axis, int region, const double* prefix, std::size_t stride,
                       int width, const double* base, double* out) {
    const Run* run = axis.runs + axis.run_begin[region];
    const Run* end = axis.runs + axis.run_begin[region + 1];
    for (const double* from = base;; from = out) {
        const bool empty = run == end;
        const double* high = prefix + (empty ? 0 : static_cast<std::size_t>(run->last) * stride);
        const double* low = prefix + (empty ? 0 : static_cast<std::size_t>(run->first) * stride);
        for (int k = 0; k < width; k += lanes)
            store(out + k, load(from + k) + (load(high + k) - load(low + k)));
        if (empty || ++run == end) return;
    }
}

}  // namespace
}  // namespace surtree::SURTREE_ISA
