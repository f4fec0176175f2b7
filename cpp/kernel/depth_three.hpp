// Trees of depth three: tables over triples of columns.
//
// The eight cells of three cuts serve each of the three as the topmost one, so no cell is evaluated
// twice. The input is rows, of which tables are made one at a time; or all tables, where those of one row set
// are differences of those of others.
#pragma once

#include "kernel/depth_two.hpp"
#include "kernel/lane_triples.hpp"
#include "kernel/triple_tables.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// Best gains with 0 to 3 splits for each side of each cut.
template <class Leaf, template <int> class Tables>
struct DepthThree {
    static constexpr int Width = Leaf::width;

    const KernelInput& in;
    Arena arena;
    const Tables<Width> tables;
    const Leaf rule;
    const LaneTriples<Leaf> by_lanes;
    SingleSolver<Leaf> single;
    PairSolver<Leaf> pair;
    double* pair_gains;     // regions of one x sides of the other
    double* flipped_gains;  // and the other way round
    Blocks<Width> blocks;
    double* gains[2];       // of one cut of i, holding and not: sides of j x sides of k
    double* column_best;    // sides x sides
    double* side_best[2];   // sides of all axes: with at most 2 and 3 splits
    double** single_table;  // per axis: sums per bin
    double** pair_table;    // per pair of axes
    double** leaf;          // per axis: gains of deep regions as leaves
    double** stump;         // per axis: gains of regions with at most one split
    double** cell;          // per pair: gains of side x side as a leaf
    double** cell_stump;    // per pair: with at most one split

    explicit DepthThree(const KernelInput& input)
        : in(input),
          arena{input.workspace},
          tables(arena, input),
          rule(input.leaf),
          by_lanes(arena, input, rule),
          single(arena, input),
          pair(arena, input),
          pair_gains(arena.take(pair.most(input, pair.n_cells))),
          flipped_gains(arena.take(pair.most(input, pair.n_cells))) {
        const int n = in.n_axes;
        std::size_t most_blocks = 0, block = 0;
        for (int i = 0; i < n; ++i)
            for (int j = i + 1; j < n; ++j) {
                const KernelAxis &a = in.axes[i], &b = in.axes[j];
                raise(block, area(a.n_sides, b.n_sides));
                for (int k = j + 1; k < n; ++k) raise(most_blocks, blocks.size(a, b, in.axes[k]));
            }
        blocks.sums = arena.take(most_blocks);
        for (double*& g : gains) g = arena.take(block);
        column_best = arena.take(block);
        for (double*& s : side_best) s = arena.take(static_cast<std::size_t>(all_sides(in)));
        single_table = arena.pointers(n);
        pair_table = arena.pointers(n * n);
        leaf = arena.pointers(n);
        stump = arena.pointers(n);
        cell = arena.pointers(n * n);
        cell_stump = arena.pointers(n * n);
        const auto keep = [](double** list, int at, double* piece) {
            if (list) list[at] = piece;
        };
        for (int i = 0; i < n; ++i) {
            const KernelAxis& a = in.axes[i];
            keep(leaf, i, arena.take(a.n_deep));
            keep(stump, i, arena.take(a.n_regions));
            keep(single_table, i, arena.take(area(tables.bins_of(a), Width)));
            for (int j = i + 1; j < n; ++j) {
                const KernelAxis& b = in.axes[j];
                keep(pair_table, i * n + j, arena.take(area(tables.bins_of(a), tables.bins_of(b)) * Width));
                keep(cell, i * n + j, arena.take(area(a.n_sides, b.n_sides)));
                keep(cell_stump, i * n + j, arena.take(area(a.n_sides, b.n_sides)));
            }
        }
    }

    bool run() {
        tables.sum_margins(single_table, pair_table);
        for (int i = 0; i < in.n_axes; ++i) {
            single.solve(rule, in.axes[i], single_table[i], leaf[i]);
            if (const double* const best_known = known(i))
                for (int r = 0; r < in.axes[i].n_regions; ++r)
                    stump[i][r] = larger(leaf[i][r], best_known[r]);
            else
                split_regions(in.axes[i], in.axes[i].n_regions, leaf[i], stump[i]);
        }
        for (int i = 0; i < in.n_axes; ++i) {
            for (int j = i + 1; j < in.n_axes; ++j) solve_pair(i, j);
            if (stopped(in)) return false;
        }
        if (in.rough) raise_to_rough();
        if (in.n_groups > 0 && !by_lanes.run(cell_stump)) return false;
        for (int i = 0; i < in.n_axes && !in.rough; ++i)
            for (int j = i + 1; j < in.n_axes; ++j)
                if (!solve_triples(i, j)) return false;
        if (in.found) *in.found = {in.n_axes, leaf, stump, cell_stump};
        join();
        return true;
    }

    // All triples that begin with these axes; false if stopped.
    bool solve_triples(int i, int j) {
        bool has_begun = false;
        for (int k = j + 1; k < in.n_axes; ++k) {
            if ((known(i, j) && known(i, k) && known(j, k)) || by_lanes.solves(i, j, k)) continue;
            if (!has_begun) tables.start(in.axes[i], in.axes[j]);
            has_begun = true;
            solve_triple(i, j, k);
            if (stopped(in)) return false;
        }
        return true;
    }

    // Takes the stumps by a third axis from screening.
    void raise_to_rough() const {
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = i + 1; j < in.n_axes; ++j) {
                const float* const from = in.rough[i * in.n_axes + j];
                double* const to = cell_stump[i * in.n_axes + j];
                const std::size_t n = area(in.axes[i].n_sides, in.axes[j].n_sides);
                for (std::size_t k = 0; k < n; ++k)  // less than this is no tree
                    if (from[k] > -1e29f) to[k] = larger(to[k], from[k] * in.rough_unit);
            }
    }

    const double* known(int i) const { return in.known_regions ? in.known_regions[i] : nullptr; }
    const double* known(int i, int j) const { return in.known ? in.known[i * in.n_axes + j] : nullptr; }

    void solve_pair(int i, int j) {
        const KernelAxis &a = in.axes[i], &b = in.axes[j];
        const double* const table = pair_table[i * in.n_axes + j];
        const bool in_order = tables.in_order(a, b);
        const std::size_t a_stride = in_order ? area(tables.bins_of(b), Width) : Width;
        const std::size_t b_stride = in_order ? Width : area(tables.bins_of(a), Width);
        pair.solve(rule, table, a, a_stride, b, b_stride, 0, known(i) ? a.n_sides : a.n_regions, pair_gains);
        if (!known(j)) {
            double* const extra = flipped_gains + area(b.n_sides, a.n_sides);
            pair.solve(rule, table, b, b_stride, a, a_stride, b.n_sides, b.n_regions, extra);
            for (int s = 0; s < b.n_sides; ++s)
                for (int t = 0; t < a.n_sides; ++t)
                    flipped_gains[area(s, a.n_sides) + t] = pair_gains[area(t, b.n_sides) + s];
        }

        // A region of one column, split by a cut of the other.
        if (!known(i)) split_lines(pair_gains, a.n_regions, b, stump[i]);
        if (!known(j)) split_lines(flipped_gains, b.n_regions, a, stump[j]);

        // A side of each, split by another cut of one of the two columns.
        double* const leaves = cell[i * in.n_axes + j];
        double* const stumps = cell_stump[i * in.n_axes + j];
        const std::size_t n = area(a.n_sides, b.n_sides);
        for (std::size_t k = 0; k < n; ++k) leaves[k] = stumps[k] = pair_gains[k];
        if (const double* const best_known = known(i, j)) {
            for (std::size_t k = 0; k < n; ++k) stumps[k] = larger(stumps[k], best_known[k]);
            return;
        }
        const auto cut_sides = [](const double* gains_of, const KernelAxis& of, const KernelAxis& by,
                                  double* to) {
            for (int s = 0; s < of.n_sides; ++s) {
                double* line = to + area(s, by.n_sides);
                for (int u = of.split_begin[s]; u < of.split_begin[s + 1]; ++u) {
                    const double* yes = gains_of + area(of.splits[u].yes, by.n_sides);
                    const double* no = gains_of + area(of.splits[u].no, by.n_sides);
                    for (int k = 0; k < by.n_sides; ++k) line[k] = larger(line[k], yes[k] + no[k]);
                }
            }
        };
        cut_sides(pair_gains, a, b, stumps);
        fill(column_best, n, 2 * infeasible);
        cut_sides(flipped_gains, b, a, column_best);
        for (int s = 0; s < a.n_sides; ++s)
            for (int t = 0; t < b.n_sides; ++t) {
                double& value = stumps[area(s, b.n_sides) + t];
                value = larger(value, column_best[area(t, a.n_sides) + s]);
            }
    }

    void solve_triple(int i, int j, int k) {
        const Triple axes = tables.triple(in.axes[i], in.axes[j], in.axes[k]);
        blocks.fill_from(axes, pair.sides);

        const int n = in.n_axes, n_block = axes.block();
        const double* const total = blocks.after(axes.i.last_bin);
        double* const stumps_jk = cell_stump[j * n + k];
        for (int cut = 0; cut < axes.i.n_cuts; ++cut) {
            const Run* run = axes.i.runs + axes.i.run_begin[cut];
            const Run* end = axes.i.runs + axes.i.run_begin[cut + 1];
            for (int at = 0; at < n_block; at += lanes) {
                Vector holds[Width], fails[Width];
                for (int c = 0; c < Width; ++c) {
                    holds[c] = blocks.over(run, end, c, at);
                    fails[c] = load(total + c * blocks.width + at) - holds[c];
                }
                store(gains[0] + at, rule.limited_gain(holds));
                store(gains[1] + at, rule.limited_gain(fails));
            }
            for (int at = 0; at < n_block && !known(j, k); ++at)
                stumps_jk[at] = larger(stumps_jk[at], gains[0][at] + gains[1][at]);
            for (int side = 0; side < 2; ++side) {
                const int s = cut + side * axes.i.n_cuts;
                if (!known(i, j))
                    split_lines(gains[side], axes.j.n_sides, axes.k,
                                cell_stump[i * n + j] + area(s, axes.j.n_sides));
                if (!known(i, k))
                    split_columns(gains[side], axes.k.n_sides, axes.j,
                                  cell_stump[i * n + k] + area(s, axes.k.n_sides));
            }
        }
    }

    // From leaves and stumps two levels down to the gains of each side with 0 to 3 splits.
    void join() {
        for (int i = 0; i < in.n_axes; ++i) {
            const KernelAxis& axis = in.axes[i];
            for (int s = 0; s < axis.n_sides; ++s) {
                double two = stump[i][s], three = stump[i][s];
                for (int u = axis.split_begin[s]; u < axis.split_begin[s + 1]; ++u) {
                    const auto [yes, no] = axis.splits[u];
                    two = larger(two, larger(stump[i][yes] + leaf[i][no], leaf[i][yes] + stump[i][no]));
                    three = larger(three, stump[i][yes] + stump[i][no]);
                }
                side_best[0][axis.first_side + s] = two;
                side_best[1][axis.first_side + s] = three;
            }
        }
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = i + 1; j < in.n_axes; ++j) join_pair(i, j);
        for (int i = 0; i < in.n_axes; ++i)
            for (int s = 0; s < in.axes[i].n_sides; ++s) {
                const int side = in.axes[i].first_side + s;
                double* out = in.side_gains + 4 * side;
                out[0] = leaf[i][s];
                out[1] = stump[i][s];
                out[2] = side_best[0][side];
                out[3] = larger(side_best[0][side], side_best[1][side]);
            }
    }

    void join_pair(int i, int j) {
        const KernelAxis &a = in.axes[i], &b = in.axes[j];
        const double* const leaves = cell[i * in.n_axes + j];
        const double* const stumps = cell_stump[i * in.n_axes + j];
        double* const two_b = side_best[0] + b.first_side;
        double* const three_b = side_best[1] + b.first_side;
        for (int s = 0; s < a.n_sides; ++s) {
            const double* l = leaves + area(s, b.n_sides);
            const double* t = stumps + area(s, b.n_sides);
            double& two = side_best[0][a.first_side + s];
            double& three = side_best[1][a.first_side + s];
            two =
                larger(two, larger(best_sum(t, l + b.n_cuts, b.n_cuts), best_sum(l, t + b.n_cuts, b.n_cuts)));
            three = larger(three, best_sum(t, t + b.n_cuts, b.n_cuts));
        }
        for (int c = 0; c < a.n_cuts; ++c) {
            const std::size_t yes = area(c, b.n_sides), no = area(a.n_cuts + c, b.n_sides);
            for (int t = 0; t < b.n_sides; ++t) {
                const double one = larger(stumps[yes + t] + leaves[no + t], leaves[yes + t] + stumps[no + t]);
                two_b[t] = larger(two_b[t], one);
                three_b[t] = larger(three_b[t], stumps[yes + t] + stumps[no + t]);
            }
        }
    }
};

template <class Leaf>
using DepthThreeOfRows = DepthThree<Leaf, RowTables>;
template <class Leaf>
using DepthThreeOfTables = DepthThree<Leaf, GivenTables>;

}  // namespace
}  // namespace surtree::SURTREE_ISA
