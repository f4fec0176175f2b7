// Sums over the sides of two columns, in running totals over the bins of a third.
#pragma once

#include "kernel/tables.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// Three axes, and their table, in which bins of each axis are so many doubles apart.
struct Triple {
    const KernelAxis &i, &j, &k;
    const double* table;
    std::size_t i_stride, j_stride, k_stride;

    int block() const { return j.n_sides * k.n_sides; }
};

// A block has a number for each side of j and side of k; a line of blocks one block for each sum of a row.
template <int Width>
struct Blocks {
    int width;     // of a block, padded
    double* sums;  // (bins of i + 1) lines: before the first bin, after it, and so on

    static std::size_t size(const KernelAxis& i, const KernelAxis& j, const KernelAxis& k) {
        return area(i.last_bin + 1, padded(j.n_sides * k.n_sides)) * Width;
    }

    std::size_t line() const { return area(width, Width); }
    const double* after(int bin) const { return sums + static_cast<std::size_t>(bin) * line(); }

    // The sum `c` over the bins of some runs, for one vector of a block.
    Vector over(const Run* run, const Run* end, int c, int at) const {
        const double* const base = sums + c * width + at;
        Vector sum{};
        for (; run != end; ++run)
            sum += load(base + static_cast<std::size_t>(run->last) * line()) -
                   load(base + static_cast<std::size_t>(run->first) * line());
        return sum;
    }

    // `sides` has room for the running sides of j and k.
    void fill_from(const Triple& axes, double* sides) {
        width = padded(axes.block());
        const int width_k = padded(axes.k.n_sides);
        const std::size_t line_k = area(width_k, Width);
        fill(sums + static_cast<std::size_t>(axes.i.first_bin) * line(), line(), 0);
        for (int bin = axes.i.first_bin; bin < axes.i.last_bin; ++bin) {
            running_sides<Width>(axes.table + static_cast<std::size_t>(bin) * axes.i_stride, axes.j,
                                 axes.j_stride, axes.k, axes.k_stride, sides);
            const double* before = sums + static_cast<std::size_t>(bin) * line();
            double* here = sums + static_cast<std::size_t>(bin + 1) * line();
            // A row may write past its end: the next row, or the next block, overwrites it.
            for (int c = 0; c < Width; ++c, before += width, here += width)
                for (int s = 0; s < axes.j.n_sides; ++s)
                    region_sum(axes.j, s, sides + c * width_k, line_k, width_k, before + s * axes.k.n_sides,
                               here + s * axes.k.n_sides);
        }
    }
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
