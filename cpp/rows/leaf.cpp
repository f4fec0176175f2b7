#include "rows/leaf.hpp"

namespace surtree {

LeafValue::LeafValue(const Problem& problem, const Limits& limits, double grid)
    : kernels_(problem.objective),
      n_counts_(padded_counts(static_cast<int>(limits.least.size()))),
      parameters_(problem.parameters),
      least_(limits.least) {
    for (double& parameter : parameters_) parameter /= grid;
    least_.resize(at(n_counts_), 0.0);
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
