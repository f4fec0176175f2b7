// Bins of numbers, and hashes of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace surtree {

// How many thresholds, which ascend, each value is above; one more than all of them where it is not a number.
void bin_values(const double* values, std::size_t n_rows, const double* thresholds, std::size_t n_thresholds,
                std::uint16_t* bins);

// A hash of each row, from the words (n_words x n_rows) that describe it, as `surtree.verification` has it.
std::vector<std::uint64_t> hash_rows(const double* words, std::size_t n_words, std::size_t n_rows);

// The sum of hashes, that of their squares, and the number and the sum of the hashes in each cell of some
// tables: a hash is in one cell of each.
std::vector<std::uint64_t> sum_hashes(const std::uint64_t* hashes, std::size_t n_rows, std::size_t n_tables,
                                      std::size_t n_cells);

}  // namespace surtree
