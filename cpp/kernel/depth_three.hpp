// Trees of depth three: tables over triples of columns.
//
// The eight cells of three cuts serve each of the three as the topmost one, so no cell is evaluated
// twice. The input is tables, not rows: tables of one row set are differences of those of others.
#pragma once

#include "depth_two.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// The tables of a row set lie one after the other: of every triple i < j < k of columns, or of the
// only pair, or of the only column.
template <int C>
std::size_t tables_size(const KernelInput& in) {
    if (in.n_axes == 1) return area(in.axes[0].n_bins, C);
    if (in.n_axes == 2) return area(in.axes[0].n_bins, in.axes[1].n_bins) * C;
    std::size_t size = 0;
    for (int i = 0; i < in.n_axes; ++i)
        for (int j = i + 1; j < in.n_axes; ++j)
            for (int k = j + 1; k < in.n_axes; ++k)
                size += area(in.axes[i].n_bins, in.axes[j].n_bins) * area(in.axes[k].n_bins, C);
    return size;
}

// Adds rows first..last-1 to all tables.
template <int C>
void add_to_tables(const KernelInput& in, int first, int last, double* table) {
    Arena arena{in.workspace};
    unsigned* const cell_of = arena.cells(last - first);
    const auto extend = [&](int i) {
        const unsigned n_bins = static_cast<unsigned>(in.axes[i].n_bins);
        const std::uint16_t* bins = in.axes[i].bins + first;
        for (int r = 0; r < last - first; ++r) cell_of[r] = cell_of[r] * n_bins + bins[r];
    };
    const auto begin = [&](int i) {
        for (int r = 0; r < last - first; ++r) cell_of[r] = in.axes[i].bins[first + r];
    };
    if (in.n_axes == 1) {
        fill(reinterpret_cast<double*>(cell_of), static_cast<std::size_t>(last - first) / 2 + 1, 0);
        return add_rows<C>(in, first, last, cell_of, in.axes[0], table);
    }
    if (in.n_axes == 2) {
        begin(0);
        return add_rows<C>(in, first, last, cell_of, in.axes[1], table);
    }
    for (int i = 0; i < in.n_axes; ++i)
        for (int j = i + 1; j + 1 < in.n_axes; ++j) {
            begin(i);
            extend(j);
            for (int k = j + 1; k < in.n_axes; ++k) {
                add_rows<C>(in, first, last, cell_of, in.axes[k], table);
                table += area(in.axes[i].n_bins, in.axes[j].n_bins) * area(in.axes[k].n_bins, C);
            }
        }
}

// Best gains with 0 to 3 splits for each side of each cut.
template <int C>
struct DepthThree {
    const KernelInput& in;
    Arena arena;
    const LeafGain<C> leaf_gain;
    double* scratch;
    PairSolver<C> pair;
    double* pair_gains;     // regions of one x sides of the other
    double* flipped_gains;  // and the other way round
    double* lines;          // (bins of j + 1) x C x sides of k
    double* blocks;         // (bins of i + 1) x C x (sides of j x sides of k)
    double* gains[2];       // of one cut of i, holding and not: sides of j x sides of k
    double* best;           // a line of sides
    double* column_best;    // sides x sides
    double* side_best[2];   // sides of all axes: with at most 2 and 3 splits
    double** single_table;  // per axis: sums per bin
    double** pair_table;    // per pair of axes
    double** leaf;          // per axis: as in Single
    double** stump;
    double** cell;        // per pair: gains of side x side as a leaf
    double** cell_stump;  // per pair: with at most one split

    struct Triple {
        const AxisView &i, &j, &k;
        int block() const { return j.n_sides * k.n_sides; }
    };

    explicit DepthThree(const KernelInput& input)
        : in(input),
          arena{input.workspace},
          leaf_gain(input),
          scratch(arena.take(Single<C>::scratch_size(input))),
          pair(arena, input),
          pair_gains(arena.take(PairSolver<C>::most(input, PairSolver<C>::n_cells))),
          flipped_gains(arena.take(PairSolver<C>::most(input, PairSolver<C>::n_cells))) {
        const int n = in.n_axes;
        std::size_t line = 0, block_lines = 0, block = 0, sides = 0;
        const auto grow = [](std::size_t& to, std::size_t value) {
            if (value > to) to = value;
        };
        for (int i = 0; i < n; ++i) {
            grow(sides, static_cast<std::size_t>(in.axes[i].n_sides));
            for (int j = i + 1; j < n; ++j) {
                const AxisView &a = in.axes[i], &b = in.axes[j];
                grow(block, area(a.n_sides, b.n_sides));
                for (int k = j + 1; k < n; ++k) {
                    const AxisView& c = in.axes[k];
                    grow(line, area(b.n_bins + 1, padded(c.n_sides)) * C);
                    grow(block_lines, area(a.n_bins + 1, padded(b.n_sides * c.n_sides)) * C);
                }
            }
        }
        lines = arena.take(line);
        blocks = arena.take(block_lines);
        for (double*& g : gains) g = arena.take(block);
        best = arena.take(sides);
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
            const AxisView& a = in.axes[i];
            const Single<C> single(arena, a);
            keep(leaf, i, single.leaf);
            keep(stump, i, single.stump);
            keep(single_table, i, arena.take(area(a.n_bins, C)));
            for (int j = i + 1; j < n; ++j) {
                const AxisView& b = in.axes[j];
                keep(pair_table, i * n + j, arena.take(PairSolver<C>::table_size(a, b)));
                keep(cell, i * n + j, arena.take(area(a.n_sides, b.n_sides)));
                keep(cell_stump, i * n + j, arena.take(area(a.n_sides, b.n_sides)));
            }
        }
    }

    bool run() {
        marginal_tables();
        for (int i = 0; i < in.n_axes; ++i) {
            const Single<C> single(leaf[i], stump[i]);
            single.solve(leaf_gain, in.axes[i], single_table[i], Arena{scratch});
            single.split(in.axes[i], in.axes[i].n_regions);
        }
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = i + 1; j < in.n_axes; ++j) solve_pair(i, j);
        const double* table = in.tables;
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = i + 1; j < in.n_axes; ++j)
                for (int k = j + 1; k < in.n_axes; ++k) {
                    solve_triple(table, i, j, k);
                    table += area(in.axes[i].n_bins, in.axes[j].n_bins) * area(in.axes[k].n_bins, C);
                    if (stopped(in)) return false;
                }
        join();
        return true;
    }

    // Sums per pair and per column, from the smallest table that holds them. Axes come in order of
    // size, so that is one with the first axis, and the first triples are those.
    void marginal_tables() {
        const int n = in.n_axes;
        const auto bins = [&](int i) { return in.axes[i].n_bins; };
        if (n == 1) {
            for (std::size_t k = 0; k < area(bins(0), C); ++k) single_table[0][k] = in.tables[k];
            return;
        }
        if (n == 2) {
            for (std::size_t k = 0; k < area(bins(0), bins(1)) * C; ++k) pair_table[1][k] = in.tables[k];
        }
        const double* table = in.tables;
        for (int i = 1; i < n; ++i)
            for (int j = i + 1; j < n; ++j) {
                marginalise<C>(table, 1, bins(0), bins(i) * bins(j), pair_table[i * n + j]);
                if (i == 1) marginalise<C>(table, bins(0), bins(1), bins(j), pair_table[j]);
                if (i == 1 && j == 2) marginalise<C>(table, bins(0) * bins(1), bins(2), 1, pair_table[1]);
                table += area(bins(0), bins(i)) * area(bins(j), C);
            }
        marginalise<C>(pair_table[1], bins(0), bins(1), 1, single_table[0]);
        for (int i = 1; i < n; ++i) marginalise<C>(pair_table[i], 1, bins(0), bins(i), single_table[i]);
    }

    void solve_pair(int i, int j) {
        const AxisView &a = in.axes[i], &b = in.axes[j];
        const double* const table = pair_table[i * in.n_axes + j];
        const std::size_t a_stride = area(b.n_bins, C);
        pair.solve(leaf_gain, table, a, a_stride, b, C, 0, a.n_regions, pair_gains);
        double* const extra = flipped_gains + area(b.n_sides, a.n_sides);
        pair.solve(leaf_gain, table, b, C, a, a_stride, b.n_sides, b.n_regions, extra);
        for (int s = 0; s < b.n_sides; ++s)
            for (int t = 0; t < a.n_sides; ++t)
                flipped_gains[area(s, a.n_sides) + t] = pair_gains[area(t, b.n_sides) + s];

        // A region of one column, split by a cut of the other.
        const auto cut_regions = [](const double* gains_of, const AxisView& of, const AxisView& by,
                                    double* to) {
            for (int region = 0; region < of.n_regions; ++region) {
                const double* line = gains_of + area(region, by.n_sides);
                to[region] = larger(to[region], best_sum(line, line + by.n_cuts, by.n_cuts));
            }
        };
        cut_regions(pair_gains, a, b, stump[i]);
        cut_regions(flipped_gains, b, a, stump[j]);

        // A side of each, split by another cut of one of the two columns.
        double* const leaves = cell[i * in.n_axes + j];
        double* const stumps = cell_stump[i * in.n_axes + j];
        const std::size_t n = area(a.n_sides, b.n_sides);
        for (std::size_t k = 0; k < n; ++k) leaves[k] = stumps[k] = pair_gains[k];
        const auto cut_sides = [](const double* gains_of, const AxisView& of, const AxisView& by,
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

    void solve_triple(const double* table, int i, int j, int k) {
        const Triple axes{in.axes[i], in.axes[j], in.axes[k]};
        running_blocks(axes, table);

        const int n = in.n_axes, n_block = axes.block(), width = padded(n_block);
        const std::size_t block_line = area(width, C);
        const double* const total = blocks + static_cast<std::size_t>(axes.i.n_bins) * block_line;
        double* const stumps_jk = cell_stump[j * n + k];
        for (int cut = 0; cut < axes.i.n_cuts; ++cut) {
            const Run* run = axes.i.runs + axes.i.run_begin[cut];
            const Run* end = axes.i.runs + axes.i.run_begin[cut + 1];
            for (int at = 0; at < width; at += lanes) {
                Vector holds[C], fails[C];
                for (int c = 0; c < C; ++c) {
                    const double* base = blocks + c * width + at;
                    Vector sum{};
                    for (const Run* u = run; u != end; ++u)
                        sum += load(base + static_cast<std::size_t>(u->last) * block_line) -
                               load(base + static_cast<std::size_t>(u->first) * block_line);
                    holds[c] = sum;
                    fails[c] = load(total + c * width + at) - sum;
                }
                store(gains[0] + at, leaf_gain(holds));
                store(gains[1] + at, leaf_gain(fails));
            }
            for (int at = 0; at < n_block; ++at)
                stumps_jk[at] = larger(stumps_jk[at], gains[0][at] + gains[1][at]);
            for (int side = 0; side < 2; ++side) {
                const int s = cut + side * axes.i.n_cuts;
                split_lines(axes, gains[side], cell_stump[i * n + j] + area(s, axes.j.n_sides));
                split_columns(axes, gains[side], cell_stump[i * n + k] + area(s, axes.k.n_sides));
            }
        }
    }

    // Running sums over the bins of i, of the sums per (side of j, side of k).
    void running_blocks(const Triple& axes, const double* per_bin) {
        const int width_k = padded(axes.k.n_sides), width = padded(axes.block());
        const std::size_t line = area(width_k, C), block_line = area(width, C);
        fill(blocks, block_line, 0);
        fill(lines, line, 0);
        for (int bi = 0; bi < axes.i.n_bins; ++bi) {
            for (int bj = 0; bj < axes.j.n_bins; ++bj, per_bin += area(axes.k.n_bins, C)) {
                double* here = lines + static_cast<std::size_t>(bj + 1) * line;
                double* per_sum[C];
                for (int c = 0; c < C; ++c) per_sum[c] = here + c * width_k;
                to_sides<C>(axes.k, per_bin, C, per_sum);
                for (std::size_t u = 0; u < line; u += lanes)
                    store(here + u, load(here + u) + load(here - line + u));
            }
            const double* before = blocks + static_cast<std::size_t>(bi) * block_line;
            double* here = blocks + static_cast<std::size_t>(bi + 1) * block_line;
            // What a row writes past its end is overwritten by the next row, or the next block.
            for (int c = 0; c < C; ++c, before += width, here += width)
                for (int s = 0; s < axes.j.n_sides; ++s)
                    region_sum(axes.j, s, lines + c * width_k, line, width_k, before + s * axes.k.n_sides,
                               here + s * axes.k.n_sides);
        }
    }

    // (side of i, side of j) split by k.
    static void split_lines(const Triple& axes, const double* table, double* to) {
        for (int s = 0; s < axes.j.n_sides; ++s) {
            const double* line = table + area(s, axes.k.n_sides);
            to[s] = larger(to[s], best_sum(line, line + axes.k.n_cuts, axes.k.n_cuts));
        }
    }

    // (side of i, side of k) split by j.
    void split_columns(const Triple& axes, const double* table, double* to) const {
        for (int at = 0; at < axes.k.n_sides; at += lanes) {
            Vector acc = broadcast(2 * infeasible);
            for (int c = 0; c < axes.j.n_cuts; ++c)
                acc = larger(acc, load(table + area(c, axes.k.n_sides) + at) +
                                      load(table + area(axes.j.n_cuts + c, axes.k.n_sides) + at));
            store(best + at, acc);
        }
        raise(to, best, axes.k.n_sides);
    }

    // From leaves and stumps two levels down to the gains of each side with 0 to 3 splits.
    void join() {
        for (int i = 0; i < in.n_axes; ++i) {
            const AxisView& axis = in.axes[i];
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
        const AxisView &a = in.axes[i], &b = in.axes[j];
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

}  // namespace
}  // namespace surtree::SURTREE_ISA
