// All objectives. A new one is a header of this folder, a line in `for_each_objective`, and its name in the
// list of CMakeLists.txt.
//
// An objective says what a leaf gains from the sums of its rows. It is a struct with
//
//     name             how Python asks for it
//     n_sums           numbers per row that are added up; an even number (pad with zeros)
//     n_channels       groups of equally many sums; the saturated gain of a row is a sum over them
//     n_parameters     how many numbers the constructor takes
//     exposure         which sum of a group is not negative, and positive for some group of every row
//     is_convex        the gain is convex in the sums: scans may skip cuts
//     is_monotone      a tree falls no further short of the saturated gain on fewer rows: bounds and
//                      bisection are valid
//     is_nonnegative   no sum of a row is negative
//     gain(sums)       of a leaf, zero for no rows; homogeneous in sums and parameters together, since the
//                      core counts both in units of its own (see rows/rows.hpp)
//     channel_gain(channel, x, y)  its part of the gain; only of convex objectives without negative sums
//     saturated(sums)  of a row: the sum over rows is more than any tree gains
//     scale(totals)    a number that gains are compared with, to tell ties from differences
//     Rough            optional: the gain in single precision, with a bound on its error (see
//     screening/rough_gain.hpp) saturated_exactly(channel)  of a row too light for the units of the core, in
//     double precision
//
// and a constructor that takes the parameters of the objective. A split may lower the gain.
#pragma once

#include "objective/channels.hpp"
#include "objective/contrast.hpp"
#include "objective/relative_risk.hpp"
#include "objective/wide_relative_risk.hpp"
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
    visit(Type<TwoChannels>{});
#ifndef SURTREE_FEW_OBJECTIVES
    visit(Type<TwoContrasts>{});
    visit(Type<FourChannels>{});
    visit(Type<FourContrasts>{});
    visit(Type<WideRelativeRisk>{});
#endif
#ifdef SURTREE_TEST_OBJECTIVE
    visit(Type<TestObjective>{});
#endif
}

}  // namespace surtree::SURTREE_ISA
