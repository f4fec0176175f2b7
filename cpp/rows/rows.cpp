#include "rows/rows.hpp"

#include <algorithm>
#include <cmath>

#include "rows/flat_map.hpp"

namespace surtree {
namespace {

constexpr double tie_tolerance = 1e-12;  // of the scale of gains

// The finaliser of the splitmix64 generator.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// Numbers the classes of identical rows, by a 128-bit hash of their bins. Returns the number of classes.
int classify(const Problem& problem, bool merge, std::vector<int>& class_of) {
    class_of.resize(problem.n_rows);
    if (!merge) {
        for (std::size_t r = 0; r < problem.n_rows; ++r) class_of[r] = static_cast<int>(r);
        return static_cast<int>(problem.n_rows);
    }
    std::vector<RowSetHash> content(problem.n_rows);
    for (std::size_t c = 0; c < problem.n_columns; ++c) {
        const std::uint16_t* column = problem.bins + c * problem.n_rows;
        for (std::size_t r = 0; r < problem.n_rows; ++r) {
            content[r].low = mix(content[r].low ^ column[r]);
            content[r].high = mix(content[r].high + 0x632be59bd9b4e019ULL * (column[r] + 1ULL));
        }
    }
    FlatMap<RowSetHash, int> classes;
    int n_classes = 0;
    for (std::size_t r = 0; r < problem.n_rows; ++r) {
        if (!classes.has_room()) classes.grow();
        class_of[r] = classes.insert(content[r], n_classes);
        n_classes += class_of[r] == n_classes;
    }
    return n_classes;
}

// Adds a channel of a row, in units of the grid, and returns its slack. If exposures are rounded down, a
// channel of less than one unit is left out: no leaf gains more by it than the row would gain as a leaf of
// its own.
double add_channel(const Problem& problem, std::size_t row, int first, int last, double grid, double* to) {
    const int exposure = first + problem.objective->exposure;
    double units[LeafValue::max_width] = {};
    for (int c = first; c < last; ++c) units[c] = problem.sums[at(c) * problem.n_rows + row] / grid;
    if (problem.round_down && units[exposure] < 1) return problem.objective->saturated_exactly(units + first);
    for (int c = first; c < last; ++c) {
        const bool down = problem.round_down && c == exposure;
        const double rounded = down ? std::floor(units[c]) : std::nearbyint(units[c]);
        to[c] += c == exposure ? std::max(1.0, rounded) : rounded;
    }
    return 0;
}

// Copies the chosen rows in the given order, without hashes.
void copy_rows(const RowSet& from, const std::vector<int>& chosen, std::size_t n, RowSet& out) {
    const std::size_t width = at(from.width);
    out.n = static_cast<int>(n);
    out.n_columns = from.n_columns;
    out.width = from.width;
    out.bins.resize(at(from.n_columns) * n);
    out.sums.resize(n * width);
    for (int c = 0; c < from.n_columns; ++c) {
        const std::uint16_t* column = from.column(c);
        std::uint16_t* to = out.bins.data() + at(c) * n;
        for (std::size_t k = 0; k < n; ++k) to[k] = column[chosen[k]];
    }
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t c = 0; c < width; ++c)
            out.sums[k * width + c] = from.sums[at(chosen[k]) * width + c];
}

}  // namespace

void SumRoundedUp::add(double value) {
    const double whole = std::floor(value / coarse);
    parts_[0] += whole;
    parts_[1] += std::ceil((value - whole * coarse) / fine);
    if (parts_[1] * fine < coarse) return;
    parts_[0] += 1;
    parts_[1] -= coarse / fine;
}

double add_row(const Problem& problem, const LeafValue& leaf, std::size_t row, double* to) {
    const int n_sums = problem.objective->n_sums, size = n_sums / problem.objective->n_channels;
    double slack = 0;
    for (int first = 0; first < n_sums; first += size)
        slack += add_channel(problem, row, first, first + size, problem.grid, to);
    for (std::size_t c = 0; c < leaf.counted().size(); ++c)
        to[at(n_sums) + c] += problem.counts[leaf.counted()[c] * problem.n_rows + row];
    return slack;
}

double tie_of(double scale) { return tie_tolerance * scale; }

double a_little_less(double gain, double scale) { return gain - 1e-9 * (scale + std::abs(gain)); }

RowSetHash hash_of_row(std::size_t row) { return {mix(2 * row), mix(2 * row + 1)}; }

Rows merge_rows(const Problem& problem, const Limits& limits, bool merge) {
    std::vector<int> class_of;
    const int n = classify(problem, merge, class_of);
    const double grid = problem.grid;
    Rows rows{{}, LeafValue(problem, limits, grid), grid};
    const std::size_t width = at(rows.leaf.width());
    RowSet& all = rows.all;
    all.n = n;
    all.n_columns = static_cast<int>(problem.n_columns);
    all.width = rows.leaf.width();
    all.bins.resize(problem.n_columns * at(n));
    all.sums.assign(at(n) * width, 0.0);
    for (std::size_t k = 0; k < at(n); ++k) all.hashes.push_back(hash_of_row(k));
    for (std::size_t c = 0; c < problem.n_columns; ++c) {
        const std::uint16_t* from = problem.bins + c * problem.n_rows;
        std::uint16_t* to = all.bins.data() + c * at(n);
        for (std::size_t r = 0; r < problem.n_rows; ++r) to[class_of[r]] = from[r];
    }
    double light[SumRoundedUp::size] = {};
    SumRoundedUp slack(light);
    for (std::size_t r = 0; r < problem.n_rows; ++r)
        slack.add(add_row(problem, rows.leaf, r, all.sums.data() + at(class_of[r]) * width));
    rows.slack = slack.total();
    const std::vector<double> totals = sum_rows(all);
    rows.scale = problem.objective->scale(totals.data());
    rows.tie = tie_of(rows.scale);
    rows.has_light_rows = problem.round_down;
    return rows;
}

RowSetHash hash_of(const RowSet& rows) {
    RowSetHash hash;
    for (const RowSetHash& row : rows.hashes) hash = hash + row;
    return hash;
}

std::vector<double> sum_rows(const RowSet& rows) {
    std::vector<double> out(at(rows.width), 0.0);
    const double* sums = rows.sums.data();
    for (int r = 0; r < rows.n; ++r)
        for (double& total : out) total += *sums++;
    return out;
}

void take_rows(const RowSet& parent, const Column& column, int region, RowSet& out) {
    std::vector<std::uint8_t> inside(at(column.n_bins), 0);
    for (const Run& run : column.whole().runs_of(region))
        for (int b = run.first; b < run.last; ++b) inside[at(b)] = 1;
    thread_local std::vector<int> chosen;
    chosen.resize(at(parent.n));
    std::size_t n = 0;
    const std::uint16_t* bins = parent.column(column.index);
    for (int r = 0; r < parent.n; ++r) {
        chosen[n] = r;
        n += inside[bins[r]];
    }
    copy_rows(parent, chosen, n, out);
    out.hashes.resize(n);
    for (std::size_t k = 0; k < n; ++k) out.hashes[k] = parent.hashes[at(chosen[k])];
}

void sort_rows(const RowSet& rows, int column, int n_bins, std::vector<int>& begin, RowSet& out) {
    const std::uint16_t* bins = rows.column(column);
    begin.assign(at(n_bins) + 1, 0);
    for (int r = 0; r < rows.n; ++r) ++begin[std::size_t{bins[r]} + 1];
    for (std::size_t b = 0; b < at(n_bins); ++b) begin[b + 1] += begin[b];
    thread_local std::vector<int> order, next;
    order.resize(at(rows.n));
    next = begin;
    for (int r = 0; r < rows.n; ++r) order[at(next[bins[r]]++)] = r;
    copy_rows(rows, order, at(rows.n), out);
}

}  // namespace surtree
