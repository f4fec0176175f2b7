// Scan: the best cut of an ordered column on both sides of another cut, in one pass over the rows.
//
// Rows are sorted by the column, so no histogram is needed and the number of bins does not matter.
#pragma once

#include "kernel/tables.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// Deinterleaves x0 y0 x1 y1 ... into two vectors.
inline void load_pairs(const double* from, Vector& x, Vector& y) {
    const Vector low = load(from), high = load(from + lanes);
#if SURTREE_LANES == 8
    x = SURTREE_SHUFFLE(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    y = SURTREE_SHUFFLE(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
#elif SURTREE_LANES == 4
    x = SURTREE_SHUFFLE(low, high, 0, 2, 4, 6);
    y = SURTREE_SHUFFLE(low, high, 1, 3, 5, 7);
#else
    x = SURTREE_SHUFFLE(low, high, 0, 2);
    y = SURTREE_SHUFFLE(low, high, 1, 3);
#endif
}

template <class Leaf>
struct Scan {
    using Objective = typename Leaf::Objective;
    static constexpr int Width = Leaf::width, n_sums = Leaf::n_sums;
    static constexpr bool is_limited = Leaf::n_counts > 0;

    const ScanInput& in;

    void run() const {
        // The row before the first is written and never read.
        double* begin[2] = {in.workspace + Width,
                            in.workspace + Width + static_cast<std::ptrdiff_t>(in.n + max_lanes + 2) * Width};
        int n_cuts[2];
        find_sums(begin, n_cuts);
        for (int side = 0; side < 2; ++side) evaluate(side, begin[side], n_cuts[side]);
    }

    // Prefix sums of each side at each place where it can be cut. A cut between two bins without
    // events is skipped, since another cut is at least as good: as hazard moves from one part to the other
    // the gain is convex, so it is largest at an end.
    void find_sums(double* const (&begin)[2], int (&n_cuts)[2]) const {
        Pair sums[Width / 2][2] = {};
        std::ptrdiff_t place[2] = {-1, -1};
        unsigned previous[2] = {~0u, ~0u};
        for (int k = 0; k < in.n; ++k) {
            const unsigned side = in.side[in.row[k]], code = in.code[k];
            const unsigned before = side ? previous[1] : previous[0];
            const std::ptrdiff_t is_new = (code ^ before) > 1 && ((code | before) & 1);
            const Pair mask = {static_cast<double>(side), static_cast<double>(side)};
            for (int p = 0; p < Width / 2; ++p) {
                store_pair(begin[0] + place[0] * Width + 2 * p, sums[p][0]);
                store_pair(begin[1] + place[1] * Width + 2 * p, sums[p][1]);
                const Pair row = load_pair(in.sums + static_cast<std::ptrdiff_t>(k) * Width + 2 * p);
                const Pair upper = row * mask;
                sums[p][1] += upper;
                sums[p][0] += row - upper;
            }
            place[1] += is_new & side;
            place[0] += is_new & ~side;
            previous[0] = side ? previous[0] : code;
            previous[1] = side ? code : previous[1];
        }
        for (int side = 0; side < 2; ++side) {
            n_cuts[side] = static_cast<int>(place[side] < 0 ? 0 : place[side]);
            // Pads the last vector with an empty part.
            for (int k = 0; k < lanes * Width; ++k)
                begin[side][static_cast<std::ptrdiff_t>(n_cuts[side]) * Width + k] = 0;
        }
    }

    void evaluate(int side, const double* sums, int n_cuts) const {
        Best best(in, side);
        int first = 0;
        // Branch and bound over boxes. The gain is convex in the sums of one part, which grow from cut to
        // cut. So between two cuts it is at most the maximum over the corners of the box that they span, for
        // each channel by itself. Most boxes are pruned.
        if constexpr (Objective::is_convex && Objective::is_nonnegative) {
            for (; first + lanes * box < n_cuts; first += lanes * box) {
                const Sums low(sums, first, box), high(sums, first + box, box);
                Vector at_corners = best.gain_at_corners(0, low.of, high.of);
                for (int j = 1; j < Objective::n_channels; ++j)
                    at_corners += best.gain_at_corners(j, low.of, high.of);
                for (int l = 0; l < lanes; ++l)
                    if (at_corners[l] > best.least())
                        for (int k = 0; k < box; k += lanes) best.add(Sums(sums, first + l * box + k, 1));
            }
        }
        for (; first < n_cuts; first += lanes) best.add(Sums(sums, first, 1));
        best.save();
    }

 private:
    static constexpr int box = 16;

    // The sums of cuts first, first + step, ..., one vector per sum.
    struct Sums {
        Vector of[Width];

        Sums(const double* sums, int first, int step) {
            const double* from = sums + static_cast<std::ptrdiff_t>(first) * Width;
            if constexpr (Width == 2) {
                if (step == 1) {
                    load_pairs(from, of[0], of[1]);
                    return;
                }
            }
            for (int l = 0; l < lanes; ++l)
                for (int c = 0; c < Width; ++c)
                    of[c][l] = from[static_cast<std::ptrdiff_t>(l * step) * Width + c];
        }
    };

    struct Best {
        const Leaf leaf;
        const double* total;
        double* out;
        double best, allowed;

        Best(const ScanInput& in, int side)
            : leaf(in.leaf),
              total(in.totals + side * Width),
              out(in.best + 2 * side),
              best(out[0]),
              allowed(out[1]) {}

        Vector gain_of(const Vector (&part)[n_sums]) const {
            Vector rest[n_sums];
            for (int c = 0; c < n_sums; ++c) rest[c] = total[c] - part[c];
            return leaf.objective.gain(part) + leaf.objective.gain(rest);
        }

        // The largest gain of a channel over the corners of the box between two cuts.
        Vector gain_at_corners(int j, const Vector (&low)[Width], const Vector (&high)[Width]) const {
            static_assert(n_sums == 2 * Objective::n_channels, "a channel is a pair of sums");
            const Objective& of = leaf.objective;
            Vector most = broadcast(infeasible);
            for (const Vector x : {low[2 * j], high[2 * j]})
                for (const Vector y : {low[2 * j + 1], high[2 * j + 1]})
                    most = larger(most, of.channel_gain(j, x, y) +
                                            of.channel_gain(j, total[2 * j] - x, total[2 * j + 1] - y));
            return most;
        }

        void add(const Sums& sums) {
            const Vector value = gain_of(reinterpret_cast<const Vector(&)[n_sums]>(sums.of));
            best = larger(best, largest(value));
            if constexpr (is_limited) {
                Vector rest[Width];
                for (int c = 0; c < Width; ++c) rest[c] = total[c] - sums.of[c];
                allowed = larger(allowed, largest(leaf.limited(rest, leaf.limited(sums.of, value))));
            }
        }

        // The gain that a cut must exceed.
        double least() const { return is_limited ? allowed : best; }

        void save() const {
            out[0] = best;
            out[1] = least();
        }
    };
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
