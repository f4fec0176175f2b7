// Histograms over triples of columns: what depth three evaluates.
#pragma once

#include "kernel/blocks.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// Adds rows first..last-1 to all tables.
template <int Width>
void add_to_tables(const KernelInput& in, int first, int last, double* tables) {
    Arena arena{in.workspace};
    unsigned* const cell_of = arena.cells(last - first);
    const TableLayout& layout = *in.layout;
    for (int i = 0; i < layout.n_axes; ++i)
        for (int j = i + 1; j + 1 < layout.n_axes; ++j) {
            const std::uint16_t *a = in.axes[i].bins, *b = in.axes[j].bins;
            const unsigned n_bins = static_cast<unsigned>(layout.n_bins[j]);
            for (int r = 0; r < last - first; ++r)
                cell_of[r] = (a ? a[first + r] * n_bins : 0) + (b ? b[first + r] : 0);
            for (int k = j + 1; k < layout.n_axes; ++k) {
                const int triple = (i * layout.n_axes + j) * layout.n_axes + k;
                if (in.skipped && in.skipped[triple]) continue;
                add_rows<Width>(in, first, last, cell_of, in.axes[k].bins, layout.n_bins[k],
                                tables + layout.triples[triple]);
            }
        }
}

// Tables that are made of the rows one at a time, and stay in the cache while they are used. Their axes are
// in the order of the kernel's. They have a cell for every bin: rows too light to count may be anywhere.
template <int Width>
struct RowTables {
    const KernelInput& in;
    unsigned* cell_of;  // per row: its cell in a table of one or two axes
    double* table;

    RowTables(Arena& arena, const KernelInput& input)
        : in(input), cell_of(arena.cells(input.n_rows)), table(arena.take(largest_table())) {}

    std::size_t largest_table() const {
        int most[3] = {1, 1, 1};  // in descending order
        for (int i = 0; i < in.n_axes; ++i) {
            int n = bins_of(in.axes[i]);
            for (int& m : most) {
                const int larger = n > m ? n : m;
                n += m - larger;
                m = larger;
            }
        }
        return area(most[0], most[1]) * area(most[2], Width);
    }

    int bins_of(const KernelAxis& axis) const { return in.layout->n_bins[axis.table_axis]; }
    bool in_order(const KernelAxis&, const KernelAxis&) const { return true; }

    void sum_margins(double* const* single_table, double* const* pair_table) const {
        for (int i = 0; i < in.n_axes; ++i) {
            const KernelAxis& a = in.axes[i];
            fill(single_table[i], area(bins_of(a), Width), 0);
            for (int r = 0; r < in.n_rows; ++r) {
                cell_of[r] = a.bins[r];
                add_cell<Width>(single_table[i] + area(a.bins[r], Width), in.sums + area(r, Width));
            }
            for (int j = i + 1; j < in.n_axes; ++j) {
                const KernelAxis& b = in.axes[j];
                double* const out = pair_table[i * in.n_axes + j];
                fill(out, area(bins_of(a), bins_of(b)) * Width, 0);
                add_rows<Width>(in, 0, in.n_rows, cell_of, b.bins, bins_of(b), out);
            }
        }
    }

    // Called before the triples that begin with these axes.
    void start(const KernelAxis& i, const KernelAxis& j) const {
        const unsigned n_bins = static_cast<unsigned>(bins_of(j));
        for (int r = 0; r < in.n_rows; ++r) cell_of[r] = i.bins[r] * n_bins + j.bins[r];
    }

    Triple triple(const KernelAxis& i, const KernelAxis& j, const KernelAxis& k) const {
        const std::size_t j_stride = area(bins_of(k), Width);
        const std::size_t i_stride = static_cast<std::size_t>(bins_of(j)) * j_stride;
        fill(table, static_cast<std::size_t>(bins_of(i)) * i_stride, 0);
        add_rows<Width>(in, 0, in.n_rows, cell_of, k.bins, bins_of(k), table);
        return {i, j, k, table, i_stride, j_stride, Width};
    }
};

// Tables that are there already: sums and differences of those of other rows.
template <int Width>
struct GivenTables {
    const KernelInput& in;

    GivenTables(Arena&, const KernelInput& input) : in(input) {}

    bool in_order(const KernelAxis& a, const KernelAxis& b) const { return a.table_axis < b.table_axis; }
    void start(const KernelAxis&, const KernelAxis&) const {}

    int bins_of(const KernelAxis& axis) const { return in.layout->n_bins[axis.table_axis]; }

    // The table of three axes of the layout, in ascending order.
    const double* triple_table(int i, int j, int k) const {
        return in.tables + in.layout->triples[(i * in.layout->n_axes + j) * in.layout->n_axes + k];
    }

    // Sums per pair and per column, from the smallest table that holds them: axes of the layout come in
    // the order of their sizes, so that is one with the first axes.
    void sum_margins(double* const* single_table, double* const* pair_table) const {
        const int n = in.n_axes;
        const int* const q = in.layout->n_bins;
        for (int i = 0; i < n; ++i)
            for (int j = i + 1; j < n; ++j) {
                const auto [first, second] = ascending(in.axes[i].table_axis, in.axes[j].table_axis);
                double* const out = pair_table[i * n + j];
                if (first > 0)
                    marginalise<Width>(triple_table(0, first, second), 1, q[0], q[first] * q[second], out);
                else if (second > 1)
                    marginalise<Width>(triple_table(0, 1, second), q[0], q[1], q[second], out);
                else
                    marginalise<Width>(triple_table(0, 1, 2), q[0] * q[1], q[2], 1, out);
            }
        for (int i = 0; i < n; ++i) {
            const int axis = in.axes[i].table_axis;
            double* const out = single_table[i];
            if (axis == 0)
                marginalise<Width>(triple_table(0, 1, 2), q[0], q[1] * q[2], 1, out);
            else if (axis > 1)
                marginalise<Width>(triple_table(0, 1, axis), 1, q[0] * q[1], q[axis], out);
            else
                middle_sums(triple_table(0, 1, 2), q[0], q[1], q[2], out);
        }
    }

    struct Two {
        int first, second;
    };
    static Two ascending(int a, int b) { return a < b ? Two{a, b} : Two{b, a}; }

    // Sums of a table of outer x n x inner cells over its first and its last axis.
    static void middle_sums(const double* table, int outer, int n, int inner, double* out) {
        fill(out, area(n, Width), 0);
        for (int o = 0; o < outer; ++o)
            for (int m = 0; m < n; ++m)
                for (int k = 0; k < inner; ++k, table += Width) add_cell<Width>(out + area(m, Width), table);
    }

    Triple triple(const KernelAxis& i, const KernelAxis& j, const KernelAxis& k) const {
        const int a = i.table_axis, b = j.table_axis, c = k.table_axis;
        const auto [low, high] = ascending(a, b);
        const int first = low < c ? low : c, last = high > c ? high : c, middle = a + b + c - first - last;
        const auto stride = [&](int axis) {
            if (axis == last) return static_cast<std::size_t>(Width);
            const std::size_t line = area(in.layout->n_bins[last], Width);
            return axis == middle ? line : static_cast<std::size_t>(in.layout->n_bins[middle]) * line;
        };
        return {i, j, k, triple_table(first, middle, last), stride(a), stride(b), stride(c)};
    }
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
