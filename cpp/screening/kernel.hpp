// Screening: the best stumps below every two cuts, roughly. What is far from the best there need not be
// solved in double precision.
//
// As in lanes.hpp, all sums and gains are of whole vectors: each lane has a pair of columns (k, i) of the
// same kinds, and a triple is such a pair with one more column j. Lanes are then full, whatever the number of
// columns. Sums are whole numbers of 31 bits, two of them added up as one number of 64, so that differences
// are exact and the gain alone is rough.
#pragma once

#include "kernel/tables.hpp"

#ifdef SURTREE_VECTOR_EXTENSIONS
namespace surtree::SURTREE_ISA {
namespace {

// The low words of two vectors of pairs, and the high ones; and a vector of words, one from each in turn,
// from the first halves, and from the last halves.
#if SURTREE_LANES == 8
inline Ints low_words(Ints a, Ints b) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
inline Ints high_words(Ints a, Ints b) {
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
inline Floats zip_first(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Floats zip_last(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#elif SURTREE_LANES == 4
inline Ints low_words(Ints a, Ints b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14); }
inline Ints high_words(Ints a, Ints b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15); }
inline Floats zip_first(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
inline Floats zip_last(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#else
inline Ints low_words(Ints a, Ints b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6); }
inline Ints high_words(Ints a, Ints b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7); }
inline Floats zip_first(Floats a, Floats b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline Floats zip_last(Floats a, Floats b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

// Transposes a square of floats: each round moves one bit of the place from the vector's number to the
// lane's.
inline void transpose(Floats (&v)[short_lanes]) {
    for (int n = 1; n < short_lanes; n *= 2) {
        Floats w[short_lanes];
        for (int p = 0; p < lanes; ++p) {
            w[2 * p] = zip_first(v[p], v[p + lanes]);
            w[2 * p + 1] = zip_last(v[p], v[p + lanes]);
        }
        for (int p = 0; p < short_lanes; ++p) v[p] = w[p];
    }
}

// The lines of an axis (see CutLine).
struct CutLines {
    const KernelAxis& axis;
    const CutLine* of_cut;
    int n;

    int all() const { return axis.last_bin - 1; }
    int line(int cut) const { return of_cut[cut].line; }

    // The side of a cut with the sums of its line, or the other one.
    int side_of(int cut, int other) const { return cut + (of_cut[cut].side ^ other) * axis.n_cuts; }

    // Adds up the lines beyond those of bins, each of so many numbers.
    void complete(int* lines, int size) const {
        for (int cut = 0; n > axis.last_bin && cut < axis.n_cuts; ++cut) {
            if (line(cut) < axis.last_bin) continue;
            int* const out = lines + area(line(cut), size);
            fill(out, area(1, size), 0);
            for (int u = axis.run_begin[cut]; u < axis.run_begin[cut + 1]; ++u) {
                const Run& run = axis.runs[u];
                const int* const high = lines + area(run.last - 1, size);
                const bool from_start = run.first <= axis.first_bin;
                const int* const low = from_start ? high : lines + area(run.first - 1, size);
                for (int at = 0; at < size; at += short_lanes)
                    store(out + at,
                          load(out + at) + load(high + at) - (from_start ? Ints{} : load(low + at)));
            }
        }
    }
};

template <class Leaf>
struct Screen {
    static constexpr int Width = Leaf::width, n_counts = Leaf::n_counts, n_packed = Width / 2;
    static constexpr int vectors = Width * short_lanes;  // the numbers of one cell
    static constexpr float least_gain = -1e30f;          // less than that of any leaf; finite, also in sums

    using Gain = typename Leaf::Objective::Rough;

    const ScreenInput& in;
    Arena arena;
    const Gain gain;
    Ints least[n_counts > 0 ? n_counts : 1];
    const CutLines k, i;                 // of the first lane
    const int line_i, line_k;            // numbers of all lines of i; and of k and i
    std::uint16_t* cell_of;              // rows x lanes: the number in a slab that the row adds to
    long long* slab;                     // of one bin of j, per pair of sums: bins of k x bins of i x lanes
    int* running;                        // of one bin of j: bins of i
    int* sums;                           // lines of j x lines of k x lines of i
    float *best_jk, *best_ji, *best_ki;  // sides x sides x lanes

    explicit Screen(const ScreenInput& input)
        : in(input),
          arena{input.workspace},
          gain(input.prior),
          least{},
          k(lines_of(input.pairs[0])),
          i(lines_of(input.pairs[1])),
          line_i(i.n * vectors),
          line_k(k.n * line_i) {
        for (int c = 0; c < n_counts; ++c) least[c] = broadcast(in.least[c]);
        int lines = 0, sides = 0;
        for (int j = 0; j < in.n_axes; ++j) {
            lines = in.n_lines[j] > lines ? in.n_lines[j] : lines;
            sides = in.axes[j].n_sides > sides ? in.axes[j].n_sides : sides;
        }
        const int n_k = k.axis.n_sides, n_i = i.axis.n_sides;
        cell_of = arena.take_of<std::uint16_t>(area(in.n_rows, short_lanes));
        slab = arena.take_of<long long>(slab_size() * n_packed);
        running = arena.take_of<int>(area(i.axis.last_bin, vectors));
        sums = arena.take_of<int>(area(lines, line_k));
        best_jk = arena.take_of<float>(area(sides, n_k) * short_lanes);
        best_ji = arena.take_of<float>(area(sides, n_i) * short_lanes);
        best_ki = arena.take_of<float>(area(n_k, n_i) * short_lanes);
    }

    CutLines lines_of(int axis) const { return {in.axes[axis], in.lines[axis], in.n_lines[axis]}; }
    std::size_t slab_size() const { return area(k.axis.last_bin, i.axis.last_bin) * short_lanes; }

    bool run() {
        int last = 0;
        for (int lane = 0; lane < short_lanes; ++lane) {
            const int first = in.pairs[2 * lane];
            last = first > last ? first : last;
            const std::uint16_t *of_k = in.axes[first].bins, *of_i = in.axes[in.pairs[2 * lane + 1]].bins;
            for (int r = 0; r < in.n_rows; ++r)
                cell_of[area(r, short_lanes) + lane] =
                    static_cast<std::uint16_t>((of_k[r] * i.axis.last_bin + of_i[r]) * short_lanes + lane);
        }
        fill(slab, slab_size() * n_packed, 0);
        fill(best_ki, area(k.axis.n_sides, i.axis.n_sides) * short_lanes, least_gain);
        for (int j = 0; j < last; ++j) {
            const CutLines lines = lines_of(j);
            add_up(j, lines);
            evaluate(lines);
            float *to_jk[short_lanes], *to_ji[short_lanes];
            for (int lane = 0; lane < short_lanes; ++lane) {
                const int of_k = in.pairs[2 * lane], of_i = in.pairs[2 * lane + 1];
                const bool is_new = j < of_k;  // else the column twice, or a triple of other lanes
                to_jk[lane] = is_new ? in.best[j * in.n_axes + of_k] : nullptr;
                to_ji[lane] = is_new ? in.best[j * in.n_axes + of_i] : nullptr;
            }
            save(best_jk, area(lines.axis.n_sides, k.axis.n_sides), to_jk);
            save(best_ji, area(lines.axis.n_sides, i.axis.n_sides), to_ji);
            if (is_raised(in.stop)) return false;
        }
        float* to_ki[short_lanes];
        for (int lane = 0; lane < short_lanes; ++lane)
            to_ki[lane] = in.best[in.pairs[2 * lane] * in.n_axes + in.pairs[2 * lane + 1]];
        save(best_ki, area(k.axis.n_sides, i.axis.n_sides), to_ki);
        return true;
    }

    // Sums over lines of j, k and i.
    void add_up(int j, const CutLines& lines) const {
        const int* const order = in.order + area(j, in.n_rows);
        const int* const begin = in.begin + area(j, in.max_bins + 1);
        for (int bin = lines.axis.first_bin; bin < lines.axis.last_bin; ++bin) {
            for (int r = begin[bin]; r < begin[bin + 1]; ++r) {
                constexpr int ahead = 8;
                if (r + ahead < in.n_rows) prefetch_memory(cell_of + area(order[r + ahead], short_lanes));
                add_row(order[r]);
            }
            fill(running, area(i.axis.last_bin, vectors), 0);
            int* const here = sums + area(bin, line_k);
            for (int of_k = k.axis.first_bin; of_k < k.axis.last_bin; ++of_k) {
                int* const to = here + area(of_k, line_i);
                take_line(of_k, bin > lines.axis.first_bin ? to - line_k : nullptr, to);
                i.complete(to, vectors);
            }
            k.complete(here, line_i);
        }
        lines.complete(sums, line_k);
    }

    void add_row(int r) const {
        const std::uint16_t* const cell = cell_of + area(r, short_lanes);
        for (int p = 0; p < n_packed; ++p) {
            const long long both = in.packed[area(p, in.n_rows) + r];
            long long* const to = slab + static_cast<std::size_t>(p) * slab_size();
            for (int lane = 0; lane < short_lanes; ++lane) to[cell[lane]] += both;
        }
    }

    // From a line of the slab, which is cleared, to running sums over bins of i, of k, and of j, given those
    // before this bin of j. Of two sums in one number, the first is in the high half.
    void take_line(int of_k, const int* before, int* to) const {
        for (int p = 0; p < n_packed; ++p) {
            Ints high{}, low{};
            for (int bin = i.axis.first_bin; bin < i.axis.last_bin; ++bin) {
                int* const words = reinterpret_cast<int*>(slab + static_cast<std::size_t>(p) * slab_size() +
                                                          area(of_k * i.axis.last_bin + bin, short_lanes));
                const Ints a = load(words), b = load(words + short_lanes);
                store(words, Ints{});
                store(words + short_lanes, Ints{});
                high += high_words(a, b);
                low += low_words(a, b);
                const std::size_t at = area(bin, vectors) + 2 * p * short_lanes;
                const auto add = [&](std::size_t place, Ints value) {
                    value += load(running + place);
                    store(running + place, value);
                    store(to + place, before ? value + load(before + place) : value);
                };
                add(at, high);
                add(at + short_lanes, low);
            }
        }
    }

    void evaluate(const CutLines& j) const {
        const int* const all_j = sums + area(j.all(), line_k);
        const std::size_t all_k = area(k.all(), line_i);
        for (int cut_j = 0; cut_j < j.axis.n_cuts; ++cut_j) {
            const int* const of_j = sums + area(j.line(cut_j), line_k);
            float* lines_ji[2];
            for (int s = 0; s < 2; ++s) {
                lines_ji[s] = best_ji + area(j.side_of(cut_j, s), i.axis.n_sides) * short_lanes;
                fill(lines_ji[s], area(i.axis.n_sides, short_lanes), least_gain);
            }
            for (int cut_k = 0; cut_k < k.axis.n_cuts; ++cut_k) {
                const std::size_t of_k = area(k.line(cut_k), line_i);
                float* lines_ki[2];
                for (int t = 0; t < 2; ++t)
                    lines_ki[t] = best_ki + area(k.side_of(cut_k, t), i.axis.n_sides) * short_lanes;
                Floats cells[2][2];
                evaluate_pair({of_j + of_k, of_j + all_k, all_j + of_k, all_j + all_k}, lines_ji, lines_ki,
                              cells);
                for (int s = 0; s < 2; ++s)
                    for (int t = 0; t < 2; ++t)
                        store(best_jk + area(j.side_of(cut_j, s) * k.axis.n_sides + k.side_of(cut_k, t),
                                             short_lanes),
                              cells[s][t]);
            }
        }
    }

    struct Sums {
        Ints of[Width];

        static Sums at(const int* from) {
            Sums out;
            for (int c = 0; c < Width; ++c) out.of[c] = load(from + c * short_lanes);
            return out;
        }
        Sums operator-(const Sums& other) const {
            Sums out;
            for (int c = 0; c < Width; ++c) out.of[c] = of[c] - other.of[c];
            return out;
        }
    };

    Floats limited_gain(const Sums& sums) const {
        Floats value = gain(sums.of[0], sums.of[1]);
        for (int c = 0; c < n_counts; ++c) value = sums.of[2 + c] >= least[c] ? value : broadcast(least_gain);
        return value;
    }

    // Lines of i: on one side of the cuts of j and k, on that of j, on that of k, and everywhere.
    struct Lines {
        const int *both, *of_j, *of_k, *all;
    };

    // All cuts of i with one cut of j and one of k: raises the best stumps of a side of i with a side of j or
    // of k, and finds those of a side of j with one of k.
    void evaluate_pair(const Lines& lines, float* const (&lines_ji)[2], float* const (&lines_ki)[2],
                       Floats (&best)[2][2]) const {
        // The intersections of the sides of j and k: per side of j and side of k.
        const auto cells = [&](std::size_t at, Sums(&out)[2][2]) {
            const Sums both = Sums::at(lines.both + at), of_j = Sums::at(lines.of_j + at);
            out[0][0] = both;
            out[0][1] = of_j - both;
            out[1][0] = Sums::at(lines.of_k + at) - both;
            out[1][1] = Sums::at(lines.all + at) - of_j - out[1][0];
        };
        Sums total[2][2];
        cells(area(i.all(), vectors), total);
        for (auto& line : best)
            for (Floats& value : line) value = broadcast(least_gain);
        for (int cut = 0; cut < i.axis.n_cuts; ++cut) {
            Sums holds[2][2];
            cells(area(i.line(cut), vectors), holds);
            Floats gains[2][2][2];  // per side of i, j and k
            for (int s = 0; s < 2; ++s)
                for (int t = 0; t < 2; ++t) {
                    gains[0][s][t] = limited_gain(holds[s][t]);
                    gains[1][s][t] = limited_gain(total[s][t] - holds[s][t]);
                    best[s][t] = larger(best[s][t], gains[0][s][t] + gains[1][s][t]);
                }
            for (int u = 0; u < 2; ++u) {
                const std::size_t side = area(i.side_of(cut, u), short_lanes);
                for (int s = 0; s < 2; ++s) {
                    raise_to(lines_ji[s] + side, gains[u][s][0] + gains[u][s][1]);
                    raise_to(lines_ki[s] + side, gains[u][0][s] + gains[u][1][s]);
                }
            }
        }
    }

    static void raise_to(float* to, Floats value) { store(to, larger(load(to), value)); }

    // Raises the n stumps of each lane's pair of columns, if it has one, to what the lane has found.
    static void save(const float* from, std::size_t n, float* const (&to)[short_lanes]) {
        std::size_t s = 0;
        for (; s + short_lanes <= n; s += short_lanes) {
            Floats square[short_lanes];
            for (int p = 0; p < short_lanes; ++p) square[p] = load(from + (s + p) * short_lanes);
            transpose(square);
            for (int lane = 0; lane < short_lanes; ++lane)
                if (to[lane]) raise_to(to[lane] + s, square[lane]);
        }
        for (; s < n; ++s)
            for (int lane = 0; lane < short_lanes; ++lane)
                if (to[lane]) to[lane][s] = larger(to[lane][s], from[s * short_lanes + lane]);
    }
};

}  // namespace
}  // namespace surtree::SURTREE_ISA
#endif
