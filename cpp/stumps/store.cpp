#include "stumps/store.hpp"

#include <algorithm>

#include "search/profile.hpp"

namespace surtree {
namespace {

constexpr std::size_t cleared_at_once = std::size_t{1} << 20;  // stumps: a few milliseconds

// Atomic: two columns that are swept at the same time may both store the same stumps.
double get(const double& stump) {
    return std::atomic_ref(const_cast<double&>(stump)).load(std::memory_order_relaxed);
}
void set(double& stump, double value) { std::atomic_ref(stump).store(value, std::memory_order_relaxed); }

// The side of the whole column with the same cut as a side of `axis`.
std::size_t whole_side(const Column& column, const ColumnRegions& axis, int side) {
    const int cut = axis.cut_of[at(side % axis.n_cuts)] - column.first_cut;
    return at(side < axis.n_cuts ? cut : cut + column.n_cuts);
}

}  // namespace

StumpStore::StumpStore(const Columns& columns, std::size_t most_stumps)
    : columns_(columns), place_(at(columns.size()), -1), finished_(at(columns.size())) {
    // Stumps below two cuts of one column are stored by region. A kernel that sees only the rows of the first
    // cut must know that region as a side: `within` must keep exactly the cuts that divide them.
    if (!std::all_of(columns.begin(), columns.end(), [](auto& c) { return c.within_is_exact(); })) return;
    for (const Column& column : columns)
        if (column.n_cuts > 0) order_.push_back(column.index);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return columns[a].n_cuts < columns[b].n_cuts; });
    const std::size_t n_columns = at(columns.size()), n = order_.size();
    for (std::size_t place = 0; place < n; ++place) place_[at(order_[place])] = static_cast<int>(place);
    if (n < 3) return;  // they have little to share
    std::size_t size = 0;
    first_.assign(n_columns * n_columns * n_columns, 0);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b)
            for (std::size_t c = b + 1; c < n; ++c) {
                first(order_[a], order_[b], order_[c]) = size;
                size += n_sides(order_[a]) * n_sides(order_[b]) * n_sides(order_[c]);
            }
    first_of_two_.assign(n_columns * n_columns, 0);
    for (const int a : order_)
        for (const int b : order_) {
            if (a == b) continue;
            first_of_two_[at(a) * n_columns + at(b)] = size;
            size += at(columns[a].whole().n_regions) * n_sides(b);
        }
    if (size > most_stumps) return;
    n_stumps_ = size;
    stumps_.reset(new double[size]);  // touched by whoever clears it
    if (size > few_stumps) return;
    for (int part = 0; part < n_parts_to_clear(); ++part) clear(part);
    finish_clearing();
}

int StumpStore::n_parts_to_clear() const {
    return is_cleared_ ? 0 : static_cast<int>((n_stumps_ + cleared_at_once - 1) / cleared_at_once);
}

void StumpStore::clear(int part) {
    const std::size_t begin = at(part) * cleared_at_once;
    std::fill_n(stumps_.get() + begin, std::min(cleared_at_once, n_stumps_ - begin), infeasible);
}

StumpStore::Part StumpStore::part(int a, int b, int c) {
    return {stumps_.get() + first(a, b, c), n_sides(a) * n_sides(b) * n_sides(c)};
}

StumpStore::Part StumpStore::part(int a, int b) {
    return {line(a, 0, b), at(columns_[a].whole().n_regions) * n_sides(b)};
}

std::vector<bool> StumpStore::swept() const { return {finished_.begin(), finished_.end()}; }

StumpStore::Plane StumpStore::plane(int a, int side, int b, int c) {
    int sorted[3] = {a, b, c};
    std::sort(sorted, sorted + 3, [&](int x, int y) { return place_[at(x)] < place_[at(y)]; });
    const auto sides = [&](int k) { return n_sides(sorted[k]); };
    const auto stride = [&](int column) {
        return column == sorted[2] ? 1 : column == sorted[1] ? sides(2) : sides(1) * sides(2);
    };
    double* const begin = stumps_.get() + first(sorted[0], sorted[1], sorted[2]);
    return {begin + at(side) * stride(a), stride(b), stride(c)};
}

double* StumpStore::line(int a, int region, int b) {
    return stumps_.get() + first_of_two_[at(a) * at(columns_.size()) + at(b)] + at(region) * n_sides(b);
}

std::vector<int> StumpStore::regions_within(int column, int side) const {
    const ColumnRegions& axis = columns_[column].whole();
    std::vector<int> out{side};
    for (int k = axis.split_begin[at(side)]; k < axis.split_begin[at(side + 1)]; ++k) {
        out.push_back(axis.splits[at(k)].yes);
        out.push_back(axis.splits[at(k)].no);
    }
    return out;
}

// `swept` never contains the current column.
bool StumpStore::knows(const Context& context, int b) { return context.swept[at(b)]; }
bool StumpStore::knows(const Context& context, int b, int c) {
    return knows(context, b) || knows(context, c);
}

void StumpStore::load(const Context& context, const View& b, double* to) {
    for (std::size_t region = 0; region < b.axis->part_of.size(); ++region) {
        const int part = b.axis->part_of[region];
        if (part < 0) continue;
        to[part] = get(context.store->line(b.column, static_cast<int>(region), context.column)[context.side]);
    }
}

void StumpStore::load(const Context& context, const View& b, const View& c, double* to) {
    const auto b_stride = at(c.axis->n_sides);
    if (b.column == context.column) return load_own(context, b, c, b_stride, 1, to);
    if (c.column == context.column) return load_own(context, c, b, 1, b_stride, to);
    const Plane from = context.store->plane(context.column, context.side, b.column, c.column);
    const Columns& columns = context.store->columns_;
    std::vector<std::size_t> offset(at(c.axis->n_sides));
    for (int t = 0; t < c.axis->n_sides; ++t)
        offset[at(t)] = whole_side(columns[c.column], *c.axis, t) * from.c_stride;
    for (int s = 0; s < b.axis->n_sides; ++s) {
        const double* line = from.first + whole_side(columns[b.column], *b.axis, s) * from.b_stride;
        for (const std::size_t t : offset) *to++ = get(line[t]);
    }
}

void StumpStore::load_own(const Context& context, const View& own, const View& other, std::size_t own_stride,
                          std::size_t other_stride, double* to) {
    for (const int region : context.store->regions_within(own.column, context.side)) {
        const int s = own.axis->part_of[at(region)];
        if (s < 0) continue;
        const double* line = context.store->line(own.column, region, other.column);
        const Column& column = context.store->columns_[other.column];
        for (int t = 0; t < other.axis->n_sides; ++t)
            to[at(s) * own_stride + at(t) * other_stride] = get(line[whole_side(column, *other.axis, t)]);
    }
}

void StumpStore::save(const Context& context, const std::vector<View>& views, const FoundStumps& found) {
    // The stump of all rows of the side.
    double best = context.leaf;
    for (const View& view : views)
        for (int c = 0; c < view.axis->n_cuts; ++c)
            best = std::max(best, found.leaf[view.place][c] + found.leaf[view.place][view.axis->n_cuts + c]);
    // The stump of a region of b.
    const auto one = [&](const View& b, int region) {
        if (region == ColumnRegions::no_rows) return infeasible;
        return region == ColumnRegions::all_rows ? best : found.stump[b.place][region];
    };
    // The stump of the intersection of a side of b and a side of c.
    const auto two = [&](const View& b, int s, const View& c, int t) {
        if (s == ColumnRegions::no_rows || t == ColumnRegions::no_rows) return infeasible;
        if (s == ColumnRegions::all_rows) return one(c, t);
        if (t == ColumnRegions::all_rows) return one(b, s);
        return b.place < c.place ? found.pair[b.place * found.n_axes + c.place][s * c.axis->n_sides + t]
                                 : found.pair[c.place * found.n_axes + b.place][t * b.axis->n_sides + s];
    };
    const auto n_sides = [&](const View& view) { return 2 * context.store->columns_[view.column].n_cuts; };
    const auto is_own = [&](const View& view) { return view.column == context.column; };
    const View& own = *std::find_if(views.begin(), views.end(), is_own);
    const std::vector<int> own_regions = context.store->regions_within(context.column, context.side);
    for (const View& b : views) {
        if (is_own(b) || knows(context, b.column)) continue;
        for (std::size_t region = 0; region < b.axis->part_of.size(); ++region)
            set(context.store->line(b.column, static_cast<int>(region), context.column)[context.side],
                one(b, b.axis->part_of[region]));
        for (const int region : own_regions)
            for (int t = 0; t < n_sides(b); ++t)
                set(context.store->line(context.column, region, b.column)[t],
                    two(own, own.axis->part_of[at(region)], b, b.axis->part_of[at(t)]));
    }
    for (std::size_t i = 0; i < views.size(); ++i)
        for (std::size_t j = i + 1; j < views.size(); ++j) {
            const View &b = views[i], &c = views[j];
            if (is_own(b) || is_own(c) || knows(context, b.column, c.column)) continue;
            const Plane to = context.store->plane(context.column, context.side, b.column, c.column);
            for (int s = 0; s < n_sides(b); ++s)
                for (int t = 0; t < n_sides(c); ++t)
                    set(to.first[at(s) * to.b_stride + at(t) * to.c_stride],
                        two(b, b.axis->part_of[at(s)], c, c.axis->part_of[at(t)]));
        }
}

}  // namespace surtree
