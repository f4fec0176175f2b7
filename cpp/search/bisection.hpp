// Branch and bound for columns with many cuts. Chains are bisected instead of swept, rows are kept sorted by
// each chain instead of in tables of bins, and upper bounds prune most cuts.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "kernel/kernels.hpp"
#include "search/cache.hpp"
#include "search/frontier.hpp"
#include "search/workers.hpp"

namespace surtree {

class Bisection {
 public:
    // Memory of one thread.
    struct Level {
        OrderedRows rows;
        Partition partition;
        Outcome sides[2];
    };
    struct Worker {
        std::vector<Level> levels;  // by depth
        std::vector<double> scan;
        std::vector<double> histogram[2];
        std::vector<double> parts;
    };

    Bisection(const Problem& problem, const Limits& limits, const Control& control);

    // Runs until every size is proven, or until a limit: with a tolerance, up to that share of its loss. The
    // next run starts from what this one has found.
    Status run(double tolerance = 0);

    Profile gains() const;
    Profile gain_bounds() const;
    const Outcome& outcome() const { return root_->outcome(); }
    double tolerance() const { return tolerance_; }
    int proven_depth() const { return std::min(depth_, 1); }  // of a search that did not end

    // The result for a set of rows, from the cache or by search; false if stopped.
    bool find(const OrderedRows& rows, const RowSetHash& hash, int depth, Worker& worker, Outcome& out);

    // Solves both sides of a cut into worker.levels[depth]; false if stopped or if a side is empty.
    bool evaluate(const OrderedRows& rows, const Frontier& frontier, const Frontier::Place& place, int depth,
                  Worker& worker);

    Frontier frontier(const OrderedRows& rows, int depth, Outcome start, const Profile& known) const;
    Outcome start(const OrderedRows& rows, int depth, Worker& worker) const;
    Worker make_worker() const;
    void go_on() { workers_.go_on(); }
    double seconds() const { return workers_.seconds(); }

    const Problem& problem() const { return problem_; }
    const ChainedProblem& chained() const { return chained_; }
    const OrderedRows& all() const { return all_; }
    const Rows& rows() const { return rows_; }
    double tie() const { return rows_.tie; }
    int depth() const { return depth_; }
    int n_splits() const { return budget_.back(); }

    // Over all row sets: cuts that divide them, and cuts that were evaluated.
    std::uint64_t n_cuts() const { return n_cuts_; }
    std::uint64_t n_evaluated() const { return n_evaluated_; }

 private:
    void start_root(Worker& worker);
    void work();
    bool solve(const OrderedRows& rows, int depth, Worker& worker, Outcome& out);
    void solve_stumps(const OrderedRows& rows, const Partition& partition, Worker& worker,
                      Outcome (&sides)[2]) const;
    bool is_summed(const OrderedRows& rows, int column) const;
    void scan_short(const OrderedRows& rows, int place, const Partition& partition, const ScanInput& in,
                    Worker& worker) const;
    void count(const Frontier& frontier);
    Profile bound() const;
    Progress progress() const;

    const Problem& problem_;
    const Control& control_;
    const ChainedProblem chained_;
    const Rows rows_;
    const OrderedRows all_;
    std::vector<int> budget_;
    int depth_ = 0;
    double tolerance_ = 0;
    Profile known_;
    Profile bound_;  // of earlier runs
    Workers workers_;
    std::optional<Frontier> root_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Cache<Outcome>> cache_;  // by depth
    std::atomic<std::size_t> memory_left_;
    std::atomic<std::uint64_t> n_cuts_{0}, n_evaluated_{0};
};

// For at most 0, 1, 2, ... splits, a tree with the gain of the search. After a search that was cut short they
// are the best that were found. `cut_of` has the caller's numbers of cuts.
std::vector<Tree> build_trees(Bisection& search, Status status, const std::vector<int>& cut_of,
                              std::vector<bool>& is_wanted);

}  // namespace surtree
