// What is in each bin of a column: rows, their weight, and a hash of the set of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows/rows.hpp"

namespace surtree {

struct BinTotals {
    std::vector<std::int64_t> n;
    std::vector<std::uint64_t> hash_low, hash_high;
    std::vector<double> weight;  // empty where rows have none
};

template <class Bin>
BinTotals sum_bins(const Bin* bins, std::size_t n_rows, std::size_t n_bins, const double* weight) {
    BinTotals out{std::vector<std::int64_t>(n_bins), std::vector<std::uint64_t>(n_bins),
                  std::vector<std::uint64_t>(n_bins), std::vector<double>(weight ? n_bins : 0)};
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto bin = static_cast<std::size_t>(bins[row]);
        const RowSetHash hash = hash_of_row(row);
        ++out.n[bin];
        out.hash_low[bin] += hash.low;
        out.hash_high[bin] += hash.high;
        if (weight) out.weight[bin] += weight[row];
    }
    return out;
}

}  // namespace surtree
