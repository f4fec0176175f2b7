// The search for columns with few cuts: the sides of the root are solved one after another, by recursion.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "screening/screening.hpp"
#include "search/bounds.hpp"
#include "search/incumbent.hpp"
#include "search/plan.hpp"
#include "search/recursion.hpp"

namespace surtree {

class SweepSearch {
 public:
    SweepSearch(const Problem& problem, const Limits& limits, const Control& control);

    // Walks the stages of the plan until every size is proven, or until a limit.
    Status run();
    const Plan& plan() const { return plan_; }

    // For at most 0, 1, 2, ... splits: the best gains found, those by the solved sides of the root alone,
    // and what no tree can exceed.
    Profile gains() const;
    Profile gains_of_sides() const;
    Profile gain_bounds() const;
    double seconds() const { return workers_.seconds(); }
    int proven_depth() const { return proven_depth_; }  // the largest depth whose optimum is found

    const Rows& rows() const { return recursion_.rows(); }
    Recursion& recursion() { return recursion_; }
    const std::vector<RootResult>& results() const { return results_; }
    const Incumbent* incumbent() const { return incumbent_.get(); }

 private:
    // Sides of the root that a thread solves in one go.
    struct Sides {
        int first, last;
    };
    // The part of a depth's work that some tasks are, for the progress that is shown.
    struct Share {
        double begin = 0, end = 0;
    };
    using Work = std::function<void(std::size_t task, Recursion::Worker& worker)>;

    bool leads(int side) const;
    Status run_stage();
    Status fill_side_cache();
    Status clear_stumps();
    Status fill_stumps();
    Status screen();
    Status solve_screened(const std::vector<int>& cuts);
    Status solve();
    Status solve_weakest_first();
    std::vector<Sides> root_tasks() const;
    std::vector<int> promising_sides() const;
    Status run_tasks(std::size_t n, const Work& work, const Share& share,
                     std::size_t most_threads = SIZE_MAX);
    void solve_root_sides(const Sides& sides, Recursion::Worker& worker);
    Progress progress(double fraction) const;

    const Problem& problem_;
    const Control& control_;
    const bool all_lead_;  // every cut
    Workers workers_;
    Recursion recursion_;
    const double root_leaf_;  // its gain without limits: the root may always be a leaf
    const Plan plan_;
    const Stage* stage_ = nullptr;  // the one that runs
    double prepared_ = 0;           // the share of the work at this depth that is done
    int proven_depth_ = 0;
    mutable std::optional<RootBounds> bounds_;  // made by the calling thread
    mutable std::mutex mutex_;
    std::vector<RootResult> results_;  // by side
    std::unique_ptr<Incumbent> incumbent_;
};

// For at most 0, 1, 2, ... splits, a tree with the gain of the search; `cut_of` has the caller's numbers of
// cuts. Once `is_over`, trees are no longer wanted.
std::vector<Tree> build_trees(SweepSearch& search, const Profile& gains, const std::vector<int>& cut_of,
                              std::vector<bool>& is_wanted, const std::function<bool()>& is_over);

}  // namespace surtree
