// A good tree without a proof: coordinate descent over the nodes of random trees, or of changes of a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace surtree {

struct Restarts {
    int n = 100;
    std::uint64_t seed = 0;
    double price = 0;             // what a split must gain
    const Tree* start = nullptr;  // restarts begin with this tree, all but the first with a node changed
};

// The best tree of all restarts and, for each restart, the gain of its tree less the price of its
// splits. Neither depends on the number of threads. When stopped, there may be no tree at all. The progress
// that `Control::should_stop` gets has the largest worth so far, of the restarts that are done.
struct LocalOptimum {
    Tree tree;
    std::vector<double> worth;
};

LocalOptimum local_search(const Problem& problem, const Limits& limits, const Restarts& restarts,
                          const Control& control);

}  // namespace surtree
