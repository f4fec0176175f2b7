// The value of a set of rows as a leaf, from its sums.
#pragma once

#include <vector>

#include "kernel/kernels.hpp"
#include "problem.hpp"

namespace surtree {

// Sums are in units of the grid (see rows.hpp), and so are gains. All numbers come from the kernels, so that
// equal sums have equal gains to the last bit.
class LeafValue {
 public:
    // More sums and counts than this no kernel has.
    static constexpr int max_width = 16;

    LeafValue(const Problem& problem, const Limits& limits, double grid);

    const Kernels& kernels() const { return *kernels_; }
    LeafSpec spec() const { return {parameters_.data(), least_.data(), static_cast<int>(least_.size())}; }

    // Numbers a row: the sums of the objective, then counts.
    int width() const { return kernels_->n_sums + static_cast<int>(least_.size()); }
    bool is_limited() const { return !counted_.empty(); }

    // The counts of the problem that limit something, in the order of a row.
    const std::vector<std::size_t>& counted() const { return counted_; }

    double gain(const double* sums) const;
    bool allows(const double* sums) const { return !is_limited() || kernels_->allows(spec(), sums); }
    double limited_gain(const double* sums) const { return allows(sums) ? gain(sums) : infeasible; }

    // The part of each of n rows in the saturated gain: no tree gains more than their sum.
    std::vector<double> saturated(const double* sums, int n) const;

 private:
    const Kernels* kernels_;
    std::vector<double> parameters_, least_;  // the latter padded as kernels need it
    std::vector<std::size_t> counted_;
};

}  // namespace surtree
