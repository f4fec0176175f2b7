// Triples of columns, of which one is a group of columns in lanes: for each pair of sides the best split by a
// cut of a third column.
#pragma once

#include "kernel/lanes.hpp"

namespace surtree::SURTREE_ISA {
namespace {

template <class Leaf>
struct LaneTriples {
    static constexpr int Width = Leaf::width;
    static constexpr std::size_t vectors = static_cast<std::size_t>(Width) * lanes;  // of one cell

    using Sums = LaneSums<Width>;

    const KernelInput& in;
    const Groups groups;
    const Leaf& rule;
    unsigned* cell_of;    // per row: the first of its cells in a table of j, k and i
    double* tables;       // one after another, of a group's columns i: bins of j x bins of k x bins of i
    double* slab;         // for a bin of j: bins of k x bins of i, a vector for each sum
    double* cut_slab;     // the same with cuts of i
    double* cuts_of_two;  // bins of j x cuts of k x cuts of i
    double* holding;      // where a cut of j holds: cuts of k x cuts of i
    double* best_jk;      // sides of j x sides of k, a vector each
    double** best;  // per group and axis: sides of the group's columns x sides of the axis, a vector each

    LaneTriples(Arena& arena, const KernelInput& input, const Leaf& leaf)
        : in(input), groups{input}, rule(leaf) {
        if (in.n_groups == 0) return;
        std::size_t cuts = 0, bins = 0, sides = 0;
        for (int x = 0; x < in.n_axes; ++x) {
            raise(cuts, static_cast<std::size_t>(in.axes[x].n_cuts + 1));
            raise(bins, static_cast<std::size_t>(in.axes[x].last_bin));
            raise(sides, static_cast<std::size_t>(in.axes[x].n_sides));
        }
        cell_of = arena.cells(in.n_rows);
        tables = arena.take((bins * bins * bins * Width + max_lanes) * lanes);
        slab = arena.take((bins * bins * Width + max_lanes) * lanes);
        cut_slab = arena.take(bins * cuts * vectors);
        cuts_of_two = arena.take(bins * cuts * cuts * vectors);
        holding = arena.take(cuts * cuts * vectors);
        best_jk = arena.take(sides * sides * lanes);
        best = arena.pointers(in.n_groups * in.n_axes);
        for (int g = 0; g < in.n_groups; ++g)
            for (int x = 0; x < in.n_axes; ++x) {
                double* const piece =
                    arena.take(area(groups.member(g, 0).n_sides, in.axes[x].n_sides) * lanes);
                if (best) best[g * in.n_axes + x] = piece;
            }
    }

    bool solves(int i, int j, int k) const {
        return groups.of(i) >= 0 || groups.of(j) >= 0 || groups.of(k) >= 0;
    }

    // Whether a group is to be solved with two columns, so that each triple is solved at least once, and few
    // of them more often: columns of three groups with the first of these in lanes, two columns of one group
    // with any.
    bool is_due(int group, int j, int k) const {
        const int of_j = groups.of(j), of_k = groups.of(k);
        if (of_j == of_k) return true;
        if (of_j < 0 || of_k < 0) return group <= (of_j > of_k ? of_j : of_k);
        return group < (of_j < of_k ? of_j : of_k);
    }

    // Solves all triples with a column of some group, and raises the best stumps of pairs of sides.
    bool run(double* const* cell_stump) const {
        for (int g = 0; g < in.n_groups; ++g)
            for (int x = 0; x < in.n_axes; ++x)
                fill(best[g * in.n_axes + x], area(groups.member(g, 0).n_sides, in.axes[x].n_sides) * lanes,
                     2 * infeasible);
        for (int j = 0; j < in.n_axes; ++j)
            for (int k = j + 1; k < in.n_axes; ++k) {
                const KernelAxis &a = in.axes[j], &b = in.axes[k];
                const std::size_t n = area(a.n_sides, b.n_sides);
                fill(best_jk, n * lanes, 2 * infeasible);
                for (int g = 0; g < in.n_groups; ++g) {
                    if (!is_due(g, j, k)) continue;
                    add_up(g, a, b);
                    evaluate(g, j, k);
                    if (stopped(in)) return false;
                }
                double* const to = cell_stump[j * in.n_axes + k];
                for (std::size_t s = 0; s < n; ++s) to[s] = larger(to[s], largest(load(best_jk + s * lanes)));
            }
        for (int g = 0; g < in.n_groups; ++g)
            for (int lane = 0; lane < lanes; ++lane) save(g, lane, cell_stump);
        return true;
    }

    // Sums over cuts of i, in all lanes, and of k, for each bin of j.
    void add_up(int group, const KernelAxis& j, const KernelAxis& k) const {
        const KernelAxis& i = groups.member(group, 0);
        const std::size_t n_slab = area(k.last_bin, i.last_bin) * Width;
        const std::size_t n_table = static_cast<std::size_t>(j.last_bin) * n_slab + max_lanes;
        const unsigned n_k = static_cast<unsigned>(k.last_bin), n_i = static_cast<unsigned>(i.last_bin);
        for (int r = 0; r < in.n_rows; ++r) cell_of[r] = (j.bins[r] * n_k + k.bins[r]) * n_i;
        groups.add_rows<Width>(group, cell_of, n_table, tables);
        const std::size_t line_i = static_cast<std::size_t>(i.n_cuts + 1) * vectors;
        const std::size_t line_k = static_cast<std::size_t>(k.n_cuts + 1) * line_i;
        for (int bin = j.first_bin; bin < j.last_bin; ++bin) {
            interleave(tables + static_cast<std::size_t>(bin) * n_slab, n_table, n_slab, slab);
            for (int of_k = k.first_bin; of_k < k.last_bin; ++of_k)
                to_cut_lines<vectors>(i, vectors, slab + area(of_k, i.last_bin) * vectors,
                                      cut_slab + static_cast<std::size_t>(of_k) * line_i);
            to_cut_lines<0>(k, line_i, cut_slab, cuts_of_two + static_cast<std::size_t>(bin) * line_k);
        }
        // Running sums over the bins of j.
        for (int bin = j.first_bin + 1; bin < j.last_bin; ++bin) {
            double* const here = cuts_of_two + static_cast<std::size_t>(bin) * line_k;
            for (std::size_t at = 0; at < line_k; at += lanes)
                store(here + at, load(here + at) + load(here - line_k + at));
        }
    }

    void evaluate(int group, int j, int k) const {
        const KernelAxis &a = in.axes[j], &b = in.axes[k];
        const int n_i = groups.member(group, 0).n_cuts;
        const std::size_t line_i = static_cast<std::size_t>(n_i + 1) * vectors;
        const std::size_t line_k = static_cast<std::size_t>(b.n_cuts + 1) * line_i;
        const double* const total = cuts_of_two + static_cast<std::size_t>(a.last_bin - 1) * line_k;
        const std::size_t last = static_cast<std::size_t>(b.n_cuts) * line_i;
        for (int cut_j = 0; cut_j < a.n_cuts; ++cut_j) {
            sum_cut(a, cut_j, line_k);
            for (int cut_k = 0; cut_k < b.n_cuts; ++cut_k) {
                const std::size_t line = static_cast<std::size_t>(cut_k) * line_i;
                evaluate_pair(group, j, k, cut_j, cut_k,
                              {holding + line, holding + last, total + line, total + last});
            }
        }
    }

    // The rows where a cut of j holds.
    void sum_cut(const KernelAxis& j, int cut, std::size_t line) const {
        if (j.run_begin[cut] == j.run_begin[cut + 1]) fill(holding, line, 0);
        for (int u = j.run_begin[cut]; u < j.run_begin[cut + 1]; ++u) {
            const Run& run = j.runs[u];
            const double* const high = cuts_of_two + static_cast<std::size_t>(run.last - 1) * line;
            const double* const low = cuts_of_two + static_cast<std::size_t>(run.first - 1) * line;
            const bool is_first = u == j.run_begin[cut], from_start = run.first <= j.first_bin;
            for (std::size_t at = 0; at < line; at += lanes) {
                Vector sum = load(high + at);
                if (!from_start) sum -= load(low + at);
                store(holding + at, is_first ? sum : load(holding + at) + sum);
            }
        }
    }

    // Sums per cut of i, and last of all rows: where the cuts of j and k hold, where that of j holds, where
    // that of k holds, and everywhere.
    struct Lines {
        const double *both, *of_j, *of_k, *all;
    };

    // All cuts of i with one cut of j and one of k.
    void evaluate_pair(int group, int j, int k, int cut_j, int cut_k, const Lines& lines) const {
        const KernelAxis &a = in.axes[j], &b = in.axes[k];
        const int n_i = groups.member(group, 0).n_cuts;
        // The intersections of the sides of j and k: per side of j and side of k.
        const auto cells = [&](std::size_t at, Sums(&out)[2][2]) {
            const Sums both = Sums::at(lines.both + at), of_j = Sums::at(lines.of_j + at);
            out[0][0] = both;
            out[0][1] = of_j - both;
            out[1][0] = Sums::at(lines.of_k + at) - both;
            out[1][1] = Sums::at(lines.all + at) - of_j - out[1][0];
        };
        Sums total[2][2];
        cells(static_cast<std::size_t>(n_i) * vectors, total);
        Vector best_cells[2][2];
        for (auto& line : best_cells)
            for (Vector& value : line) value = broadcast(2 * infeasible);
        double* const best_ij = best[group * in.n_axes + j];
        double* const best_ik = best[group * in.n_axes + k];
        for (int cut = 0; cut < n_i; ++cut) {
            Sums holds[2][2];
            cells(static_cast<std::size_t>(cut) * vectors, holds);
            Vector gain[2][2][2];  // per side of i, j and k
            for (int s = 0; s < 2; ++s)
                for (int t = 0; t < 2; ++t) {
                    gain[0][s][t] = rounded(rule.limited_gain(holds[s][t].of));
                    gain[1][s][t] = rounded(rule.limited_gain((total[s][t] - holds[s][t]).of));
                    best_cells[s][t] = larger(best_cells[s][t], gain[0][s][t] + gain[1][s][t]);
                }
            for (int s = 0; s < 2; ++s) {
                const int side = cut + s * n_i;
                for (int t = 0; t < 2; ++t) {
                    const auto place = [&](const KernelAxis& axis, int of) {
                        return (area(side, axis.n_sides) + static_cast<std::size_t>(of + t * axis.n_cuts)) *
                               lanes;
                    };
                    raise_to(best_ij + place(a, cut_j), gain[s][t][0] + gain[s][t][1]);
                    raise_to(best_ik + place(b, cut_k), gain[s][0][t] + gain[s][1][t]);
                }
            }
        }
        for (int s = 0; s < 2; ++s)
            for (int t = 0; t < 2; ++t)
                raise_to(best_jk + (area(cut_j + s * a.n_cuts, b.n_sides) +
                                    static_cast<std::size_t>(cut_k + t * b.n_cuts)) *
                                       lanes,
                         best_cells[s][t]);
    }

    // Raises the stumps of the pairs of one column of a group to what its lane has found.
    void save(int group, int lane, double* const* cell_stump) const {
        const int i = in.groups[group * lanes + lane];
        for (int x = 0; x < in.n_axes; ++x) {
            if (x == i) continue;
            const int n_i = in.axes[i].n_sides, n_x = in.axes[x].n_sides;
            const double* from = best[group * in.n_axes + x] + lane;
            double* const to = cell_stump[i < x ? i * in.n_axes + x : x * in.n_axes + i];
            for (int s = 0; s < n_i; ++s)
                for (int t = 0; t < n_x; ++t, from += lanes) {
                    double& value = i < x ? to[area(s, n_x) + static_cast<std::size_t>(t)]
                                          : to[area(t, n_i) + static_cast<std::size_t>(s)];
                    value = larger(value, *from);
                }
        }
    }
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
