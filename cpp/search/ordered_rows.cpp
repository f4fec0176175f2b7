#include "search/ordered_rows.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
namespace {

void add_row(const OrderedRows& rows, std::size_t r, const std::uint16_t* bins, std::vector<double>& to) {
    const std::size_t width = at(rows.width);
    for (std::size_t c = 0; c < width; ++c) to[bins[r] * width + c] += rows.sums[r * width + c];
}

void fill_histograms(const std::vector<std::size_t>& sizes, OrderedRows& rows) {
    rows.histograms.resize(sizes.size());
    for (std::size_t j = 0; j < sizes.size(); ++j) {
        rows.histograms[j].assign(sizes[j], 0.0);
        const std::uint16_t* bins = rows.bins_of(static_cast<int>(j));
        for (std::size_t r = 0; r < at(rows.n); ++r) add_row(rows, r, bins, rows.histograms[j]);
    }
}

}  // namespace

void add_up(const OrderedRows& rows, Partition& out) {
    const std::size_t width = at(rows.width);
    out.totals.assign(2 * width, 0.0);
    out.n[0] = out.n[1] = 0;
    out.hash[0] = out.hash[1] = {};
    for (std::size_t r = 0; r < at(rows.n); ++r) {
        const std::size_t side = out.side[r];
        ++out.n[side];
        out.hash[side] = out.hash[side] + rows.hashes[r];
        for (std::size_t c = 0; c < width; ++c) out.totals[side * width + c] += rows.sums[r * width + c];
    }
}

OrderedRows order_rows(const Rows& rows, const ChainedProblem& chained) {
    OrderedRows out;
    const RowSet& all = rows.all;
    const std::size_t n = at(all.n), width = at(all.width);
    out.n = all.n;
    out.width = all.width;
    out.sums = all.sums;
    out.hashes = all.hashes;
    out.saturated = rows.leaf.saturated(all.sums.data(), all.n);
    const Kernels& objective = rows.leaf.kernels();
    const bool may_skip = objective.is_convex && objective.n_sums == 2 && !rows.leaf.is_limited();
    const std::size_t other_sum = at(1 - objective.exposure);
    for (int v = 0; v < chained.n_chains; ++v) {
        const std::uint16_t* rank = all.column(v);
        OrderedRows::Order order;
        order.row.resize(n);
        std::iota(order.row.begin(), order.row.end(), 0);
        std::stable_sort(order.row.begin(), order.row.end(), [&](int a, int b) { return rank[a] < rank[b]; });
        std::vector<std::uint8_t> with_events(at(chained[v].n_bins), !may_skip);
        for (std::size_t r = 0; r < n; ++r)
            if (may_skip && all.sums[r * width + other_sum] != 0) with_events[rank[r]] = 1;
        for (const int r : order.row) {
            order.code.push_back(2u * rank[r] + with_events[rank[r]]);
            const double* sums = all.sums.data() + at(r) * width;
            order.sums.insert(order.sums.end(), sums, sums + width);
        }
        out.orders.push_back(std::move(order));
    }
    for (const int column : chained.short_columns)
        out.bins.insert(out.bins.end(), all.column(column), all.column(column) + n);
    std::vector<std::size_t> sizes;
    for (const int column : chained.short_columns) sizes.push_back(at(chained[column].n_bins) * width);
    fill_histograms(sizes, out);
    return out;
}

void divide_chain(const OrderedRows& rows, int chain, int position, Partition& out) {
    out.side.resize(at(rows.n));
    const std::vector<std::int32_t>& row = rows.orders[at(chain)].row;
    for (int k = 0; k < rows.n; ++k) out.side[at(row[at(k)])] = k >= position;
    out.chain = chain;
    out.position = position;
}

void divide_other(const OrderedRows& rows, const ChainedProblem& chained, int column, int cut,
                  Partition& out) {
    std::vector<std::uint8_t> holds(at(chained[column].n_bins), 0);
    for (const Run& run : chained[column].holds[at(cut)])
        for (int b = run.first; b < run.last; ++b) holds[at(b)] = 1;
    out.side.resize(at(rows.n));
    out.chain = -1;
    const std::uint16_t* bins = rows.bins_of(chained.short_place(column));
    for (std::size_t r = 0; r < at(rows.n); ++r) out.side[r] = holds[bins[r]];
    add_up(rows, out);
}

// On a chain the pass is over the smaller side.
void split_histogram(const OrderedRows& rows, int short_column, const Partition& partition,
                     std::vector<double> (&out)[2]) {
    const std::vector<double>& all = rows.histograms[at(short_column)];
    const std::uint16_t* bins = rows.bins_of(short_column);
    const std::size_t n = at(rows.n), position = at(partition.position);
    const int smaller = partition.chain >= 0 && 2 * position < n ? 0 : 1;
    out[smaller].assign(all.size(), 0.0);
    if (partition.chain >= 0) {
        const std::int32_t* row = rows.orders[at(partition.chain)].row.data();
        for (std::size_t k = smaller ? position : 0; k < (smaller ? n : position); ++k)
            add_row(rows, at(row[k]), bins, out[smaller]);
    } else {
        for (std::size_t r = 0; r < n; ++r)
            if (partition.side[r]) add_row(rows, r, bins, out[smaller]);
    }
    out[1 - smaller].resize(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) out[1 - smaller][k] = all[k] - out[smaller][k];
}

void take_side(const OrderedRows& rows, const Partition& partition, int side, OrderedRows& out) {
    const std::size_t n = at(rows.n), n_out = at(partition.n[side]), width = at(rows.width);
    thread_local std::vector<std::int32_t> number;
    number.resize(n);
    out.n = static_cast<int>(n_out);
    out.width = rows.width;
    out.sums.resize(n_out * width);
    out.saturated.resize(n_out);
    out.hashes.resize(n_out);
    std::size_t next = 0;
    for (std::size_t r = 0; r < n; ++r) {
        number[r] = static_cast<std::int32_t>(next);
        if (partition.side[r] != side) continue;
        for (std::size_t c = 0; c < width; ++c) out.sums[next * width + c] = rows.sums[r * width + c];
        out.saturated[next] = rows.saturated[r];
        out.hashes[next] = rows.hashes[r];
        ++next;
    }
    out.bins.resize(rows.bins.size() / n * n_out);
    std::uint16_t* bin = out.bins.data();
    for (const std::uint16_t* from = rows.bins.data(); bin != out.bins.data() + out.bins.size(); from += n)
        for (std::size_t r = 0; r < n; ++r)
            if (partition.side[r] == side) *bin++ = from[r];
    std::vector<std::size_t> sizes;
    for (const std::vector<double>& histogram : rows.histograms) sizes.push_back(histogram.size());
    fill_histograms(sizes, out);
    out.orders.resize(rows.orders.size());
    for (std::size_t v = 0; v < rows.orders.size(); ++v) {
        const OrderedRows::Order& from = rows.orders[v];
        OrderedRows::Order& to = out.orders[v];
        to.row.resize(n_out);
        to.code.resize(n_out);
        to.sums.resize(n_out * width);
        next = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const auto r = static_cast<std::size_t>(from.row[k]);
            if (partition.side[r] != side) continue;
            to.row[next] = number[r];
            to.code[next] = from.code[k];
            for (std::size_t c = 0; c < width; ++c) to.sums[next * width + c] = from.sums[k * width + c];
            ++next;
        }
    }
}

}  // namespace surtree
