#include "rows/rows.hpp"

#include <algorithm>
#include <cmath>

namespace surtree {
namespace {

// The finaliser of the splitmix64 generator: neighbouring numbers in, unrelated ones out.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// For each row the number of its class of identical rows; returns how many classes there are.
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
    std::size_t capacity = 16;
    while (capacity < 2 * problem.n_rows) capacity *= 2;
    std::vector<int> table(capacity, -1);
    std::vector<RowSetHash> seen;
    for (std::size_t r = 0; r < problem.n_rows; ++r) {
        std::size_t slot = content[r].low & (capacity - 1);
        while (table[slot] >= 0 && !(seen[static_cast<std::size_t>(table[slot])] == content[r]))
            slot = (slot + 1) & (capacity - 1);
        if (table[slot] < 0) {
            table[slot] = static_cast<int>(seen.size());
            seen.push_back(content[r]);
        }
        class_of[r] = table[slot];
    }
    return static_cast<int>(seen.size());
}

// The finest power of two for which the total stays exact in double precision.
double finest_grid(const Problem& problem) {
    double events = 0, hazard = 0;
    for (std::size_t r = 0; r < problem.n_rows; ++r) {
        events += problem.events[r];
        hazard += problem.hazard[r];
    }
    // Each row rounds to at least one unit of hazard: room for that as well.
    const double total = std::max(events, hazard);
    int exponent = 0;
    std::frexp(total > 0 ? total : 1.0, &exponent);
    return std::ldexp(1.0, exponent - 51);
}

// A row in units of the grid, and what a tree may gain beyond that.
struct Units {
    double events, hazard, slack = 0;
};

// A row with events needs some hazard.
Units rounded_to_nearest(const Problem& problem, std::size_t row, double grid) {
    return {std::nearbyint(problem.events[row] / grid),
            std::max(1.0, std::nearbyint(problem.hazard[row] / grid))};
}

// A row of less than a unit of hazard is left out. Since g is convex and homogeneous, no leaf gains more by
// it than it would by itself.
Units rounded_down(const Problem& problem, std::size_t row, double grid) {
    const double events = problem.events[row] / grid, hazard = problem.hazard[row] / grid;
    if (hazard >= 1) return {std::nearbyint(events), std::floor(hazard)};
    return {0, 0, events > hazard ? events * std::log(events / hazard) : 0};
}

// The chosen rows without their hashes, in the order of the choice.
void copy_rows(const RowSet& from, int n_columns, int n_sums, const int* chosen, int n, RowSet& out) {
    const auto n_out = static_cast<std::size_t>(n), width = static_cast<std::size_t>(n_sums);
    out.n = n;
    out.bins.resize(static_cast<std::size_t>(n_columns) * n_out);
    out.sums.resize(n_out * width);
    for (int c = 0; c < n_columns; ++c) {
        const std::uint16_t* column = from.column(c);
        std::uint16_t* to = out.bins.data() + static_cast<std::size_t>(c) * n_out;
        for (std::size_t k = 0; k < n_out; ++k) to[k] = column[chosen[k]];
    }
    for (std::size_t k = 0; k < n_out; ++k) {
        const auto r = static_cast<std::size_t>(chosen[k]);
        for (std::size_t c = 0; c < width; ++c) out.sums[k * width + c] = from.sums[r * width + c];
    }
}

}  // namespace

RowSetHash hash_of_row(std::size_t row) { return {mix(2 * row), mix(2 * row + 1)}; }

Rows merge_rows(const Problem& problem, bool limited, bool merge) {
    std::vector<int> class_of;
    const int n = classify(problem, merge, class_of);
    Rows rows;
    rows.n_sums = limited ? 4 : 2;
    rows.grid = finest_grid(problem);
    const auto width = static_cast<std::size_t>(rows.n_sums);
    RowSet& all = rows.all;
    all.n = n;
    all.bins.resize(problem.n_columns * static_cast<std::size_t>(n));
    all.sums.assign(static_cast<std::size_t>(n) * width, 0.0);
    all.hashes.resize(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < all.hashes.size(); ++k) all.hashes[k] = hash_of_row(k);
    for (std::size_t c = 0; c < problem.n_columns; ++c) {
        const std::uint16_t* from = problem.bins + c * problem.n_rows;
        std::uint16_t* to = all.bins.data() + c * static_cast<std::size_t>(n);
        for (std::size_t r = 0; r < problem.n_rows; ++r) to[class_of[r]] = from[r];
    }
    for (std::size_t r = 0; r < problem.n_rows; ++r) {
        double* sums = all.sums.data() + static_cast<std::size_t>(class_of[r]) * width;
        const Units units = problem.round_down ? rounded_down(problem, r, rows.grid)
                                               : rounded_to_nearest(problem, r, rows.grid);
        sums[0] += units.events;
        sums[1] += units.hazard;
        rows.slack += units.slack;
        if (!limited) continue;
        sums[2] += 1.0;
        sums[3] += problem.has_event[r] ? 1.0 : 0.0;
    }
    return rows;
}

void take_rows(const RowSet& parent, int n_columns, int n_sums, int column, const ColumnRegions& axis,
               int region, RowSet& out) {
    std::vector<std::uint8_t> inside(static_cast<std::size_t>(axis.last_bin), 0);
    for (int u = axis.run_begin[static_cast<std::size_t>(region)];
         u < axis.run_begin[static_cast<std::size_t>(region) + 1]; ++u)
        for (int b = axis.runs[static_cast<std::size_t>(u)].first;
             b < axis.runs[static_cast<std::size_t>(u)].last; ++b)
            inside[static_cast<std::size_t>(b)] = 1;
    thread_local std::vector<int> chosen;
    chosen.resize(static_cast<std::size_t>(parent.n));
    int n = 0;
    const std::uint16_t* bins = parent.column(column);
    for (int r = 0; r < parent.n; ++r) {
        chosen[static_cast<std::size_t>(n)] = r;
        n += inside[bins[r]];
    }
    copy_rows(parent, n_columns, n_sums, chosen.data(), n, out);
    out.hashes.resize(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < out.hashes.size(); ++k)
        out.hashes[k] = parent.hashes[static_cast<std::size_t>(chosen[k])];
}

void sort_rows(const RowSet& rows, int n_columns, int n_sums, int column, int n_bins, std::vector<int>& begin,
               RowSet& out) {
    const std::uint16_t* bins = rows.column(column);
    begin.assign(static_cast<std::size_t>(n_bins) + 1, 0);
    for (int r = 0; r < rows.n; ++r) ++begin[static_cast<std::size_t>(bins[r]) + 1];
    for (std::size_t b = 0; b < static_cast<std::size_t>(n_bins); ++b) begin[b + 1] += begin[b];
    thread_local std::vector<int> order, next;
    order.resize(static_cast<std::size_t>(rows.n));
    next = begin;
    for (int r = 0; r < rows.n; ++r) order[static_cast<std::size_t>(next[bins[r]]++)] = r;
    copy_rows(rows, n_columns, n_sums, order.data(), rows.n, out);
}

}  // namespace surtree
