// The value of a leaf: the gain of an objective, within limits. The only home of leaf limits.
#pragma once

#include "kernel/kernels.hpp"
#include "kernel/simd.hpp"

namespace surtree::SURTREE_ISA {

// A row has the sums of the objective, then the counts that are limited from below.
template <class AnObjective, int NumberOfCounts>
struct Leaf {
    using Objective = AnObjective;
    static constexpr int n_sums = Objective::n_sums, n_counts = NumberOfCounts, width = n_sums + n_counts;
    static_assert(width % 2 == 0, "kernels add up pairs of numbers");

    Objective objective;
    Vector least[n_counts > 0 ? n_counts : 1];

    explicit Leaf(const LeafSpec& spec) : objective(spec.parameters), least{} {
        for (int c = 0; c < n_counts; ++c) least[c] = broadcast(spec.least[c]);
    }

    Vector gain(const Vector (&sums)[width]) const {
        return objective.gain(reinterpret_cast<const Vector(&)[n_sums]>(sums));
    }

    Vector saturated(const Vector (&sums)[width]) const {
        return objective.saturated(reinterpret_cast<const Vector(&)[n_sums]>(sums));
    }

    // The value where all counts are large enough, else `infeasible`.
    Vector limited(const Vector (&sums)[width], Vector value) const {
        for (int c = 0; c < n_counts; ++c)
            value = SURTREE_SELECT(sums[n_sums + c] >= least[c], value, broadcast(infeasible));
        return value;
    }

    Vector limited_gain(const Vector (&sums)[width]) const { return limited(sums, gain(sums)); }

    bool allows(const double* sums) const {
        bool enough = true;
        for (int c = 0; c < n_counts; ++c) enough = enough && sums[n_sums + c] >= least[c][0];
        return enough;
    }
};

// Kernels are compiled for 0, 2 and 4 counts; those of objectives of many sums, which take long to compile,
// for 0 and 4.
template <class Objective>
constexpr int padded_counts(int n) {
    if (n == 0) return 0;
    return n <= 2 && Objective::n_sums == 2 ? 2 : max_counts;
}

// Calls back with the leaf type of a number of counts.
template <class Objective, class Visit>
auto with_leaf(int n_counts, const Visit& visit) {
    if (n_counts == 0) return visit.template operator()<Leaf<Objective, 0>>();
    if constexpr (padded_counts<Objective>(2) == 2)
        if (n_counts == 2) return visit.template operator()<Leaf<Objective, 2>>();
    return visit.template operator()<Leaf<Objective, max_counts>>();
}

}  // namespace surtree::SURTREE_ISA
