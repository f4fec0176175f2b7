// Squared error of a number y, for the test that adds an objective. A leaf with the weighted sum S of y and
// the weight N gains S^2 / N, and predicts the mean S / N.
#pragma once

#include "kernel/simd.hpp"

namespace surtree::SURTREE_ISA {

struct TestObjective {
    static constexpr const char* name = "squared_error";
    static constexpr int n_sums = 2;  // weight * y, weight
    static constexpr int n_channels = 1;
    static constexpr int n_parameters = 0;
    static constexpr int exposure = 1;
    static constexpr bool is_convex = true;
    static constexpr bool is_monotone = true;  // squared errors within leaves only add up
    static constexpr bool is_nonnegative = false;

    explicit TestObjective(const double* /*parameters*/) {}

    Vector gain(const Vector (&sums)[n_sums]) const {
        return sums[0] * quotient(sums[0], larger(sums[1], broadcast(1.0)));
    }
    Vector saturated(const Vector (&sums)[n_sums]) const { return gain(sums); }

    // The test has numbers y of about one.
    static double scale(const double* totals) { return totals[1]; }

    static double saturated_exactly(const double* row) { return row[0] * row[0] / row[1]; }
};

}  // namespace surtree::SURTREE_ISA
