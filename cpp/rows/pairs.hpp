// Pairs of rows, by time and by risk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace surtree {

// Sums of first[i] * second[j] over the pairs where i comes before j in time: of those where i has the higher
// risk, of those with equal risks, and of all; for each of some kinds of first weights (n_kinds x n_rows),
// one after the other. Times and risks are ranks, from zero on.
std::vector<double> pair_weights(const std::int64_t* time, const std::int64_t* risk, std::size_t n_rows,
                                 const double* first, std::size_t n_kinds, const double* second);

}  // namespace surtree
