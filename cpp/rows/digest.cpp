#include "rows/digest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace surtree {

void bin_values(const double* values, std::size_t n_rows, const double* thresholds, std::size_t n_thresholds,
                std::uint16_t* bins) {
    // A few rows at once, so that their counts stay in registers and the loop over rows is a vector's.
    constexpr std::size_t block = 64;
    for (std::size_t first = 0; first < n_rows; first += block) {
        const std::size_t n = std::min(block, n_rows - first);
        std::int64_t above[block] = {};
        for (std::size_t t = 0; t < n_thresholds; ++t)
            for (std::size_t k = 0; k < n; ++k) above[k] += values[first + k] > thresholds[t];
        for (std::size_t k = 0; k < n; ++k)
            bins[first + k] = static_cast<std::uint16_t>(
                std::isnan(values[first + k]) ? static_cast<std::int64_t>(n_thresholds) + 1 : above[k]);
    }
}

std::vector<std::uint64_t> hash_rows(const double* words, std::size_t n_words, std::size_t n_rows) {
    std::vector<std::uint64_t> hashes(n_rows);
    for (std::size_t w = 0; w < n_words; ++w)
        for (std::size_t r = 0; r < n_rows; ++r) {
            const auto word = std::bit_cast<std::uint64_t>(words[w * n_rows + r] + 0.0);  // zero has no sign
            hashes[r] = (hashes[r] ^ word ^ (hashes[r] >> 29)) * 0x9e3779b97f4a7c15ULL;
        }
    for (std::uint64_t& hash : hashes) hash ^= hash >> 32;
    return hashes;
}

std::vector<std::uint64_t> sum_hashes(const std::uint64_t* hashes, std::size_t n_rows, std::size_t n_tables,
                                      std::size_t n_cells) {
    const std::size_t size = n_tables * n_cells;
    std::vector<std::uint64_t> sums(2 + 2 * size);
    for (std::size_t r = 0; r < n_rows; ++r) {
        const std::uint64_t hash = hashes[r];
        sums[0] += hash;
        sums[1] += hash * hash;
        for (std::size_t table = 0; table < n_tables; ++table) {
            const std::size_t cell = 2 + table * n_cells + (hash >> (5 + 20 * table)) % n_cells;
            ++sums[cell];
            sums[size + cell] += hash;
        }
    }
    return sums;
}

}  // namespace surtree
