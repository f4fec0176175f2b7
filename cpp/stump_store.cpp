#include "stump_store.hpp"

#include <algorithm>

#include "profile.hpp"

namespace surtree {
namespace {

constexpr std::size_t most_stumps = std::size_t{1} << 22;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Two columns that are swept at the same time find the same stumps, and both write them.
double get(const double& stump) {
    return std::atomic_ref(const_cast<double&>(stump)).load(std::memory_order_relaxed);
}
void set(double& stump, double value) { std::atomic_ref(stump).store(value, std::memory_order_relaxed); }

// The side of the whole column that a side of one of its axes is a part of.
int whole_side(const Column& column, const Axis& axis, int side) {
    const int cut = axis.cut_of[at(side % axis.n_cuts)] - column.first_cut;
    return side < axis.n_cuts ? cut : cut + column.n_cuts;
}

}  // namespace

StumpStore::StumpStore(const std::vector<Column>& columns) : columns_(columns), finished_(columns.size()) {
    const std::size_t n = columns.size();
    std::size_t size = 0;
    first_.assign(n * n * n, 0);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b)
            for (std::size_t c = b + 1; c < n; ++c) {
                first_[(a * n + b) * n + c] = size;
                size += 8 * at(columns[a].n_cuts) * at(columns[b].n_cuts) * at(columns[c].n_cuts);
            }
    if (size <= most_stumps) stumps_.assign(size, infeasible);
}

std::vector<bool> StumpStore::swept() const { return {finished_.begin(), finished_.end()}; }

StumpStore::Plane StumpStore::plane(int a, int side, int b, int c) {
    int sorted[3] = {a, b, c};
    std::sort(sorted, sorted + 3);
    const std::size_t n = columns_.size();
    const auto sides = [&](int k) { return 2 * at(columns_[at(sorted[k])].n_cuts); };
    const auto stride = [&](int column) {
        return column == sorted[2] ? 1 : column == sorted[1] ? sides(2) : sides(1) * sides(2);
    };
    double* first = stumps_.data() + first_[(at(sorted[0]) * n + at(sorted[1])) * n + at(sorted[2])];
    return {first + at(side) * stride(a), stride(b), stride(c)};
}

bool StumpStore::knows(const Side& side, int b, int c) {
    return b != side.column && c != side.column && (side.swept[at(b)] || side.swept[at(c)]);
}

void StumpStore::load(const Side& side, const View& b, const View& c, double* to) {
    const Plane from = side.store->plane(side.column, side.side, b.column, c.column);
    const std::vector<Column>& columns = side.store->columns_;
    std::vector<std::size_t> offset(at(c.axis->n_sides));
    for (int t = 0; t < c.axis->n_sides; ++t)
        offset[at(t)] = at(whole_side(columns[at(c.column)], *c.axis, t)) * from.c_stride;
    for (int s = 0; s < b.axis->n_sides; ++s) {
        const double* line = from.first + at(whole_side(columns[at(b.column)], *b.axis, s)) * from.b_stride;
        for (const std::size_t t : offset) *to++ = get(line[t]);
    }
}

void StumpStore::save(const Side& side, const std::vector<View>& views, const FoundStumps& found) {
    // All rows of the side, split once.
    double best = side.leaf;
    for (const View& view : views)
        for (int c = 0; c < view.axis->n_cuts; ++c)
            best = std::max(best, found.leaf[view.place][c] + found.leaf[view.place][view.axis->n_cuts + c]);
    // Of two sides: that of b, or all rows, and that of c, or all rows.
    const auto value = [&](const View& b, int s, const View& c, int t) {
        if (s == Axis::no_rows || t == Axis::no_rows) return infeasible;
        if (s == Axis::all_rows) return t == Axis::all_rows ? best : found.stump[c.place][t];
        if (t == Axis::all_rows) return found.stump[b.place][s];
        return b.place < c.place ? found.pair[b.place * found.n_axes + c.place][s * c.axis->n_sides + t]
                                 : found.pair[c.place * found.n_axes + b.place][t * b.axis->n_sides + s];
    };
    for (std::size_t i = 0; i < views.size(); ++i)
        for (std::size_t j = i + 1; j < views.size(); ++j) {
            const View &b = views[i], &c = views[j];
            if (b.column == side.column || c.column == side.column || knows(side, b.column, c.column))
                continue;
            const Plane to = side.store->plane(side.column, side.side, b.column, c.column);
            for (std::size_t s = 0; s < b.axis->part_of.size(); ++s)
                for (std::size_t t = 0; t < c.axis->part_of.size(); ++t)
                    set(to.first[s * to.b_stride + t * to.c_stride],
                        value(b, b.axis->part_of[s], c, c.axis->part_of[t]));
        }
}

}  // namespace surtree
