#include "search/ordered_rows.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
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
    for (std::size_t v = 0; v < chained.chains.size(); ++v) {
        const std::uint16_t* rank = all.column(static_cast<int>(v));
        OrderedRows::Order order;
        order.row.resize(n);
        std::iota(order.row.begin(), order.row.end(), 0);
        std::stable_sort(order.row.begin(), order.row.end(), [&](int a, int b) { return rank[a] < rank[b]; });
        std::vector<std::uint8_t> with_events(chained.chains[v].cut.size() + 1, !may_skip);
        for (std::size_t r = 0; r < n; ++r)
            if (may_skip && all.sums[r * width + other_sum] != 0) with_events[rank[r]] = 1;
        for (const int r : order.row) {
            order.code.push_back(2u * rank[r] + with_events[rank[r]]);
            const double* sums = all.sums.data() + at(r) * width;
            order.sums.insert(order.sums.end(), sums, sums + width);
        }
        out.orders.push_back(std::move(order));
    }
    for (std::size_t o = 0; o < chained.others.size(); ++o) {
        const std::uint16_t* bins = all.column(chained.n_chains() + static_cast<int>(o));
        out.bins.insert(out.bins.end(), bins, bins + n);
    }
    return out;
}

void divide_chain(const OrderedRows& rows, int chain, int position, Partition& out) {
    out.side.resize(at(rows.n));
    const std::vector<std::int32_t>& row = rows.orders[at(chain)].row;
    for (int k = 0; k < rows.n; ++k) out.side[at(row[at(k)])] = k >= position;
}

void divide_other(const OrderedRows& rows, const Unordered& column, int other, int cut, Partition& out) {
    std::vector<std::uint8_t> holds(at(column.n_bins), 0);
    for (const Run& run : column.holds[at(cut)])
        for (int b = run.first; b < run.last; ++b) holds[at(b)] = 1;
    out.side.resize(at(rows.n));
    const std::uint16_t* bins = rows.bins_of(other);
    for (std::size_t r = 0; r < at(rows.n); ++r) out.side[r] = holds[bins[r]];
    add_up(rows, out);
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
    out.bins.clear();
    for (std::size_t k = 0; k < rows.bins.size(); ++k)
        if (partition.side[k % n] == side) out.bins.push_back(rows.bins[k]);
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
