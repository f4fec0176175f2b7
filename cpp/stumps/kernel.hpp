// Stumps: the best single split below every three cuts, of columns taken two, three and four at a time.
//
// The sixteen cells of four cuts serve each of the four as the lowest one, so no cell is evaluated twice.
// Cuts of the same column leave one of its regions.
#pragma once

#include "kernel/blocks.hpp"
#include "kernel/depth_two.hpp"

namespace surtree::SURTREE_ISA {
namespace {

// Raises to[k] to the best way to split region `of` of an axis, from lines of n gains, one per region.
void split_region(const KernelAxis& axis, int of, const double* gains, int n, double* to) {
    for (int u = axis.split_begin[of]; u < axis.split_begin[of + 1]; ++u) {
        const double* const yes = gains + area(axis.splits[u].yes, n);
        const double* const no = gains + area(axis.splits[u].no, n);
        for (int k = 0; k < n; ++k) to[k] = larger(to[k], yes[k] + no[k]);
    }
}

// Raises to[k] to yes[k] + no[k].
void raise_to_sums(const double* yes, const double* no, int n, double* to) {
    int k = 0;
    for (; k + lanes <= n; k += lanes) store(to + k, larger(load(to + k), load(yes + k) + load(no + k)));
    for (; k < n; ++k) to[k] = larger(to[k], yes[k] + no[k]);
}

// Two columns a and b. Out: per region of a and side of b; per region of b and side of a.
template <class Leaf>
struct StumpsOfTwo {
    static constexpr int Width = Leaf::width;

    const KernelInput& in;
    Arena arena;
    const Leaf rule;
    SingleSolver<Leaf> single;
    double* table;
    double* per_bin;
    double* gains;  // per deep region

    explicit StumpsOfTwo(const KernelInput& input)
        : in(input), arena{input.workspace}, rule(input.leaf), single(arena, input) {
        const std::size_t bins = single.most(in, &KernelAxis::last_bin);
        table = arena.take(area(in.axes[0].last_bin, in.axes[1].last_bin) * Width);
        per_bin = arena.take(bins * Width);
        gains = arena.take(single.most(in, &KernelAxis::n_deep));
    }

    bool run() {
        const KernelAxis &a = in.axes[0], &b = in.axes[1];
        fill(table, area(a.last_bin, b.last_bin) * Width, 0);
        for (int r = 0; r < in.n_rows; ++r)
            add_cell<Width>(table + (area(a.bins[r], b.last_bin) + b.bins[r]) * Width,
                            in.sums + area(r, Width));
        const std::size_t a_stride = area(b.last_bin, Width);
        raise(a, a_stride, b, Width, in.stumps[0], in.stumps[1]);
        raise(b, Width, a, a_stride, in.stumps[1], in.stumps[0]);
        return true;
    }

    // Splits by a cut of `by`, of its regions and sides: each with regions of the other.
    void raise(const KernelAxis& by, std::size_t by_stride, const KernelAxis& other, std::size_t other_stride,
               double* by_regions, double* other_regions) const {
        for (int region = 0; region < other.n_regions; ++region) {
            fill(per_bin, area(by.last_bin, Width), 0);
            for (int u = other.run_begin[region]; u < other.run_begin[region + 1]; ++u)
                for (int bin = other.runs[u].first; bin < other.runs[u].last; ++bin)
                    for (int at = 0; at < by.last_bin; ++at)
                        add_cell<Width>(per_bin + area(at, Width),
                                        table + static_cast<std::size_t>(bin) * other_stride +
                                            static_cast<std::size_t>(at) * by_stride);
            single.solve(rule, by, per_bin, gains);
            for (int s = 0; s < by.n_sides; ++s)
                split_region(by, s, gains, 1, other_regions + area(region, by.n_sides) + s);
            if (region >= other.n_sides) continue;
            for (int r = 0; r < by.n_regions; ++r)
                split_region(by, r, gains, 1, by_regions + area(r, other.n_sides) + region);
        }
    }
};

// Three columns a, b and c. Out: per sides of a, b and c; per region of a and side of b, of a and c, b and a,
// b and c, c and a, c and b.
template <class Leaf>
struct StumpsOfThree {
    static constexpr int Width = Leaf::width;

    const KernelInput& in;
    Arena arena;
    const Leaf rule;
    PairSolver<Leaf> pair;
    Blocks<Width> blocks;
    double* table;
    double* gains;  // regions of one x sides of both others
    double* best;   // sides of two

    explicit StumpsOfThree(const KernelInput& input)
        : in(input), arena{input.workspace}, rule(input.leaf), pair(arena, input) {
        std::size_t most_blocks = 0, most_gains = 0, most_sides = 0;
        each_role([&](const KernelAxis& i, const KernelAxis& j, const KernelAxis& k) {
            surtree::SURTREE_ISA::raise(most_blocks, blocks.size(i, j, k));
            surtree::SURTREE_ISA::raise(most_gains, area(i.n_regions, j.n_sides * k.n_sides));
            surtree::SURTREE_ISA::raise(most_sides, area(j.n_sides, k.n_sides));
        });
        table = arena.take(area(in.axes[0].last_bin, in.axes[1].last_bin) * area(in.axes[2].last_bin, Width));
        blocks.sums = arena.take(most_blocks);
        gains = arena.take(most_gains);
        best = arena.take(most_sides);
    }

    // Visits each axis in the role of the one that is cut twice, with the two others.
    template <class Visit>
    void each_role(const Visit& visit) const {
        visit(in.axes[0], in.axes[1], in.axes[2]);
        visit(in.axes[1], in.axes[0], in.axes[2]);
        visit(in.axes[2], in.axes[0], in.axes[1]);
    }

    bool run() {
        const KernelAxis &a = in.axes[0], &b = in.axes[1], &c = in.axes[2];
        fill(table, area(a.last_bin, b.last_bin) * area(c.last_bin, Width), 0);
        for (int r = 0; r < in.n_rows; ++r)
            add_cell<Width>(
                table + area((a.bins[r] * b.last_bin + b.bins[r]) * c.last_bin + c.bins[r], Width),
                in.sums + area(r, Width));
        const std::size_t bins[3] = {area(b.last_bin, c.last_bin) * Width, area(c.last_bin, Width), Width};
        const std::size_t sides[3] = {area(b.n_sides, c.n_sides), area(c.n_sides, 1), 1};
        const auto stride = [&](const std::size_t (&of)[3], const KernelAxis& axis) {
            return of[&axis - in.axes];
        };
        double* const* lines = in.stumps + 1;
        each_role([&](const KernelAxis& i, const KernelAxis& j, const KernelAxis& k) {
            blocks.fill_from({i, j, k, table, stride(bins, i), stride(bins, j), stride(bins, k)}, pair.sides);
            evaluate(i, j.n_sides * k.n_sides);
            for (int region = 0; region < i.n_regions; ++region) {
                const double* const here = gains + area(region, j.n_sides * k.n_sides);
                split_lines(here, j.n_sides, k, lines[0] + area(region, j.n_sides));
                split_columns(here, k.n_sides, j, lines[1] + area(region, k.n_sides));
            }
            for (int s = 0; s < i.n_sides; ++s) {
                fill(best, area(j.n_sides, k.n_sides), 2 * infeasible);
                split_region(i, s, gains, j.n_sides * k.n_sides, best);
                for (int t = 0; t < j.n_sides; ++t)
                    for (int u = 0; u < k.n_sides; ++u) {
                        double& to = in.stumps[0][static_cast<std::size_t>(s) * stride(sides, i) +
                                                  static_cast<std::size_t>(t) * stride(sides, j) +
                                                  static_cast<std::size_t>(u) * stride(sides, k)];
                        to = larger(to, best[area(t, k.n_sides) + static_cast<std::size_t>(u)]);
                    }
            }
            lines += 2;
        });
        return true;
    }

    // Gains of all regions of i. Regions come in order: each overwrites what the one before wrote past its
    // end.
    void evaluate(const KernelAxis& i, int n_block) const {
        for (int region = 0; region < i.n_regions; ++region)
            for (int at = 0; at < n_block; at += lanes) {
                Vector sums[Width];
                for (int c = 0; c < Width; ++c)
                    sums[c] =
                        blocks.over(i.runs + i.run_begin[region], i.runs + i.run_begin[region + 1], c, at);
                store(gains + area(region, n_block) + at, rule.limited_gain(sums));
            }
    }
};

// Four columns o, i, j and k. Out: per sides of o, i and j; of o, i and k; of o, j and k; of i, j and k.
template <class Leaf>
struct StumpsOfFour {
    static constexpr int Width = Leaf::width;

    const KernelInput& in;
    const KernelAxis &o, &i, &j, &k;
    Arena arena;
    const Leaf rule;
    PairSolver<Leaf> pair;
    unsigned* cell_of;
    double* tables;  // over i, j and k: running sums over the bins of o
    double* side;    // the same of the rows where a cut of o holds
    Blocks<Width> all, holding;
    double* gains[2][2];  // of a cut of o, holding and not, and one of i: sides of j x sides of k

    explicit StumpsOfFour(const KernelInput& input)
        : in(input),
          o(in.axes[0]),
          i(in.axes[1]),
          j(in.axes[2]),
          k(in.axes[3]),
          arena{input.workspace},
          rule(input.leaf),
          pair(arena, input),
          cell_of(arena.cells(input.n_rows)),
          tables(arena.take(static_cast<std::size_t>(o.last_bin + 1) * table_size())),
          side(arena.take(table_size())) {
        for (Blocks<Width>* blocks : {&all, &holding}) blocks->sums = arena.take(blocks->size(i, j, k));
        for (auto& of_o : gains)
            for (double*& of_i : of_o) of_i = arena.take(area(j.n_sides, k.n_sides));
    }

    std::size_t table_size() const { return area(i.last_bin, j.last_bin) * area(k.last_bin, Width); }
    const double* table(int bin) const { return tables + static_cast<std::size_t>(bin) * table_size(); }

    bool run() {
        add_all_rows();
        const std::size_t j_stride = area(k.last_bin, Width), i_stride = area(j.last_bin, k.last_bin) * Width;
        all.fill_from({i, j, k, table(o.last_bin), i_stride, j_stride, Width}, pair.sides);
        for (int cut = 0; cut < o.n_cuts; ++cut) {
            sum_side(cut);
            holding.fill_from({i, j, k, side, i_stride, j_stride, Width}, pair.sides);
            for (int of_i = 0; of_i < i.n_cuts; ++of_i) {
                evaluate(of_i);
                raise_stumps(cut, of_i);
            }
            if (stopped(in)) return false;
        }
        return true;
    }

    void add_all_rows() const {
        const unsigned n_i = static_cast<unsigned>(i.last_bin), n_j = static_cast<unsigned>(j.last_bin);
        fill(tables, static_cast<std::size_t>(o.last_bin + 1) * table_size(), 0);
        for (int r = 0; r < in.n_rows; ++r)
            cell_of[r] = ((o.bins[r] + 1u) * n_i + i.bins[r]) * n_j + j.bins[r];
        add_rows<Width>(in, 0, in.n_rows, cell_of, k.bins, k.last_bin, tables);
        for (std::size_t at = table_size(); at < static_cast<std::size_t>(o.last_bin + 1) * table_size();
             ++at)
            tables[at] += tables[at - table_size()];
    }

    void sum_side(int cut) const {
        for (int u = o.run_begin[cut]; u < o.run_begin[cut + 1]; ++u) {
            const double *high = table(o.runs[u].last), *low = table(o.runs[u].first);
            if (u == o.run_begin[cut])
                for (std::size_t at = 0; at < table_size(); ++at) side[at] = high[at] - low[at];
            else
                for (std::size_t at = 0; at < table_size(); ++at) side[at] += high[at] - low[at];
        }
    }

    // Gains of the four intersections of the sides of a cut of o and one of i.
    void evaluate(int cut) const {
        const Run* const run = i.runs + i.run_begin[cut];
        const Run* const end = i.runs + i.run_begin[cut + 1];
        const double* const total = all.after(i.last_bin);
        const double* const total_holding = holding.after(i.last_bin);
        for (int at = 0; at < j.n_sides * k.n_sides; at += lanes) {
            Vector sums[2][2][Width];
            for (int c = 0; c < Width; ++c) {
                const Vector yes = holding.over(run, end, c, at),
                             of_o = load(total_holding + c * all.width + at);
                const Vector of_i = all.over(run, end, c, at);
                sums[0][0][c] = yes;
                sums[0][1][c] = of_o - yes;
                sums[1][0][c] = of_i - yes;
                sums[1][1][c] = load(total + c * all.width + at) - of_i - (of_o - yes);
            }
            for (int s = 0; s < 2; ++s)
                for (int t = 0; t < 2; ++t) store(gains[s][t] + at, rule.limited_gain(sums[s][t]));
        }
    }

    void raise_stumps(int cut_o, int cut_i) const {
        const int n_block = j.n_sides * k.n_sides;
        for (int s = 0; s < 2; ++s) {
            const int side_o = cut_o + s * o.n_cuts, side_i = cut_i + s * i.n_cuts;
            raise_to_sums(gains[s][0], gains[s][1], n_block, in.stumps[2] + area(side_o, n_block));
            raise_to_sums(gains[0][s], gains[1][s], n_block, in.stumps[3] + area(side_i, n_block));
            for (int t = 0; t < 2; ++t) {
                const std::size_t both =
                    area(side_o, i.n_sides) + static_cast<std::size_t>(cut_i + t * i.n_cuts);
                split_lines(gains[s][t], j.n_sides, k,
                            in.stumps[0] + both * static_cast<std::size_t>(j.n_sides));
                split_columns(gains[s][t], k.n_sides, j,
                              in.stumps[1] + both * static_cast<std::size_t>(k.n_sides));
            }
        }
    }
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
