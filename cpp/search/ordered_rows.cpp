#include "search/ordered_rows.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
namespace {

void sum_all_cells(const ChainedProblem& chained, OrderedRows& rows) {
    const std::size_t n = at(rows.n), width = at(rows.width);
    rows.cell_sums.resize(chained.packed.size());
    for (std::size_t j = 0; j < chained.packed.size(); ++j) {
        std::vector<double>& sums = rows.cell_sums[j];
        sums.assign(at(chained.packed[j].n_cells) * width, 0.0);
        const std::uint16_t* cell = rows.cells.data() + j * n;
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t c = 0; c < width; ++c) sums[cell[r] * width + c] += rows.sums[r * width + c];
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
    out.cells.assign(chained.packed.size() * n, 0);
    for (std::size_t j = 0; j < chained.packed.size(); ++j)
        for (const PackedColumns::Part& part : chained.packed[j].parts) {
            const std::uint16_t* bins = all.column(part.column);
            for (std::size_t r = 0; r < n; ++r)
                out.cells[j * n + r] =
                    static_cast<std::uint16_t>(out.cells[j * n + r] + bins[r] * part.stride);
        }
    sum_all_cells(chained, out);
    return out;
}

void divide_chain(const OrderedRows& rows, int chain, int position, Partition& out) {
    out.side.resize(at(rows.n));
    const std::vector<std::int32_t>& row = rows.orders[at(chain)].row;
    for (int k = 0; k < rows.n; ++k) out.side[at(row[at(k)])] = k >= position;
    out.chain = chain;
    out.position = position;
}

void divide_other(const OrderedRows& rows, const ChainedProblem& chained, int other, int cut,
                  Partition& out) {
    const Unordered& column = chained.others[at(other)];
    std::vector<std::uint8_t> holds(at(column.n_bins), 0);
    for (const Run& run : column.holds[at(cut)])
        for (int b = run.first; b < run.last; ++b) holds[at(b)] = 1;
    out.side.resize(at(rows.n));
    out.chain = -1;
    for (std::size_t j = 0; j < chained.packed.size(); ++j)
        for (const PackedColumns::Part& part : chained.packed[j].parts) {
            if (part.column != chained.n_chains() + other) continue;
            const std::uint16_t* cell = rows.cells.data() + j * at(rows.n);
            for (int r = 0; r < rows.n; ++r) out.side[at(r)] = holds[at(cell[r] / part.stride % part.n_bins)];
        }
    add_up(rows, out);
}

void sum_cells(const OrderedRows& rows, int packed, const Partition& partition,
               std::vector<double> (&out)[2]) {
    const std::size_t n = at(rows.n), width = at(rows.width);
    const std::vector<double>& all = rows.cell_sums[at(packed)];
    const std::uint16_t* cell = rows.cells.data() + at(packed) * n;
    // The rows of the smaller side are added up; the other side is the rest.
    const int smaller = partition.chain >= 0 && 2 * partition.position < rows.n ? 0 : 1;
    std::vector<double>& sums = out[smaller];
    sums.assign(all.size(), 0.0);
    if (partition.chain >= 0) {
        const OrderedRows::Order& order = rows.orders[at(partition.chain)];
        const std::size_t first = smaller ? at(partition.position) : 0,
                          last = smaller ? n : at(partition.position);
        for (std::size_t k = first; k < last; ++k) {
            double* to = sums.data() + cell[order.row[k]] * width;
            for (std::size_t c = 0; c < width; ++c) to[c] += order.sums[k * width + c];
        }
    } else {
        for (std::size_t r = 0; r < n; ++r)
            if (partition.side[r])
                for (std::size_t c = 0; c < width; ++c) sums[cell[r] * width + c] += rows.sums[r * width + c];
    }
    std::vector<double>& rest = out[1 - smaller];
    rest.resize(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) rest[k] = all[k] - sums[k];
}

void take_side(const OrderedRows& rows, const ChainedProblem& chained, const Partition& partition, int side,
               OrderedRows& out) {
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
    out.cells.resize(chained.packed.size() * n_out);
    for (std::size_t j = 0; j < chained.packed.size(); ++j) {
        std::uint16_t* to = out.cells.data() + j * n_out;
        for (std::size_t r = 0; r < n; ++r)
            if (partition.side[r] == side) *to++ = rows.cells[j * n + r];
    }
    sum_all_cells(chained, out);
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
