#include "local/local_search.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <string_view>

// Gains are those of the portable kernels: the tree does not depend on the processor.
#define SURTREE_ISA local
#define SURTREE_LANES 2
#include "local/descent.hpp"
#include "objective/objectives.hpp"

namespace surtree {
namespace {

struct Found {
    bool done = false;
    double worth = 0;
    int n_splits = 0;
    Tree tree;
};

// Ties, up to rounding, go to the tree with the fewest splits, then to the first.
LocalOptimum best_of(std::vector<Found>& found, const LocalSearchProblem& problem) {
    LocalOptimum best;
    double most = -std::numeric_limits<double>::infinity();
    std::erase_if(found, [](const Found& one) { return !one.done; });
    for (const Found& one : found) {
        best.worth.push_back(one.worth * problem.rows.grid);
        most = std::max(most, one.worth);
    }
    Found* chosen = nullptr;
    for (Found& one : found)
        if (one.worth >= most - problem.rows.tie && (!chosen || one.n_splits < chosen->n_splits))
            chosen = &one;
    if (chosen) best.tree = std::move(chosen->tree);
    return best;
}

template <class Leaf>
LocalOptimum search(const LocalSearchProblem& problem, const Restarts& restarts, const Control& control,
                    Workers& workers) {
    std::vector<Found> found(at(restarts.n));
    std::atomic<int> next{0};
    std::mutex mutex;
    double most = -std::numeric_limits<double>::infinity();
    const auto work = [&] {
        local::Descent<Leaf> descent(problem, workers);
        for (int k = next++; k < restarts.n && workers.may_begin_task(); k = next++) {
            descent.begin(restarts.seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(k));
            // The first restart begins with a greedy tree, or the given one: the result is never worse.
            if (restarts.start)
                descent.copy_tree(*restarts.start, k > 0);
            else if (k == 0)
                descent.grow_greedily();
            else
                descent.plant();
            descent.run();
            found[at(k)] = {true, descent.worth(), descent.n_splits(), descent.tree()};
            const std::lock_guard lock(mutex);
            most = std::max(most, found[at(k)].worth);
        }
    };
    workers.run(std::max(1, std::min(control.n_threads, restarts.n)), work, [&] {
        const std::lock_guard lock(mutex);
        return Progress{0, most * problem.rows.grid, 0};
    });
    return best_of(found, problem);
}

}  // namespace

LocalOptimum local_search(const Problem& problem, const Limits& limits, const Restarts& restarts,
                          const Control& control) {
    Workers workers(control);  // the clock starts before the rows are read
    const LocalSearchProblem shared(problem, limits, restarts.price);
    LocalOptimum best;
    local::for_each_objective([&]<class Objective>(local::Type<Objective>) {
        if (std::string_view(problem.objective->objective) != Objective::name) return;
        best = local::with_leaf<Objective>(shared.rows.leaf.spec().n_counts, [&]<class Leaf>() {
            return search<Leaf>(shared, restarts, control, workers);
        });
    });
    return best;
}

}  // namespace surtree
