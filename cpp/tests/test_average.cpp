// The average over all trees: logarithms, threads, and what a stop leaves. tests/averages/test_average.py
// lists all trees and compares with them.
#include "average/average.hpp"
#include "average/evidence.hpp"
#include "example.hpp"

using namespace surtree;
using namespace surtree::testing;

namespace {

const TreePrior prior{{0.5, 0.5, 0.5}, {1, 3, 9, 27}};

TEST(log_gamma_is_that_of_the_library) {
    for (double x = 0.01; x < 1e6; x *= 1.01)
        CHECK(std::abs(log_gamma(x) - std::lgamma(x)) <= 1e-14 * (1 + std::abs(std::lgamma(x))), "%.17g", x);
}

TEST(a_sum_of_logarithms_takes_terms_in_any_order) {
    LogSum up, down;
    for (int k = -500; k <= 500; ++k) up.add(2.0 * k), down.add(-2.0 * k);
    const double sum = 1000 - std::log1p(-std::exp(-2.0));
    CHECK(std::abs(up.value() - sum) < 1e-12 && std::abs(down.value() - sum) < 1e-12, "%.17g", up.value());
}

// The integral over theta of its prior times the likelihood theta^E exp(-theta H).
TEST(evidence_is_an_integral) {
    for (const double a : {1.0, 3.0, 9.0}) {
        const double events = 4, expected = 2.5, step = 1e-4;
        double sum = 0;
        for (double theta = step / 2; theta < 60; theta += step)
            sum += step * std::exp(a * std::log(a) - std::lgamma(a) + (a - 1 + events) * std::log(theta) -
                                   theta * (a + expected));
        const double found = LeafEvidence(a, 1, events, true).log_of(events, expected);
        CHECK(std::abs(std::log(sum) - found) < 1e-6, "%g: %.12g, not %.12g", a, found, std::log(sum));
    }
}

TEST(threads_do_not_change_an_average) {
    for (unsigned seed = 0; seed < n_seeds(40); ++seed) {
        Example example(seed, {.n_rows = 40, .n_columns = 4, .n_bins = 4});
        example.problem.parameters = {0};
        const Limits limits{static_cast<int>(seed % 4), 0, {2.0, 0.0}};
        const TreeAverage one = average_trees(example.problem, limits, prior, {.n_threads = 1});
        const TreeAverage two = average_trees(example.problem, limits, prior, {.n_threads = 3});
        CHECK(one.mean == two.mean && one.asked == two.asked && one.first == two.first, "seed %u", seed);
    }
}

TEST(an_average_that_is_stopped_says_so) {
    Example example(1, {.n_rows = 60, .n_columns = 4, .n_bins = 4, .alike = true});
    Control control{.n_threads = 2};
    control.switches.stop_after = 2;
    const TreeAverage average = average_trees(example.problem, {3, 0, {1.0, 0.0}}, prior, control);
    CHECK(average.status == Status::interrupted && average.mean.empty(), "%zu", average.mean.size());
}

}  // namespace
