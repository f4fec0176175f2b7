// Screening of the root at depth three: gains in single precision first, with a bound on their error.
//
// Only cuts that may be the root of a best tree, of some number of splits, need be solved in double
// precision. Their gains are those that a search without screening finds, to the last bit; of all others
// nothing is known but that they are not among the best.
#pragma once

#include <memory>
#include <mutex>

#include "search/bounds.hpp"
#include "search/table_solver.hpp"

namespace surtree {

class Screening {
 public:
    // False if the objective has no rough gain or, unless `always`, tables are small.
    static bool may_pay(const TableSolver& tables, const Rows& rows, bool always);

    // Null if the sums of the rows do not fit or, unless `always`, columns are too different to fill the
    // lanes.
    static std::unique_ptr<Screening> make(const TableSolver& tables, const Columns& columns,
                                           const Rows& rows, const bool* stop, bool always);

    // Threads share the tasks. Each that is at work takes so many bytes.
    int n_tasks() const { return static_cast<int>(tasks_.size()); }
    std::size_t bytes_of_thread() const { return best_size_ * sizeof(float); }
    void run(int task, Scratch& scratch);

    // After all tasks: the gains of the sides of all cuts, exact with at most one split; false if stopped.
    bool finish();
    const SideProfiles& sides() const { return sides_; }

    // Unsolved cuts that may still be the root of an optimal tree, given the best gains of solved ones.
    std::vector<int> open_cuts(const std::vector<RootResult>& results, const Profile& gains) const;

    // The cut with the best rough gain of each size.
    std::vector<int> promising_cuts(int n_splits) const;

 private:
    // The best stumps that some tasks have found: for each pair of axes, a number for each pair of sides.
    struct Best {
        std::vector<float> values;
        std::vector<float*> of_pair;
    };

    Screening(const TableSolver& tables, const Columns& columns, const Rows& rows, const bool* stop);
    bool pack_rows();
    void find_lines();
    void sort_rows();
    void plan_tasks();
    double n_lanes() const;
    std::unique_ptr<Best> take_best();
    template <class Visit>
    void for_each_cut(int n_splits, const Visit& visit) const;

    const Columns& columns_;
    const Rows& rows_;
    Scratch scratch_;
    SideProfiles sides_;
    KernelInput root_;

    double unit_ = 1;   // of the whole numbers that stand for sums, in units of the grid
    double slack_ = 0;  // no tree gains more than its rough gain and this, in units of the grid
    std::vector<CutLine> lines_;
    std::vector<const CutLine*> lines_of_axis_;
    std::vector<int> n_lines_;
    std::vector<long long> packed_;
    std::vector<int> least_, order_, begin_;
    std::vector<std::vector<int>> tasks_;  // pairs of axes, one for each lane
    std::size_t best_size_ = 0;
    ScreenInput input_{};
    std::mutex mutex_;
    std::vector<std::unique_ptr<Best>> best_;  // not in use
};

}  // namespace surtree
