// The kernels, compiled once per instruction set (see kernels.hpp). No standard library here: an
// inline function of it, compiled for new processors, could be the one that the linker keeps for all.
#include "kernels.hpp"

#include "gain.hpp"

namespace surtree::SURTREE_ISA {
namespace {

constexpr int padded(int n) { return (n + lanes - 1) / lanes * lanes; }

// Hands out pieces of the workspace. Without one it only counts.
struct Arena {
    double* base;
    std::size_t used = 0;

    double* take(std::size_t n) {
        double* piece = base ? base + used : nullptr;
        // Loops may read and write up to a vector past the end of their last row.
        used += (n + lanes + max_lanes - 1) / max_lanes * max_lanes;
        return piece;
    }
};

std::size_t area(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

// Sums of many row sets, one array per kind of sum.
template <int C>
struct SumArrays {
    double* of[C];

    SumArrays(Arena& arena, std::size_t n) {
        for (int c = 0; c < C; ++c) of[c] = arena.take(n);
    }
};

// Everything below works on this: the input, and the tables that all steps share.
template <int C>
struct Work {
    const KernelInput& in;
    Vector min_samples, min_events;

    explicit Work(const KernelInput& input)
        : in(input), min_samples(broadcast(input.min_samples)), min_events(broadcast(input.min_events)) {}

    Vector leaf_gain(const Vector (&sums)[C]) const {
        const Vector value = gain(sums[0], sums[1]);
        if constexpr (C == 2) {
            return value;
        } else {
            const Vector enough = sums[2] >= min_samples ? value : broadcast(infeasible);
            return sums[3] >= min_events ? enough : broadcast(infeasible);
        }
    }

    void leaf_gains(const SumArrays<C>& sums, double* out, int n) const {
        for (int k = 0; k < n; k += lanes) {
            Vector at[C];
            for (int c = 0; c < C; ++c) at[c] = load(sums.of[c] + k);
            store(out + k, leaf_gain(at));
        }
    }
};

void fill(double* to, std::size_t n, double value) {
    for (std::size_t k = 0; k < n; ++k) to[k] = value;
}

void raise(double* to, const double* from, int n) {
    for (int k = 0; k < n; ++k) to[k] = from[k] > to[k] ? from[k] : to[k];
}

// The best of yes[k] + no[k].
double best_sum(const double* yes, const double* no, int n) {
    double best = 2 * infeasible;
    if (n >= lanes) {
        // The last vector overlaps the one before: the maximum does not mind.
        Vector acc = load(yes + n - lanes) + load(no + n - lanes);
        for (int k = 0; k + lanes < n; k += lanes) acc = larger(acc, load(yes + k) + load(no + k));
        for (int l = 0; l < lanes; ++l) best = larger(best, acc[l]);
        return best;
    }
    for (int k = 0; k < n; ++k) best = larger(best, yes[k] + no[k]);
    return best;
}

// The sums of each side of `axis`, from sums per bin that lie `stride` apart: a product with a matrix
// of zeros and ones, exact since all sums are whole numbers.
template <int C>
void to_sides(const AxisView& axis, const double* per_bin, std::size_t stride, double* const (&out)[C]) {
    const std::size_t line = membership_stride(axis.n_sides);
    for (int from = 0; from < axis.n_sides; from += lanes) {
        Vector acc[C] = {};
        for (int b = 0; b < axis.n_bins; ++b) {
            const Vector belongs = load(axis.membership + static_cast<std::size_t>(b) * line + from);
            for (int c = 0; c < C; ++c) acc[c] += belongs * per_bin[static_cast<std::size_t>(b) * stride + c];
        }
        for (int c = 0; c < C; ++c) store(out[c] + from, acc[c]);
    }
}

// prefix holds n_bins + 1 running sums, each `stride` wide. Writes the sums of one region.
void region_sum(const AxisView& axis, int region, const double* prefix, std::size_t stride, int width,
                double* out) {
    const Run* run = axis.runs + axis.run_begin[region];
    const Run* end = axis.runs + axis.run_begin[region + 1];
    if (run == end) {
        for (int k = 0; k < width; k += lanes) store(out + k, Vector{});
        return;
    }
    const double* high = prefix + static_cast<std::size_t>(run->last) * stride;
    const double* low = prefix + static_cast<std::size_t>(run->first) * stride;
    for (int k = 0; k < width; k += lanes) store(out + k, load(high + k) - load(low + k));
    for (++run; run != end; ++run) {
        high = prefix + static_cast<std::size_t>(run->last) * stride;
        low = prefix + static_cast<std::size_t>(run->first) * stride;
        for (int k = 0; k < width; k += lanes) store(out + k, load(out + k) + load(high + k) - load(low + k));
    }
}

// One column: gains of its regions as leaves, and the best with one split of the same column.
template <int C>
struct Single {
    double* leaf;   // per deep region
    double* stump;  // per region: at most one split

    Single(Arena& arena, const AxisView& axis)
        : leaf(arena.take(axis.n_deep)), stump(arena.take(axis.n_regions)) {}

    void solve(const Work<C>& work, const AxisView& axis, Arena scratch) const {
        double* prefix = scratch.take(static_cast<std::size_t>(axis.n_bins + 1) * C);
        SumArrays<C> sums(scratch, axis.n_deep);
        fill(prefix, static_cast<std::size_t>(axis.n_bins + 1) * C, 0);
        for (int r = 0; r < work.in.n_rows; ++r)
            for (int c = 0; c < C; ++c)
                prefix[(axis.bins[r] + 1) * C + c] += work.in.sums[static_cast<std::size_t>(r) * C + c];
        for (int b = 0; b < axis.n_bins; ++b)
            for (int c = 0; c < C; ++c) prefix[(b + 1) * C + c] += prefix[b * C + c];
        for (int region = 0; region < axis.n_deep; ++region)
            for (int c = 0; c < C; ++c) {
                double sum = 0;
                for (int u = axis.run_begin[region]; u < axis.run_begin[region + 1]; ++u)
                    sum += prefix[axis.runs[u].last * C + c] - prefix[axis.runs[u].first * C + c];
                sums.of[c][region] = sum;
            }
        for (int c = 0; c < C; ++c) store(sums.of[c] + axis.n_deep, Vector{});
        work.leaf_gains(sums, leaf, axis.n_deep);
    }

    // Splits of a region of level l lead to regions of level l + 1, so only the first `n` have them.
    void split(const AxisView& axis, int n) const {
        for (int region = 0; region < n; ++region) {
            double best = leaf[region];
            for (int k = axis.split_begin[region]; k < axis.split_begin[region + 1]; ++k)
                best = larger(best, leaf[axis.splits[k].yes] + leaf[axis.splits[k].no]);
            stump[region] = best;
        }
    }

    static std::size_t scratch(const AxisView& axis) {
        Arena count{nullptr};
        count.take(static_cast<std::size_t>(axis.n_bins + 1) * C);
        SumArrays<C> sums(count, axis.n_deep);
        return count.used;
    }
};

// Adds each row's sums into the cell `cell_of[row] * n_bins + bin`.
template <int C>
void add_rows(const KernelInput& in, const unsigned* cell_of, const AxisView& axis, double* table) {
    const unsigned n_bins = static_cast<unsigned>(axis.n_bins);
    for (int r = 0; r < in.n_rows; ++r) {
        double* cell = table + static_cast<std::size_t>(cell_of[r] * n_bins + axis.bins[r]) * C;
        const double* sums = in.sums + static_cast<std::size_t>(r) * C;
        for (int c = 0; c < C; ++c) cell[c] += sums[c];
    }
}

// Two columns: the gains of (region of one) x (side of the other).
template <int C>
struct PairTable {
    double* table;  // bins x bins x C
    double* sides;  // (bins + 1) x C x sides: running sums over the first column's bins
    SumArrays<C> sums;
    double* gains;    // regions of the first x sides of the second
    double* flipped;  // regions of the second x sides of the first

    static std::size_t most(const KernelInput& in, std::size_t (*size)(const AxisView&, const AxisView&)) {
        std::size_t best = 0;
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = 0; j < in.n_axes; ++j)
                if (i != j && size(in.axes[i], in.axes[j]) > best) best = size(in.axes[i], in.axes[j]);
        return best;
    }

    static std::size_t bins(const AxisView& a, const AxisView& b) { return area(a.n_bins, b.n_bins) * C; }
    static std::size_t running(const AxisView& a, const AxisView& b) {
        return area(a.n_bins + 1, padded(b.n_sides)) * C;
    }
    static std::size_t cells(const AxisView& a, const AxisView& b) { return area(a.n_regions, b.n_sides); }

    PairTable(Arena& arena, const KernelInput& in)
        : table(arena.take(most(in, bins))),
          sides(arena.take(most(in, running))),
          sums(arena, most(in, cells)),
          gains(arena.take(most(in, cells))),
          flipped(arena.take(most(in, cells))) {}

    void fill_table(const KernelInput& in, const AxisView& a, const AxisView& b, unsigned* cell_of) const {
        for (int r = 0; r < in.n_rows; ++r) cell_of[r] = a.bins[r];
        fill(table, bins(a, b), 0);
        add_rows<C>(in, cell_of, b, table);
    }

    // Gains of regions from..to-1 of `a` with every side of `b`. In the table, bins of a lie
    // `a_stride` apart and bins of b `b_stride`.
    void solve(const Work<C>& work, const AxisView& a, std::size_t a_stride, const AxisView& b,
               std::size_t b_stride, int from, int to, double* out) const {
        if (from == to) return;
        const int width = padded(b.n_sides);
        const std::size_t line = static_cast<std::size_t>(width) * C;
        fill(sides, line, 0);
        for (int bin = 0; bin < a.n_bins; ++bin) {
            double* here = sides + static_cast<std::size_t>(bin + 1) * line;
            double* per_sum[C];
            for (int c = 0; c < C; ++c) per_sum[c] = here + c * width;
            to_sides<C>(b, table + static_cast<std::size_t>(bin) * a_stride, b_stride, per_sum);
            for (std::size_t k = 0; k < line; k += lanes)
                store(here + k, load(here + k) + load(here - line + k));
        }
        // Rows are written in order: what one writes past its end, the next one overwrites.
        for (int region = from; region < to; ++region)
            for (int c = 0; c < C; ++c)
                region_sum(a, region, sides + c * width, line, width,
                           sums.of[c] + area(region - from, b.n_sides));
        const int n = (to - from) * b.n_sides;
        for (int c = 0; c < C; ++c) store(sums.of[c] + n, Vector{});
        work.leaf_gains(sums, out, n);
    }
};

bool stopped(const KernelInput& in) { return __atomic_load_n(in.stop, __ATOMIC_RELAXED); }

unsigned* as_cells(double* piece) { return reinterpret_cast<unsigned*>(piece); }
std::size_t cell_doubles(int n_rows) { return static_cast<std::size_t>(n_rows) / 2 + 1; }

std::size_t single_scratch(const KernelInput& in) {
    std::size_t most = 0;
    for (int i = 0; i < in.n_axes; ++i) {
        const std::size_t size =
            in.n_sums == 2 ? Single<2>::scratch(in.axes[i]) : Single<4>::scratch(in.axes[i]);
        if (size > most) most = size;
    }
    return most + max_lanes;
}

std::size_t single_size(const KernelInput& in) {
    int most = 0;
    for (int i = 0; i < in.n_axes; ++i)
        if (in.axes[i].n_deep + in.axes[i].n_regions > most) most = in.axes[i].n_deep + in.axes[i].n_regions;
    return static_cast<std::size_t>(most) + 4 * max_lanes;
}

int all_sides(const KernelInput& in) {
    int n = 0;
    for (int i = 0; i < in.n_axes; ++i) n += in.axes[i].n_sides;
    return n;
}

// Gains of each side of each cut as a leaf.
template <int C>
struct DepthOne {
    const KernelInput& in;
    Arena arena;
    double* scratch;
    double* pieces;  // what one axis needs

    explicit DepthOne(const KernelInput& input)
        : in(input),
          arena{input.workspace},
          scratch(arena.take(single_scratch(input))),
          pieces(arena.take(single_size(input))) {}

    bool run() {
        const Work<C> work(in);
        for (int i = 0; i < in.n_axes; ++i) {
            const AxisView& axis = in.axes[i];
            Arena piece{pieces};
            const Single<C> single(piece, axis);
            single.solve(work, axis, Arena{scratch});
            for (int s = 0; s < axis.n_sides; ++s) in.side_gains[axis.first_side + s] = single.leaf[s];
            if (stopped(in)) return false;
        }
        return true;
    }
};

// Best gains with 0 and 1 splits for each side of each cut, from pairs of columns.
template <int C>
struct DepthTwo {
    const KernelInput& in;
    Arena arena;
    double* scratch;
    unsigned* cell_of;
    PairTable<C> pair;
    double* pieces;  // what one axis needs
    double* stumps;  // sides of all axes
    double* best;    // a line of sides

    explicit DepthTwo(const KernelInput& input)
        : in(input),
          arena{input.workspace},
          scratch(arena.take(single_scratch(input))),
          cell_of(as_cells(arena.take(cell_doubles(input.n_rows)))),
          pair(arena, input),
          pieces(arena.take(single_size(input))),
          stumps(arena.take(all_sides(input))),
          best(arena.take(padded(all_sides(input)))) {}

    bool run() {
        const Work<C> work(in);
        for (int i = 0; i < in.n_axes; ++i) {
            const AxisView& axis = in.axes[i];
            Arena piece{pieces};
            const Single<C> single(piece, axis);
            single.solve(work, axis, Arena{scratch});
            single.split(axis, axis.n_sides);
            for (int s = 0; s < axis.n_sides; ++s) {
                in.side_gains[2 * (axis.first_side + s)] = single.leaf[s];
                stumps[axis.first_side + s] = single.stump[s];
            }
        }
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = i + 1; j < in.n_axes; ++j) {
                const AxisView &a = in.axes[i], &b = in.axes[j];
                pair.fill_table(in, a, b, cell_of);
                pair.solve(work, a, static_cast<std::size_t>(b.n_bins) * C, b, C, 0, a.n_sides, pair.gains);
                for (int s = 0; s < a.n_sides; ++s) {
                    const double* line = pair.gains + area(s, b.n_sides);
                    double& stump = stumps[a.first_side + s];
                    stump = larger(stump, best_sum(line, line + b.n_cuts, b.n_cuts));
                }
                cut_columns(a, b);
                if (stopped(in)) return false;
            }
        for (int s = 0; s < all_sides(in); ++s) in.side_gains[2 * s + 1] = stumps[s];
        return true;
    }

    // Sides of b, split by the cuts of a.
    void cut_columns(const AxisView& a, const AxisView& b) const {
        const int width = padded(b.n_sides);
        for (int k = 0; k < width; k += lanes) {
            Vector acc = broadcast(2 * infeasible);
            for (int c = 0; c < a.n_cuts; ++c)
                acc = larger(acc, load(pair.gains + area(c, b.n_sides) + k) +
                                      load(pair.gains + area(a.n_cuts + c, b.n_sides) + k));
            store(best + k, acc);
        }
        raise(stumps + b.first_side, best, b.n_sides);
    }
};

// Best gains with 0 to 3 splits for each side of each cut, from triples of columns. The eight cells
// of three cuts serve each of the three as the topmost one, so no cell is evaluated twice.
template <int C>
struct DepthThree {
    const KernelInput& in;
    Arena arena;
    double* scratch;
    unsigned* cell_of;
    unsigned* cell_of_pair;
    PairTable<C> pair;
    double* triple_table;  // bins x bins x bins x C
    double* lines;         // (bins of j + 1) x C x sides of k
    double* blocks;        // (bins of i + 1) x C x (sides of j x sides of k)
    double* gains[2];      // of one cut of i, holding and not: sides of j x sides of k
    double* best;          // a line of sides
    double* column_best;   // sides x sides
    double** leaf;         // per axis: as in Single
    double** stump;
    double** cell;         // per pair: gains of side x side as a leaf
    double** cell_stump;   // per pair: with at most one split
    double* side_best[2];  // sides of all axes: with at most 2 and 3 splits

    struct Triple {
        const AxisView &i, &j, &k;
        int block() const { return j.n_sides * k.n_sides; }
    };

    explicit DepthThree(const KernelInput& input)
        : in(input),
          arena{input.workspace},
          scratch(arena.take(single_scratch(input))),
          cell_of(as_cells(arena.take(cell_doubles(input.n_rows)))),
          cell_of_pair(as_cells(arena.take(cell_doubles(input.n_rows)))),
          pair(arena, input) {
        const int n = in.n_axes;
        std::size_t table = 0, line = 0, block_lines = 0, block = 0, sides = 0;
        const auto grow = [](std::size_t& to, std::size_t value) {
            if (value > to) to = value;
        };
        for (int i = 0; i < n; ++i) {
            grow(sides, in.axes[i].n_sides);
            for (int j = i + 1; j < n; ++j) {
                const AxisView &a = in.axes[i], &b = in.axes[j];
                grow(block, area(a.n_sides, b.n_sides));
                for (int k = j + 1; k < n; ++k) {
                    const AxisView& c = in.axes[k];
                    grow(table, area(a.n_bins, b.n_bins) * c.n_bins * C);
                    grow(line, area(b.n_bins + 1, padded(c.n_sides)) * C);
                    grow(block_lines, area(a.n_bins + 1, padded(b.n_sides * c.n_sides)) * C);
                }
            }
        }
        triple_table = arena.take(table);
        lines = arena.take(line);
        blocks = arena.take(block_lines);
        for (double*& g : gains) g = arena.take(block);
        best = arena.take(sides);
        column_best = arena.take(block + area(static_cast<int>(sides), lanes));
        for (double*& s : side_best) s = arena.take(all_sides(in));
        leaf = pointers(n);
        stump = pointers(n);
        cell = pointers(n * n);
        cell_stump = pointers(n * n);
        for (int i = 0; i < n; ++i) {
            const Single<C> single(arena, in.axes[i]);
            keep(leaf, i, single.leaf);
            keep(stump, i, single.stump);
            for (int j = i + 1; j < n; ++j) {
                keep(cell, i * n + j, arena.take(area(in.axes[i].n_sides, in.axes[j].n_sides)));
                keep(cell_stump, i * n + j, arena.take(area(in.axes[i].n_sides, in.axes[j].n_sides)));
            }
        }
    }

    double** pointers(int n) {
        static_assert(sizeof(double*) <= sizeof(double));
        return reinterpret_cast<double**>(arena.take(static_cast<std::size_t>(n)));
    }
    static void keep(double** list, int at, double* piece) {
        if (list) list[at] = piece;
    }

    bool run() {
        const Work<C> work(in);
        for (int i = 0; i < in.n_axes; ++i) {
            Single<C> single = view(i);
            single.solve(work, in.axes[i], Arena{scratch});
            single.split(in.axes[i], in.axes[i].n_regions);
        }
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = i + 1; j < in.n_axes; ++j) {
                solve_pair(work, i, j);
                if (stopped(in)) return false;
            }
        for (int i = 0; i < in.n_axes; ++i)
            for (int j = i + 1; j < in.n_axes; ++j) {
                const unsigned n_bins = static_cast<unsigned>(in.axes[j].n_bins);
                for (int r = 0; r < in.n_rows; ++r)
                    cell_of_pair[r] = in.axes[i].bins[r] * n_bins + in.axes[j].bins[r];
                for (int k = j + 1; k < in.n_axes; ++k) {
                    solve_triple(work, i, j, k);
                    if (stopped(in)) return false;
                }
            }
        join();
        return true;
    }

    Single<C> view(int i) const {
        Arena nothing{nullptr};
        Single<C> single(nothing, in.axes[i]);
        single.leaf = leaf[i];
        single.stump = stump[i];
        return single;
    }

    void solve_pair(const Work<C>& work, int i, int j) {
        const AxisView &a = in.axes[i], &b = in.axes[j];
        pair.fill_table(in, a, b, cell_of);
        const std::size_t a_stride = static_cast<std::size_t>(b.n_bins) * C;
        pair.solve(work, a, a_stride, b, C, 0, a.n_regions, pair.gains);
        double* const extra = pair.flipped + area(b.n_sides, a.n_sides);
        pair.solve(work, b, C, a, a_stride, b.n_sides, b.n_regions, extra);
        for (int s = 0; s < b.n_sides; ++s)
            for (int t = 0; t < a.n_sides; ++t)
                pair.flipped[area(s, a.n_sides) + t] = pair.gains[area(t, b.n_sides) + s];

        // A region of one column, split by a cut of the other.
        const auto cut_regions = [](const double* table, const AxisView& of, const AxisView& by, double* to) {
            for (int region = 0; region < of.n_regions; ++region) {
                const double* line = table + area(region, by.n_sides);
                to[region] = larger(to[region], best_sum(line, line + by.n_cuts, by.n_cuts));
            }
        };
        cut_regions(pair.gains, a, b, stump[i]);
        cut_regions(pair.flipped, b, a, stump[j]);

        // A side of each, split by another cut of one of the two columns.
        double* const leaves = cell[i * in.n_axes + j];
        double* const stumps = cell_stump[i * in.n_axes + j];
        const std::size_t n = area(a.n_sides, b.n_sides);
        for (std::size_t k = 0; k < n; ++k) leaves[k] = stumps[k] = pair.gains[k];
        const auto cut_sides = [](const double* table, const AxisView& of, const AxisView& by, double* to) {
            for (int s = 0; s < of.n_sides; ++s) {
                double* line = to + area(s, by.n_sides);
                for (int u = of.split_begin[s]; u < of.split_begin[s + 1]; ++u) {
                    const double* yes = table + area(of.splits[u].yes, by.n_sides);
                    const double* no = table + area(of.splits[u].no, by.n_sides);
                    for (int k = 0; k < by.n_sides; ++k) line[k] = larger(line[k], yes[k] + no[k]);
                }
            }
        };
        cut_sides(pair.gains, a, b, stumps);
        fill(column_best, n, 2 * infeasible);
        cut_sides(pair.flipped, b, a, column_best);
        for (int s = 0; s < a.n_sides; ++s)
            for (int t = 0; t < b.n_sides; ++t) {
                double& value = stumps[area(s, b.n_sides) + t];
                value = larger(value, column_best[area(t, a.n_sides) + s]);
            }
    }

    void solve_triple(const Work<C>& work, int i, int j, int k) {
        const Triple axes{in.axes[i], in.axes[j], in.axes[k]};
        fill(triple_table, area(axes.i.n_bins, axes.j.n_bins) * axes.k.n_bins * C, 0);
        add_rows<C>(in, cell_of_pair, axes.k, triple_table);
        running_blocks(axes);

        const int n = in.n_axes, n_block = axes.block(), width = padded(n_block);
        const std::size_t block_line = static_cast<std::size_t>(width) * C;
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
                store(gains[0] + at, work.leaf_gain(holds));
                store(gains[1] + at, work.leaf_gain(fails));
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
    void running_blocks(const Triple& axes) {
        const int width_k = padded(axes.k.n_sides), width = padded(axes.block());
        const std::size_t line = static_cast<std::size_t>(width_k) * C;
        const std::size_t block_line = static_cast<std::size_t>(width) * C;
        fill(blocks, block_line, 0);
        fill(lines, line, 0);
        const double* per_bin = triple_table;
        for (int bi = 0; bi < axes.i.n_bins; ++bi) {
            for (int bj = 0; bj < axes.j.n_bins; ++bj) {
                double* here = lines + static_cast<std::size_t>(bj + 1) * line;
                double* per_sum[C];
                for (int c = 0; c < C; ++c) per_sum[c] = here + c * width_k;
                to_sides<C>(axes.k, per_bin, C, per_sum);
                per_bin += static_cast<std::size_t>(axes.k.n_bins) * C;
                for (std::size_t u = 0; u < line; u += lanes)
                    store(here + u, load(here + u) + load(here - line + u));
            }
            double* block = blocks + static_cast<std::size_t>(bi + 1) * block_line;
            for (int c = 0; c < C; ++c) {
                double* to = block + c * width;
                for (int s = 0; s < axes.j.n_sides; ++s)
                    region_sum(axes.j, s, lines + c * width_k, line, width_k, to + s * axes.k.n_sides);
                // The last row wrote past the block, into what comes next: that is written later.
                for (int u = 0; u < width; u += lanes)
                    store(to + u, load(to + u) + load(to - block_line + u));
                for (int u = axes.block(); u < width; ++u) to[u] = 0;
            }
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
                const double one_split =
                    larger(stumps[yes + t] + leaves[no + t], leaves[yes + t] + stumps[no + t]);
                two_b[t] = larger(two_b[t], one_split);
                three_b[t] = larger(three_b[t], stumps[yes + t] + stumps[no + t]);
            }
        }
    }
};

template <template <int> class Solver>
bool run(const KernelInput& in) {
    if (in.n_sums == 2) return Solver<2>(in).run();
    return Solver<4>(in).run();
}

template <template <int> class Solver>
std::size_t count(const KernelInput& in) {
    KernelInput dry = in;
    dry.workspace = nullptr;
    return in.n_sums == 2 ? Solver<2>(dry).arena.used : Solver<4>(dry).arena.used;
}

std::size_t workspace(const KernelInput& in, int depth) {
    if (depth == 1) return count<DepthOne>(in);
    return depth == 2 ? count<DepthTwo>(in) : count<DepthThree>(in);
}

void gains(const double* events, const double* hazard, double* out, int n) {
    for (int k = 0; k < n; k += lanes) store(out + k, gain(load(events + k), load(hazard + k)));
}

}  // namespace

#define SURTREE_STRING(name) #name
#define SURTREE_NAME(name) SURTREE_STRING(name)
extern const Kernels table;
const Kernels table = {
    SURTREE_NAME(SURTREE_ISA), {run<DepthOne>, run<DepthTwo>, run<DepthThree>}, workspace, gains};

}  // namespace surtree::SURTREE_ISA
