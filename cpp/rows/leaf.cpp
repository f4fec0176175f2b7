#include "rows/leaf.hpp"

namespace surtree {

LeafValue::LeafValue(const Problem& problem, const Limits& limits, double grid)
    : kernels_(problem.objective), parameters_(problem.parameters) {
    for (double& parameter : parameters_) parameter /= grid;
    for (std::size_t c = 0; c < limits.least.size(); ++c) {
        if (limits.least[c] <= 0) continue;
        counted_.push_back(c);
        least_.push_back(limits.least[c]);
    }
    least_.resize(at(kernels_->padded_counts(static_cast<int>(least_.size()))), 0.0);
}

double LeafValue::gain(const double* sums) const {
    double out;
    kernels_->gains(spec(), sums, 1, &out);
    return out;
}

std::vector<double> LeafValue::saturated(const double* sums, int n) const {
    std::vector<double> out(at(n));
    kernels_->saturated(spec(), sums, n, out.data());
    return out;
}

}  // namespace surtree
