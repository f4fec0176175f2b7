// Pairs of columns, of which one is a group of columns in lanes: for each side the best split by a cut of
// another column.
#pragma once

#include "kernel/lanes.hpp"

namespace surtree::SURTREE_ISA {
namespace {

template <class Leaf>
struct LanePairs {
    static constexpr int Width = Leaf::width;
    static constexpr std::size_t vectors = static_cast<std::size_t>(Width) * lanes;  // of one cell
    using Sums = LaneSums<Width>;

    const KernelInput& in;
    const Groups groups;
    const Leaf& rule;
    unsigned* cell_of;  // per row: the first of its cells in a table of k and i
    double* tables;     // one after another, of a group's columns i: bins of k x bins of i
    double* slab;       // bins of k x bins of i, a vector for each sum
    double* cut_slab;   // the same with cuts of i
    double* cuts;       // cuts of k x cuts of i
    double* best_k;     // sides of k, a vector each
    double** best;      // per group: sides of its columns, a vector each

    LanePairs(Arena& arena, const KernelInput& input, const Leaf& leaf)
        : in(input), groups{input}, rule(leaf) {
        if (in.n_groups == 0) return;
        std::size_t most_cuts = 0, bins = 0, sides = 0;
        for (int x = 0; x < in.n_axes; ++x) {
            raise(most_cuts, static_cast<std::size_t>(in.axes[x].n_cuts + 1));
            raise(bins, static_cast<std::size_t>(in.axes[x].last_bin));
            raise(sides, static_cast<std::size_t>(in.axes[x].n_sides));
        }
        cell_of = arena.cells(in.n_rows);
        tables = arena.take((bins * bins * Width + max_lanes) * lanes);
        slab = arena.take((bins * bins * Width + max_lanes) * lanes);
        cut_slab = arena.take(bins * most_cuts * vectors);
        cuts = arena.take(most_cuts * most_cuts * vectors);
        best_k = arena.take(sides * lanes);
        best = arena.pointers(in.n_groups);
        for (int g = 0; g < in.n_groups; ++g) {
            double* const piece = arena.take(area(groups.member(g, 0).n_sides, lanes));
            if (best) best[g] = piece;
        }
    }

    bool solves(int i, int j) const { return groups.of(i) >= 0 || groups.of(j) >= 0; }

    // Solves all pairs with a column of some group, and raises the best stumps of all sides.
    bool run(double* stumps) const {
        for (int g = 0; g < in.n_groups; ++g)
            fill(best[g], area(groups.member(g, 0).n_sides, lanes), 2 * infeasible);
        for (int k = 0; k < in.n_axes; ++k) {
            const KernelAxis& axis = in.axes[k];
            fill(best_k, area(axis.n_sides, lanes), 2 * infeasible);
            // Each pair of groups once.
            const int last = groups.of(k) < 0 ? in.n_groups - 1 : groups.of(k);
            for (int g = 0; g <= last; ++g) solve(g, axis);
            for (int s = 0; s < axis.n_sides; ++s)
                raise_stump(stumps[axis.first_side + s], largest(load(best_k + area(s, lanes))));
            if (stopped(in)) return false;
        }
        for (int g = 0; g < in.n_groups; ++g)
            for (int lane = 0; lane < lanes; ++lane) {
                const KernelAxis& axis = groups.member(g, lane);
                for (int s = 0; s < axis.n_sides; ++s)
                    raise_stump(stumps[axis.first_side + s],
                                best[g][area(s, lanes) + static_cast<std::size_t>(lane)]);
            }
        return true;
    }

    static void raise_stump(double& stump, double value) { stump = larger(stump, value); }

    void solve(int group, const KernelAxis& k) const {
        const KernelAxis& i = groups.member(group, 0);
        const std::size_t n = area(k.last_bin, i.last_bin) * Width, table_size = n + max_lanes;
        const unsigned n_i = static_cast<unsigned>(i.last_bin);
        for (int r = 0; r < in.n_rows; ++r) cell_of[r] = k.bins[r] * n_i;
        groups.add_rows<Width>(group, cell_of, table_size, tables);
        interleave(tables, table_size, n, slab);
        const std::size_t line = static_cast<std::size_t>(i.n_cuts + 1) * vectors;
        for (int bin = k.first_bin; bin < k.last_bin; ++bin)
            to_cut_lines<vectors>(i, vectors, slab + area(bin, i.last_bin) * vectors,
                                  cut_slab + static_cast<std::size_t>(bin) * line);
        to_cut_lines<0>(k, line, cut_slab, cuts);
        const double* const all = cuts + static_cast<std::size_t>(k.n_cuts) * line;
        for (int cut = 0; cut < k.n_cuts; ++cut)
            evaluate(group, k, cut, cuts + static_cast<std::size_t>(cut) * line, all);
    }

    // All cuts of i with one cut of k, from the sums where that holds and of all rows.
    void evaluate(int group, const KernelAxis& k, int cut_k, const double* holding, const double* all) const {
        const int n_i = groups.member(group, 0).n_cuts;
        const std::size_t last = static_cast<std::size_t>(n_i) * vectors;
        const Sums holding_k = Sums::at(holding + last), failing_k = Sums::at(all + last) - holding_k;
        Vector best_holding = broadcast(2 * infeasible), best_failing = best_holding;
        for (int cut = 0; cut < n_i; ++cut) {
            const std::size_t at = static_cast<std::size_t>(cut) * vectors;
            const Sums both = Sums::at(holding + at), of_i = Sums::at(all + at) - both;
            const Vector yes_yes = rounded(rule.limited_gain(both.of));
            const Vector yes_no = rounded(rule.limited_gain(of_i.of));
            const Vector no_yes = rounded(rule.limited_gain((holding_k - both).of));
            const Vector no_no = rounded(rule.limited_gain((failing_k - of_i).of));
            best_holding = larger(best_holding, yes_yes + no_yes);
            best_failing = larger(best_failing, yes_no + no_no);
            raise_to(best[group] + area(cut, lanes), yes_yes + yes_no);
            raise_to(best[group] + area(n_i + cut, lanes), no_yes + no_no);
        }
        raise_to(best_k + area(cut_k, lanes), best_holding);
        raise_to(best_k + area(k.n_cuts + cut_k, lanes), best_failing);
    }
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
