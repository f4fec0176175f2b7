// All objectives. A new one is a header of this folder and a line in `for_each_objective`.
//
// An objective says what a leaf gains from the sums of its rows. It is a struct with
//
//     name             how Python asks for it
//     n_sums           numbers per row that are added up; an even number (pad with zeros)
//     n_parameters     how many numbers the constructor takes
//     exposure         which of them is positive for every row
//     is_convex        the gain is convex in the sums: scans may skip cuts
//     is_monotone      a tree falls no further short of the saturated gain on fewer rows: bounds and
//                      bisection are valid
//     is_nonnegative   no sum of a row is negative
//     gain(sums)       of a leaf, zero for no rows; homogeneous in sums and parameters together, since the
//                      core counts both in units of its own (see rows/rows.hpp)
//     saturated(sums)  of a row: the sum over rows is more than any tree gains
//     scale(totals)    a number that gains are compared with, to tell ties from differences
//     saturated_exactly(row)  of a row too light for the units of the core, in double precision
//
// and a constructor that takes the parameters of the objective. A split may lower the gain.
#pragma once

#include "objective/relative_risk.hpp"
#ifdef SURTREE_TEST_OBJECTIVE
#include SURTREE_TEST_OBJECTIVE
#endif

namespace surtree::SURTREE_ISA {

template <class T>
struct Type {
    using type = T;
};

template <class Visit>
void for_each_objective(const Visit& visit) {
    visit(Type<RelativeRisk>{});
#ifdef SURTREE_TEST_OBJECTIVE
    visit(Type<TestObjective>{});
#endif
}

}  // namespace surtree::SURTREE_ISA
