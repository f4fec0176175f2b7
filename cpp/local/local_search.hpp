// A good tree without a proof: coordinate descent over the nodes of random trees.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace surtree {

struct Restarts {
    int n = 100;
    std::uint64_t seed = 0;
    double price = 0;  // what a split must gain
};

// The best tree of all restarts and, for each restart, the gain of its tree less the price of its
// splits. Neither depends on the number of threads. When stopped, there may be no tree at all.
struct LocalOptimum {
    Tree tree;
    std::vector<double> worth;
};

LocalOptimum local_search(const Problem& problem, const Limits& limits, const Restarts& restarts,
                          const Control& control);

}  // namespace surtree
