// The search for columns with few cuts: the sides of the root are solved one after another, by recursion.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "search/bounds.hpp"
#include "search/incumbent.hpp"
#include "search/recursion.hpp"
#include "search/screening.hpp"

namespace surtree {

class SweepSearch {
 public:
    SweepSearch(const Problem& problem, const Limits& limits, const Control& control);

    // Runs until every size is proven, or until a limit.
    Status run();

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
    // What a thread does in one go: sides of the root to solve, or to fill the side cache for; to clear or to
    // fill a part of the table of stumps, or of what is screened (the number of the part is in place of the
    // side), and to put the latter together; or to find the incumbent.
    struct Task {
        enum class Kind {
            solve,
            fill_side_cache,
            clear_stumps,
            fill_stumps,
            screen,
            finish_screening,
            solve_screened,
            find_incumbent
        } kind;
        int first_side = 0, last_side = 0;
    };

    bool leads(int side) const;
    Status run_stage();
    Status prepare_stumps();
    std::vector<Task> tasks() const;
    std::vector<int> promising_sides() const;
    bool is_quick() const;
    bool finds_incumbent_quickly() const;
    double steps(double n_sets) const;
    bool worth_filling_side_cache() const;
    bool may_use_stumps(double times_to_fill);
    std::optional<Status> screen();
    std::vector<Task> screened_sides(const std::vector<int>& cuts) const;
    Status run_tasks(const std::vector<Task>& tasks, std::size_t most_threads = SIZE_MAX);
    void run_task(const Task& task, Recursion::Worker& worker);
    void solve_root_sides(const Task& task, Recursion::Worker& worker);
    Progress progress(double fraction) const;

    const Problem& problem_;
    const Control& control_;
    const bool all_lead_;  // every cut
    Workers workers_;
    Recursion recursion_;
    const double root_leaf_;  // its gain without limits: the root may always be a leaf
    int stage_depth_ = 0, proven_depth_ = 0;
    bool side_cache_filled_ = false, stumps_filled_ = false;  // at this stage
    std::unique_ptr<Screening> screening_;
    mutable std::optional<RootBounds> bounds_;  // used by the calling thread only
    mutable std::mutex mutex_;
    std::vector<RootResult> results_;  // by side
    std::unique_ptr<Incumbent> incumbent_;
};

// For at most 0, 1, 2, ... splits, a tree with the gain of the search; `cut_of` has the caller's numbers of
// cuts. Once `is_over`, trees are no longer wanted.
std::vector<Tree> build_trees(SweepSearch& search, const Profile& gains, const std::vector<int>& cut_of,
                              std::vector<bool>& is_wanted, const std::function<bool()>& is_over);

}  // namespace surtree
