// Random small problems, and what their trees are worth by definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "check.hpp"
#include "kernel/kernels.hpp"
#include "problem.hpp"

namespace surtree::testing {

// Numbers that are zero are drawn.
struct Shape {
    int n_rows = 0, n_columns = 0, n_bins = 0;
    int most_rows = 21, most_bins = 4;
    bool weighted = true;
    bool alike = false;  // all columns ordered, nothing missing
};

struct Example {
    std::vector<std::uint16_t> bins;
    std::vector<double> sums;    // events of all rows, then their hazards
    std::vector<double> counts;  // ones, then events
    std::vector<std::uint8_t> has_event;
    int min_samples = 1, min_events = 0;
    Problem problem;
    Limits limits;

    explicit Example(unsigned seed, const Shape& shape = {}) {
        std::mt19937 random(seed);
        const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
        const int n = shape.n_rows ? shape.n_rows : 2 + below(shape.most_rows - 1);
        const int p = shape.n_columns ? shape.n_columns : 1 + below(4);
        for (int c = 0; c < p; ++c) {
            const int q = shape.n_bins ? shape.n_bins : 2 + below(shape.most_bins - 1);
            const bool missing = below(3) == 0 && !shape.alike, nominal = below(2) == 0 && !shape.alike;
            problem.n_bins.push_back(q + missing);
            problem.missing_bin.push_back(missing ? q : -1);
            for (int b = nominal ? 0 : 1; b < q; ++b) {
                const int last = nominal ? b : q - 1;
                problem.cuts.push_back({c, b, last, false});
                if (missing) problem.cuts.push_back({c, b, last, true});
            }
            if (nominal && q < 10)  // sets of two categories with one between them
                for (int b = 0; b + 2 < q; b += 2)
                    problem.cuts.push_back({c, b, b + 2, missing, false, 1ULL << (b + 1)});
            if (missing) problem.cuts.push_back({c, q, q, true});
            for (int r = 0; r < n; ++r) bins.push_back(static_cast<std::uint16_t>(below(q + missing)));
        }
        std::vector<double> events, hazard;
        for (int r = 0; r < n; ++r) {
            const double weight = shape.weighted ? 1 + below(3) : 1;
            has_event.push_back(below(2) == 0);
            events.push_back(has_event.back() ? weight : 0);
            // Not whole numbers of any power of two: sums are not exact by accident.
            hazard.push_back(weight * (1 + below(20)) / 7.0);
        }
        sums = events;
        sums.insert(sums.end(), hazard.begin(), hazard.end());
        problem.n_rows = static_cast<std::size_t>(n);
        problem.n_columns = static_cast<std::size_t>(p);
        problem.bins = bins.data();
        problem.objective = find_kernels("relative_risk");
        problem.parameters = {below(3) == 0 ? 0.3 * (1 + below(10)) : 0.0};
        problem.sums = sums.data();
        set_grid();
        counts.assign(problem.n_rows, 1.0);
        counts.insert(counts.end(), has_event.begin(), has_event.end());
        problem.counts = counts.data();
        const int depth = below(problem.cuts.size() < 8 ? 5 : 4), splits = below(1 << depth);
        const int samples = below(2) == 0 ? 1 + below(4) : 1;
        set_limits(depth, splits, samples, below(2) == 0 ? below(3) : 0);
    }

    Example(const Example&) = delete;  // the problem points to the vectors

    void set_limits(int depth, int splits, int samples = 1, int events = 0) {
        min_samples = samples;
        min_events = events;
        limits = {depth, splits, {samples > 1 ? samples : 0.0, static_cast<double>(events)}};
    }

    // The finest one. To be called where sums were changed.
    void set_grid() {
        double most = 0;
        for (auto first = sums.begin(); first != sums.end(); first += n_rows())
            most = std::max(most, std::accumulate(first, first + n_rows(), 0.0));
        int exponent = 0;
        std::frexp(most, &exponent);
        problem.grid = std::ldexp(1.0, exponent - 51);
    }
    std::ptrdiff_t n_rows() const { return static_cast<std::ptrdiff_t>(problem.n_rows); }

    double& events(std::size_t row) { return sums[row]; }
    double& hazard(std::size_t row) { return sums[problem.n_rows + row]; }

    using Rows = std::vector<std::size_t>;

    Rows all() const {
        Rows rows(problem.n_rows);
        std::iota(rows.begin(), rows.end(), std::size_t{0});
        return rows;
    }

    bool holds(const Cut& cut, std::size_t row) const {
        const int bin = bins[at(cut.column) * problem.n_rows + row];
        return (bin >= cut.first && bin <= cut.last && !(cut.gaps >> (bin & 63) & 1)) ||
               (cut.missing && bin == problem.missing_bin[at(cut.column)]);
    }

    Rows side(const Rows& rows, const Cut& cut, bool wanted) const {
        Rows out;
        for (const std::size_t r : rows)
            if (holds(cut, r) == wanted) out.push_back(r);
        return out;
    }

    double leaf(const Rows& rows, bool is_root) const {
        double e = problem.parameters[0], h = e;
        int n_events = 0;
        for (const std::size_t r : rows) {
            e += sums[r];
            h += sums[problem.n_rows + r];
            n_events += has_event[r];
        }
        const bool allowed = static_cast<int>(rows.size()) >= min_samples && n_events >= min_events;
        if (!allowed && !is_root) return -INFINITY;
        return e > 0 ? e * std::log(e / h) : 0;
    }

    // The best gain with at most so many splits, by trying all trees.
    double best(const Rows& rows, int depth, int splits, bool is_root = true) const {
        double value = leaf(rows, is_root);
        if (depth == 0 || splits == 0 || (!is_root && value == -INFINITY)) return value;
        for (const Cut& cut : problem.cuts) {
            const Rows yes = side(rows, cut, true), no = side(rows, cut, false);
            if (yes.empty() || no.empty()) continue;
            for (int i = 0; i < splits; ++i)
                value = std::max(value,
                                 best(yes, depth - 1, i, false) + best(no, depth - 1, splits - 1 - i, false));
        }
        return value;
    }

    // The gain of a tree: minus infinity where it breaks a limit. Splits are counted.
    double gain(const Tree& tree, int& splits) const { return gain(tree, 0, all(), 0, splits); }

    double gain(const Tree& tree, int node, const Rows& rows, int depth, int& splits) const {
        if (tree.cut[at(node)] < 0) return leaf(rows, depth == 0);
        if (depth == limits.max_depth) return -INFINITY;
        ++splits;
        const Cut& cut = problem.cuts[at(tree.cut[at(node)])];
        return gain(tree, tree.left[at(node)], side(rows, cut, false), depth + 1, splits) +
               gain(tree, tree.right[at(node)], side(rows, cut, true), depth + 1, splits);
    }
};

inline double tolerance(double gain) { return 1e-9 * std::max(1.0, std::abs(gain)); }
inline bool close(double a, double b) { return std::abs(a - b) <= tolerance(a); }

}  // namespace surtree::testing
