// Triples of columns, several at a time: the lanes of a vector hold different columns with the same cuts.
//
// All sums and gains are then of whole vectors, whatever the numbers of cuts, and nothing is added up or
// compared across lanes. Columns of one kind, which are many where a table is wide, make groups of as many as
// there are lanes; a triple has a group and two single columns. A group may contain one of the two: cuts of
// the same column below each other are possible too. A short group repeats its first column.
#pragma once

#include "kernel/tables.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// Transposes a square of `lanes` vectors.
inline void transpose(Vector (&v)[lanes]) {
#if SURTREE_LANES == 8
    Vector w[8];
    for (int p = 0; p < 8; p += 2) {
        w[p] = SURTREE_SHUFFLE(v[p], v[p + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        w[p + 1] = SURTREE_SHUFFLE(v[p], v[p + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int p = 0; p < 8; p += 4)
        for (int q = p; q < p + 2; ++q) {
            v[q] = SURTREE_SHUFFLE(w[q], w[q + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            v[q + 2] = SURTREE_SHUFFLE(w[q], w[q + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int p = 0; p < 4; ++p) {
        w[p] = SURTREE_SHUFFLE(v[p], v[p + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        w[p + 4] = SURTREE_SHUFFLE(v[p], v[p + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int p = 0; p < 8; ++p) v[p] = w[p];
#elif SURTREE_LANES == 4
    Vector w[4];
    for (int p = 0; p < 4; p += 2) {
        w[p] = SURTREE_SHUFFLE(v[p], v[p + 1], 0, 4, 2, 6);
        w[p + 1] = SURTREE_SHUFFLE(v[p], v[p + 1], 1, 5, 3, 7);
    }
    for (int p = 0; p < 2; ++p) {
        v[p] = SURTREE_SHUFFLE(w[p], w[p + 2], 0, 1, 4, 5);
        v[p + 2] = SURTREE_SHUFFLE(w[p], w[p + 2], 2, 3, 6, 7);
    }
#else
    const Vector first = v[0];
    v[0] = SURTREE_SHUFFLE(first, v[1], 0, 2);
    v[1] = SURTREE_SHUFFLE(first, v[1], 1, 3);
#endif
}

// Adds rows to a table with the bins of one more column. Not inline: it wants all registers for itself.
template <int Width>
SURTREE_NOINLINE void add_lane(int n_rows, const unsigned* cell_of, const std::uint16_t* bins,
                               const double* sums, double* table) {
    for (int r = 0; r < n_rows; ++r, sums += Width)
        add_cell<Width>(table + area(static_cast<int>(cell_of[r]) + bins[r], Width), sums);
}

// From a line of doubles (`Fixed`, if known) for each bin to one for each cut, where it holds, and one for
// all bins. The lines of the bins become running sums.
template <std::size_t Fixed>
inline void to_cut_lines(const KernelAxis& axis, std::size_t length, double* per_bin, double* out) {
    const std::size_t n = Fixed > 0 ? Fixed : length;
    for (int bin = axis.first_bin + 1; bin < axis.last_bin; ++bin) {
        double* const here = per_bin + static_cast<std::size_t>(bin) * n;
        for (std::size_t k = 0; k < n; k += lanes) store(here + k, load(here + k) + load(here - n + k));
    }
    const auto below = [&](int bin) { return per_bin + static_cast<std::size_t>(bin - 1) * n; };
    for (int cut = 0; cut < axis.n_cuts; ++cut, out += n) {
        const Run* run = axis.runs + axis.run_begin[cut];
        const Run* const end = axis.runs + axis.run_begin[cut + 1];
        if (run == end) fill(out, n, 0);
        for (bool is_first = true; run != end; ++run, is_first = false) {
            const double *high = below(run->last), *low = below(run->first);
            const bool from_start = run->first <= axis.first_bin;
            for (std::size_t k = 0; k < n; k += lanes) {
                Vector sum = load(high + k);
                if (!from_start) sum -= load(low + k);
                store(out + k, is_first ? sum : load(out + k) + sum);
            }
        }
    }
    const double* const all = below(axis.last_bin);
    for (std::size_t k = 0; k < n; k += lanes) store(out + k, load(all + k));
}

// Groups of axes, as the caller has found them.
struct Groups {
    const KernelInput& in;

    const KernelAxis& member(int group, int lane) const { return in.axes[in.groups[group * lanes + lane]]; }
    int of(int axis) const { return in.n_groups > 0 ? in.group_of[axis] : -1; }

    // The tables of all members of a group over their bins and cells of others, one after another, each a
    // whole number of vectors.
    template <int Width>
    void add_rows(int group, const unsigned* cell_of, std::size_t table_size, double* tables) const {
        fill(tables, table_size * lanes, 0);
        for (int lane = 0; lane < lanes; ++lane)
            add_lane<Width>(in.n_rows, cell_of, member(group, lane).bins, in.sums,
                            tables + static_cast<std::size_t>(lane) * table_size);
    }
};

// From n doubles of each of the tables to n vectors, and up to a vector of vectors beyond.
inline void interleave(const double* tables, std::size_t table_size, std::size_t n, double* out) {
    for (std::size_t at = 0; at < n; at += lanes) {
        Vector square[lanes];
        for (int lane = 0; lane < lanes; ++lane)
            square[lane] = load(tables + static_cast<std::size_t>(lane) * table_size + at);
        transpose(square);
        for (int p = 0; p < lanes; ++p) store(out + (at + static_cast<std::size_t>(p)) * lanes, square[p]);
    }
}

// One vector for each sum.
template <int Width>
struct LaneSums {
    Vector of[Width];

    static LaneSums at(const double* from) {
        LaneSums out;
        for (int c = 0; c < Width; ++c) out.of[c] = load(from + c * lanes);
        return out;
    }
    LaneSums operator-(const LaneSums& other) const {
        LaneSums out;
        for (int c = 0; c < Width; ++c) out.of[c] = of[c] - other.of[c];
        return out;
    }
};

inline void raise_to(double* to, Vector value) { store(to, larger(load(to), value)); }

}  // namespace
}  // namespace surtree::SURTREE_ISA
