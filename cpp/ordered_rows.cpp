#include "ordered_rows.hpp"

#include <algorithm>
#include <numeric>

#include "kernels.hpp"

namespace surtree {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

void add_up(const OrderedRows& rows, int n_sums, Division& out) {
    const std::size_t width = at(n_sums);
    out.totals.assign(2 * width, 0.0);
    out.n[0] = out.n[1] = 0;
    out.key[0] = out.key[1] = {};
    for (std::size_t r = 0; r < at(rows.n); ++r) {
        const std::size_t side = out.side[r];
        ++out.n[side];
        out.key[side] = out.key[side] + rows.keys[r];
        for (std::size_t c = 0; c < width; ++c) out.totals[side * width + c] += rows.sums[r * width + c];
    }
}

}  // namespace

OrderedRows order_rows(const Rows& rows, const Unfolded& unfolded, bool may_skip) {
    OrderedRows out;
    const RowSet& all = rows.all;
    const std::size_t n = at(all.n), width = at(rows.n_sums);
    out.n = all.n;
    out.sums = all.sums;
    out.keys = all.keys;
    std::vector<double> events(membership_stride(all.n)), hazard(events.size()), gains(events.size());
    for (std::size_t r = 0; r < n; ++r) {
        events[r] = all.sums[r * width];
        hazard[r] = all.sums[r * width + 1];
    }
    kernels().gains(events.data(), hazard.data(), gains.data(), static_cast<int>(gains.size()));
    out.saturated.assign(gains.begin(), gains.begin() + all.n);
    for (std::size_t v = 0; v < unfolded.chains.size(); ++v) {
        const std::uint16_t* rank = all.column(static_cast<int>(v));
        OrderedRows::Order order;
        order.row.resize(n);
        std::iota(order.row.begin(), order.row.end(), 0);
        std::stable_sort(order.row.begin(), order.row.end(), [&](int a, int b) { return rank[a] < rank[b]; });
        std::vector<std::uint8_t> with_events(unfolded.chains[v].cut.size() + 1, !may_skip);
        for (std::size_t r = 0; r < n; ++r)
            if (events[r] > 0) with_events[rank[r]] = 1;
        for (const int r : order.row) {
            order.code.push_back(2u * rank[r] + with_events[rank[r]]);
            const double* sums = all.sums.data() + at(r) * width;
            order.sums.insert(order.sums.end(), sums, sums + width);
        }
        out.orders.push_back(std::move(order));
    }
    out.bins.assign(all.bins.begin() + static_cast<std::ptrdiff_t>(unfolded.chains.size() * n),
                    all.bins.end());
    return out;
}

void divide_chain(const OrderedRows& rows, int n_sums, int chain, int position, Division& out) {
    out.side.resize(at(rows.n));
    const std::vector<std::int32_t>& row = rows.orders[at(chain)].row;
    for (int k = 0; k < rows.n; ++k) out.side[at(row[at(k)])] = k >= position;
    add_up(rows, n_sums, out);
}

void divide_other(const OrderedRows& rows, int n_sums, int other, const Unordered& column, int cut,
                  Division& out) {
    std::vector<std::uint8_t> holds(at(column.n_bins), 0);
    for (const Run& run : column.holds[at(cut)])
        for (int b = run.first; b < run.last; ++b) holds[at(b)] = 1;
    out.side.resize(at(rows.n));
    const std::uint16_t* bins = rows.bins.data() + at(other) * at(rows.n);
    for (int r = 0; r < rows.n; ++r) out.side[at(r)] = holds[bins[r]];
    add_up(rows, n_sums, out);
}

void take_side(const OrderedRows& rows, int n_sums, const Division& division, int side, OrderedRows& out) {
    const std::size_t n = at(rows.n), n_out = at(division.n[side]), width = at(n_sums);
    thread_local std::vector<std::int32_t> number;
    number.resize(n);
    out.n = static_cast<int>(n_out);
    out.sums.resize(n_out * width);
    out.saturated.resize(n_out);
    out.keys.resize(n_out);
    std::size_t next = 0;
    for (std::size_t r = 0; r < n; ++r) {
        number[r] = static_cast<std::int32_t>(next);
        if (division.side[r] != side) continue;
        for (std::size_t c = 0; c < width; ++c) out.sums[next * width + c] = rows.sums[r * width + c];
        out.saturated[next] = rows.saturated[r];
        out.keys[next] = rows.keys[r];
        ++next;
    }
    const std::size_t n_others = n == 0 ? 0 : rows.bins.size() / n;
    out.bins.resize(n_others * n_out);
    for (std::size_t o = 0; o < n_others; ++o) {
        std::uint16_t* to = out.bins.data() + o * n_out;
        for (std::size_t r = 0; r < n; ++r)
            if (division.side[r] == side) *to++ = rows.bins[o * n + r];
    }
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
            if (division.side[r] != side) continue;
            to.row[next] = number[r];
            to.code[next] = from.code[k];
            for (std::size_t c = 0; c < width; ++c) to.sums[next * width + c] = from.sums[k * width + c];
            ++next;
        }
    }
}

}  // namespace surtree
