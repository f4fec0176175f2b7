// Dynamic programming over sets of rows: T(D, d, n) of the paper for every n at once.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <unordered_map>

#include "kernels.hpp"
#include "problem.hpp"
#include "rows.hpp"

namespace surtree {
namespace {

using Clock = std::chrono::steady_clock;

// Best gains of a set of rows with at most 0, 1, 2, ... splits. Never falls.
using Profile = std::vector<double>;

constexpr double infeasible = -1e300;
constexpr int deepest_kernel = 3;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.low; }
};

// Solved subproblems of one depth, shared by all threads. A subproblem is a set of rows: it does not
// matter which cuts led to it.
class Memo {
 public:
    bool find(const Key& key, Profile& out) {
        Shard& shard = shard_of(key);
        const std::lock_guard lock(shard.mutex);
        const auto place = shard.solved.find(key);
        if (place == shard.solved.end()) return false;
        out = place->second;
        return true;
    }

    void store(const Key& key, const Profile& profile) {
        Shard& shard = shard_of(key);
        const std::lock_guard lock(shard.mutex);
        shard.solved.emplace(key, profile);
    }

 private:
    struct Shard {
        std::mutex mutex;
        std::unordered_map<Key, Profile, KeyHash> solved;
    };
    Shard& shard_of(const Key& key) { return shards_[key.high % shards_.size()]; }
    std::array<Shard, 64> shards_;
};

// The rows of each side of each cut, counted and named without looking at the sides one by one.
struct Sides {
    std::vector<int> n;
    std::vector<Key> key;
};

// What one thread needs for itself.
struct Worker {
    std::vector<double> workspace;
    std::vector<double> kernel_gains;
    std::vector<AxisView> views;
    std::vector<RowSet> rows;  // by depth: the child that is being solved
};

class Search {
 public:
    Search(const Problem& problem, const Limits& limits, const Control& control)
        : problem_(problem),
          control_(control),
          limits_(limits),
          limited_(limits.min_samples_leaf > 1 || limits.min_events_leaf > 0),
          rows_(merge_rows(problem, limited_, true)) {
        // T(D, d, n): a budget of n splits is no use beyond 2^d - 1 or beyond the rows, nor a depth beyond n.
        const int most = std::max(0, rows_.all.n - 1);
        depth_ = std::min({limits.max_depth, limits.max_splits, most});
        const auto budget = [](int depth) { return depth > 20 ? 1 << 20 : (1 << depth) - 1; };
        budget_.assign(at(depth_ + 1), 0);
        for (int d = depth_, splits = std::min({limits.max_splits, budget(depth_), most}); d > 0; --d) {
            budget_[at(d)] = splits;
            splits = std::min(splits - 1, budget(d - 1));
        }
        choose_kernel();
        for (int c = 0; c < static_cast<int>(problem.n_columns); ++c) {
            axes_.emplace_back(problem, c, kernel_depth_);
            n_sides_ += axes_.back().n_sides;
        }
        order_.resize(axes_.size());
        std::iota(order_.begin(), order_.end(), 0);
        std::stable_sort(order_.begin(), order_.end(),
                         [&](int a, int b) { return axes_[at(a)].n_cuts < axes_[at(b)].n_cuts; });
        memo_ = std::vector<Memo>(at(depth_ + 1));
    }

    Solution run() {
        const int n_splits = depth_ > 0 ? budget_[at(depth_)] : 0;
        Solution solution;
        if (depth_ > 0) {
            const auto start = Clock::now();
            solution.status = search(start);
        }
        solution.gains = root_profile(gains_of_sides_);
        solution.gains.resize(at(n_splits + 1), solution.gains.back());
        solution.gain_bounds = solution.status == Status::optimal ? solution.gains : root_bounds();
        for (int k = 0; k <= n_splits; ++k) solution.trees.push_back(tree(k, solution.gains));
        for (double& gain : solution.gains) gain *= rows_.grid;
        for (double& bound : solution.gain_bounds) bound *= rows_.grid;
        return solution;
    }

 private:
    // The best profile known for the rows on one side of a root cut, and the depth it is optimal for.
    struct RootSide {
        int depth = -1;
        Profile profile;
    };

    // Tables over triples (pairs) of columns must stay small; else solve two levels (one) at once.
    void choose_kernel() {
        std::vector<std::size_t> bins(problem_.n_bins.begin(), problem_.n_bins.end());
        std::sort(bins.rbegin(), bins.rend());
        bins.resize(std::max<std::size_t>(bins.size(), 3), 1);
        kernel_depth_ = std::min(depth_, deepest_kernel);
        const std::size_t n_cuts = problem_.cuts.size();
        if (kernel_depth_ == 3 && (bins[0] > 64 || bins[0] * bins[1] * bins[2] > (1U << 18) || n_cuts > 1000))
            kernel_depth_ = 2;
        if (kernel_depth_ == 2 && bins[0] > 512) kernel_depth_ = 1;
    }

    Status search(Clock::time_point start) {
        gains_of_sides_.assign(at(n_sides_), {});
        std::vector<int> tasks;
        Worker first;
        Status status = Status::optimal;
        root_sides_ = sides(rows_.all);

        // One more level at a time: each stage leaves a whole tree, and the order in which to go on.
        for (int depth = kernel_depth_; depth <= depth_ && status == Status::optimal; ++depth) {
            stage_depth_ = depth;
            tasks = depth == kernel_depth_ ? std::vector<int>{-1} : promising_sides();
            status = run_tasks(tasks, start);
        }
        return status;
    }

    // Sides of the root, best cut first.
    std::vector<int> promising_sides() const {
        std::vector<std::pair<double, int>> cuts;
        for (const Axis& axis : axes_)
            for (int c = 0; c < axis.n_cuts; ++c) {
                const int yes = first_side(axis) + c, no = yes + axis.n_cuts;
                if (root_sides_.n[at(yes)] == 0 || root_sides_.n[at(no)] == 0) continue;
                cuts.emplace_back(
                    -(gains_of_sides_[at(yes)].profile.back() + gains_of_sides_[at(no)].profile.back()), yes);
            }
        std::stable_sort(cuts.begin(), cuts.end(), [](auto& a, auto& b) { return a.first < b.first; });
        std::vector<int> tasks;
        for (const auto& [value, yes] : cuts) {
            tasks.push_back(yes);
            tasks.push_back(opposite(yes));
        }
        return tasks;
    }

    // Workers take tasks from a shared counter; the calling thread only watches the clock and the user.
    Status run_tasks(const std::vector<int>& tasks, Clock::time_point start) {
        std::atomic<std::size_t> next{0};
        std::mutex mutex;
        std::condition_variable done;
        const int n_threads = std::max(1, std::min(control_.n_threads, static_cast<int>(tasks.size())));
        int running = n_threads;
        const auto work = [&] {
            Worker worker;
            for (std::size_t k = next++; k < tasks.size() && !stopped(); k = next++)
                run_task(tasks[k], worker);
            const std::lock_guard lock(mutex);
            --running;
            done.notify_one();
        };
        std::vector<std::thread> threads;
        for (int t = 0; t < n_threads; ++t) threads.emplace_back(work);

        Status status = Status::optimal;
        {
            std::unique_lock lock(mutex);
            while (running > 0) {
                auto wake = Clock::now() + std::chrono::milliseconds(20);
                const auto deadline = start + std::chrono::duration_cast<Clock::duration>(
                                                  std::chrono::duration<double>(control_.time_limit));
                if (control_.time_limit > 0 && status == Status::optimal) wake = std::min(wake, deadline);
                done.wait_until(lock, wake);
                if (running == 0 || status != Status::optimal) continue;
                if (control_.time_limit > 0 && Clock::now() >= deadline) status = Status::time_limit;
                if (control_.should_stop) {
                    lock.unlock();
                    if (control_.should_stop()) status = Status::interrupted;
                    lock.lock();
                }
                if (status != Status::optimal) std::atomic_ref(stop_).store(true);
            }
        }
        for (std::thread& thread : threads) thread.join();
        return status;
    }

    bool stopped() { return std::atomic_ref(stop_).load(std::memory_order_relaxed); }

    // A side of the root, one level less deep than the stage; or, as the first task of all, the root itself.
    void run_task(int task, Worker& worker) {
        if (task < 0) {
            std::vector<double> gains;
            if (!run_kernel(rows_.all, kernel_depth_, worker, gains)) return;
            const std::size_t width = std::size_t{1} << (kernel_depth_ - 1);
            for (int s = 0; s < n_sides_; ++s)
                gains_of_sides_[at(s)] = {
                    kernel_depth_ - 1,
                    Profile(gains.begin() + static_cast<std::ptrdiff_t>(at(s) * width),
                            gains.begin() + static_cast<std::ptrdiff_t>((at(s) + 1) * width))};
            return;
        }
        const Axis& axis = axis_of_side(task);
        Profile profile;
        if (!solve_side(rows_.all, axis, task, root_sides_, stage_depth_ - 1, worker, profile)) return;
        gains_of_sides_[at(task)] = {stage_depth_ - 1, std::move(profile)};
    }

    // The profile of the rows of `parent` on one side of a cut; false if stopped.
    bool solve_side(const RowSet& parent, const Axis& axis, int side, const Sides& sides, int depth,
                    Worker& worker, Profile& out) {
        const Key& key = sides.key[at(side)];
        if (memo_[at(depth)].find(key, out)) return true;
        if (worker.rows.size() < at(depth_)) worker.rows.resize(at(depth_));
        RowSet& child = worker.rows[at(depth)];
        take_rows(parent, n_columns(), rows_.n_sums, column_of(axis), axis, side - first_side(axis), child);
        if (!solve(child, depth, worker, out)) return false;
        memo_[at(depth)].store(key, out);
        return true;
    }

    // The profile of a set of rows, for trees of at most this depth; false if stopped.
    bool solve(const RowSet& rows, int depth, Worker& worker, Profile& out) {
        const double leaf = leaf_gain(rows, limited_);
        const int splits = std::min(budget_[at(depth)], rows.n - 1);
        out.assign(at(splits + 1), leaf);
        if (leaf < infeasible / 2 || splits == 0) return true;
        std::vector<double> gains;
        if (depth <= kernel_depth_) {
            if (!run_kernel(rows, depth, worker, gains)) return false;
            const std::size_t width = std::size_t{1} << (depth - 1);
            for (const Axis& axis : axes_)
                for (int c = 0; c < axis.n_cuts; ++c) {
                    const double* yes = gains.data() + at(first_side(axis) + c) * width;
                    const double* no = yes + at(axis.n_cuts) * width;
                    join(yes, width, no, width, out);
                }
        } else {
            const Sides children = sides(rows);
            Profile yes, no;
            for (const Axis& axis : axes_)
                for (int c = 0; c < axis.n_cuts; ++c) {
                    const int side = first_side(axis) + c, other = side + axis.n_cuts;
                    if (children.n[at(side)] == 0 || children.n[at(other)] == 0) continue;
                    if (!solve_side(rows, axis, side, children, depth - 1, worker, yes)) return false;
                    if (!solve_side(rows, axis, other, children, depth - 1, worker, no)) return false;
                    join(yes.data(), yes.size(), no.data(), no.size(), out);
                }
        }
        std::partial_sum(out.begin(), out.end(), out.begin(),
                         [](double a, double b) { return std::max(a, b); });
        return !stopped();
    }

    // Every way to share k splits: one for the cut, the others left and right.
    static void join(const double* yes, std::size_t n_yes, const double* no, std::size_t n_no, Profile& out) {
        for (std::size_t i = 0; i < n_yes && i + 1 < out.size(); ++i)
            for (std::size_t j = 0; j < n_no && i + j + 1 < out.size(); ++j)
                out[i + j + 1] = std::max(out[i + j + 1], yes[i] + no[j]);
    }

    bool run_kernel(const RowSet& rows, int depth, Worker& worker, std::vector<double>& gains) {
        worker.views.clear();
        for (const int c : order_) {
            const Axis& axis = axes_[at(c)];
            if (axis.n_cuts == 0) continue;
            worker.views.push_back({axis.n_bins, axis.n_cuts, axis.n_sides, axis.n_regions, axis.n_deep,
                                    axis.runs.data(), axis.run_begin.data(), axis.splits.data(),
                                    axis.split_begin.data(), axis.membership.data(), rows.column(c),
                                    first_side(axis)});
        }
        gains.resize(at(n_sides_) << (depth - 1));
        KernelInput input{worker.views.data(),
                          static_cast<int>(worker.views.size()),
                          rows.n,
                          rows.sums.data(),
                          rows_.n_sums,
                          static_cast<double>(limits_.min_samples_leaf),
                          static_cast<double>(limits_.min_events_leaf),
                          &stop_,
                          nullptr,
                          gains.data()};
        const std::size_t need = kernels().workspace(input, depth);
        if (worker.workspace.size() < need) worker.workspace.resize(need);
        input.workspace = worker.workspace.data();
        return kernels().depth[depth - 1](input);
    }

    double leaf_gain(const RowSet& rows, bool limited) const {
        double sums[4] = {};
        for (int r = 0; r < rows.n; ++r)
            for (int c = 0; c < rows_.n_sums; ++c) sums[c] += rows.sums[at(r * rows_.n_sums + c)];
        if (limited && (sums[2] < limits_.min_samples_leaf || sums[3] < limits_.min_events_leaf))
            return infeasible;
        return gain(sums[0], sums[1]);
    }

    // Through the kernel's own formula, so that equal sums have equal gains to the last bit.
    static double gain(double events, double hazard) {
        const std::array<double, max_lanes> e{events}, h{hazard};
        std::array<double, max_lanes> out{};
        kernels().gains(e.data(), h.data(), out.data(), max_lanes);
        return out[0];
    }

    Sides sides(const RowSet& rows) const {
        Sides out{std::vector<int>(at(n_sides_)), std::vector<Key>(at(n_sides_))};
        std::vector<int> n;
        std::vector<Key> key;
        for (int c = 0; c < n_columns(); ++c) {
            const Axis& axis = axes_[at(c)];
            n.assign(at(axis.n_bins + 1), 0);
            key.assign(at(axis.n_bins + 1), {});
            const std::uint16_t* bins = rows.column(c);
            for (int r = 0; r < rows.n; ++r) {
                ++n[at(bins[r] + 1)];
                key[at(bins[r] + 1)] = key[at(bins[r] + 1)] + rows.keys[at(r)];
            }
            for (int b = 0; b < axis.n_bins; ++b) {
                n[at(b + 1)] += n[at(b)];
                key[at(b + 1)] = key[at(b + 1)] + key[at(b)];
            }
            for (int s = 0; s < axis.n_sides; ++s)
                for (int u = axis.run_begin[at(s)]; u < axis.run_begin[at(s + 1)]; ++u) {
                    const auto [first, last] = axis.runs[at(u)];
                    const std::size_t side = at(first_side(axis) + s);
                    out.n[side] += n[at(last)] - n[at(first)];
                    out.key[side] = out.key[side] + (key[at(last)] - key[at(first)]);
                }
        }
        return out;
    }

    Profile root_profile(const std::vector<RootSide>& of_sides) const {
        // The root may always be a leaf, whatever the limits say.
        Profile out(at(depth_ > 0 ? budget_[at(depth_)] + 1 : 1), leaf_gain(rows_.all, false));
        for (const Axis& axis : axes_)
            for (int c = 0; c < axis.n_cuts && !of_sides.empty(); ++c) {
                const Profile& yes = of_sides[at(first_side(axis) + c)].profile;
                const Profile& no = of_sides[at(first_side(axis) + c + axis.n_cuts)].profile;
                join(yes.data(), yes.size(), no.data(), no.size(), out);
            }
        std::partial_sum(out.begin(), out.end(), out.begin(),
                         [](double a, double b) { return std::max(a, b); });
        return out;
    }

    // Where a side is not solved to its full depth, no tree gains more than a leaf per distinct row.
    Profile root_bounds() const {
        std::vector<RootSide> bounds = gains_of_sides_;
        const RowSet& all = rows_.all;
        std::vector<double> saturated(at(all.n));
        for (int r = 0; r < all.n; ++r)
            saturated[at(r)] = gain(all.sums[at(r * rows_.n_sums)], all.sums[at(r * rows_.n_sums + 1)]);
        for (const Axis& axis : axes_)
            for (int s = 0; s < axis.n_sides; ++s) {
                RootSide& side = bounds[at(first_side(axis) + s)];
                if (side.depth == depth_ - 1) continue;
                RowSet rows;
                double bound = 0;
                const std::uint16_t* bins = all.column(column_of(axis));
                for (int r = 0; r < all.n; ++r)
                    for (int u = axis.run_begin[at(s)]; u < axis.run_begin[at(s + 1)]; ++u)
                        if (bins[r] >= axis.runs[at(u)].first && bins[r] < axis.runs[at(u)].last)
                            bound += saturated[at(r)];
                side.profile.assign(at(budget_[at(depth_ - 1)] + 1), bound);
            }
        return root_profile(bounds);
    }

    // The tree behind root_profile()[k]: of equal ones the fewest splits, then the first column, then
    // the first cut.
    Tree tree(int k, const Profile& gains) {
        Tree out;
        build_root(k, gains, out);
        return out;
    }

    struct Choice {
        int axis = -1, cut = -1, yes = 0, no = 0;
    };

    template <class ProfileOf>
    Choice choose(int splits, const ProfileOf& profile_of) const {
        Choice best;
        double best_gain = 0;
        for (int a = 0; a < n_columns(); ++a)
            for (int c = 0; c < axes_[at(a)].n_cuts; ++c) {
                const int side = first_side(axes_[at(a)]) + c;
                const Profile& yes = profile_of(side);
                const Profile& no = profile_of(opposite(side));
                for (int i = 0; i < splits && i < static_cast<int>(yes.size()); ++i) {
                    const int j = splits - 1 - i;
                    if (j >= static_cast<int>(no.size())) continue;
                    const double gain = yes[at(i)] + no[at(j)];
                    if (best.cut >= 0 && gain <= best_gain) continue;
                    best = {a, c, i, j};
                    best_gain = gain;
                }
            }
        return best;
    }

    static int fewest(int k, const Profile& gains) {
        while (k > 0 && gains[at(k - 1)] >= gains[at(k)]) --k;
        return k;
    }

    int add_node(Tree& out) const {
        out.cut.push_back(-1);
        out.left.push_back(-1);
        out.right.push_back(-1);
        return static_cast<int>(out.cut.size()) - 1;
    }

    void build_root(int k, const Profile& gains, Tree& out) {
        const int node = add_node(out);
        const int splits = fewest(k, gains);
        if (splits == 0) return;
        const Choice choice =
            choose(splits, [&](int side) -> const Profile& { return gains_of_sides_[at(side)].profile; });
        const int side = first_side(axes_[at(choice.axis)]) + choice.cut;
        build_children(rows_.all, choice, gains_of_sides_[at(opposite(side))].depth,
                       gains_of_sides_[at(side)].depth, node, out);
    }

    void build_children(const RowSet& rows, const Choice& choice, int depth_no, int depth_yes, int node,
                        Tree& out) {
        const Axis& axis = axes_[at(choice.axis)];
        out.cut[at(node)] = axis.first_cut + choice.cut;
        for (const bool holds : {false, true}) {
            RowSet child;
            take_rows(rows, n_columns(), rows_.n_sums, choice.axis, axis,
                      holds ? choice.cut : choice.cut + axis.n_cuts, child);
            (holds ? out.right : out.left)[at(node)] = static_cast<int>(out.cut.size());
            build(child, holds ? depth_yes : depth_no, holds ? choice.yes : choice.no, out);
        }
    }

    void build(const RowSet& rows, int depth, int k, Tree& out) {
        const int node = add_node(out);
        if (k == 0) return;
        const Solved& solved = solved_again(rows, depth);
        const int splits = fewest(std::min(k, static_cast<int>(solved.profile.size()) - 1), solved.profile);
        if (splits == 0) return;
        const Choice choice =
            choose(splits, [&](int side) -> const Profile& { return solved.sides[at(side)]; });
        build_children(rows, choice, depth - 1, depth - 1, node, out);
    }

    // Values were kept without the choices behind them: of a few sets of rows, find them again.
    struct Solved {
        Profile profile;
        std::vector<Profile> sides;
    };

    const Solved& solved_again(const RowSet& rows, int depth) {
        Key key;
        for (const Key& row : rows.keys) key = key + row;
        const std::array name{static_cast<std::uint64_t>(depth), key.low, key.high};
        const auto place = again_.find(name);
        if (place != again_.end()) return place->second;
        Solved solved;
        std::atomic_ref(stop_).store(false);  // what was solved before a stop is soon solved again
        solve(rows, depth, again_worker_, solved.profile);
        solved.sides.assign(at(n_sides_), {});
        if (depth <= kernel_depth_) {
            std::vector<double> gains;
            run_kernel(rows, depth, again_worker_, gains);
            const std::size_t width = std::size_t{1} << (depth - 1);
            for (int s = 0; s < n_sides_; ++s)
                solved.sides[at(s)].assign(gains.begin() + static_cast<std::ptrdiff_t>(at(s) * width),
                                           gains.begin() + static_cast<std::ptrdiff_t>((at(s) + 1) * width));
        } else {
            const Sides children = sides(rows);
            for (const Axis& axis : axes_)
                for (int s = 0; s < axis.n_sides; ++s) {
                    const int side = first_side(axis) + s;
                    if (children.n[at(side)] == 0 || children.n[at(opposite(side))] == 0) continue;
                    solve_side(rows, axis, side, children, depth - 1, again_worker_, solved.sides[at(side)]);
                }
        }
        return again_.emplace(name, std::move(solved)).first->second;
    }

    int n_columns() const { return static_cast<int>(problem_.n_columns); }
    int column_of(const Axis& axis) const { return static_cast<int>(&axis - axes_.data()); }
    static int first_side(const Axis& axis) { return 2 * axis.first_cut; }
    const Axis& axis_of_side(int side) const { return axes_[at(problem_.cuts[at(side / 2)].column)]; }
    int opposite(int side) const {
        const Axis& axis = axis_of_side(side);
        return side - first_side(axis) < axis.n_cuts ? side + axis.n_cuts : side - axis.n_cuts;
    }

    const Problem& problem_;
    const Control& control_;
    const Limits limits_;
    const bool limited_;
    const Rows rows_;
    int depth_ = 0;
    int kernel_depth_ = 0;
    int stage_depth_ = 0;
    int n_sides_ = 0;
    std::vector<int> budget_;  // by depth: the most splits that a tree of this depth may have
    std::vector<Axis> axes_;
    std::vector<int> order_;  // axes by number of cuts
    std::vector<Memo> memo_;  // by depth
    std::vector<RootSide> gains_of_sides_;
    Sides root_sides_;
    bool stop_ = false;
    Worker again_worker_;
    std::map<std::array<std::uint64_t, 3>, Solved> again_;
};

}  // namespace

Solution solve(const Problem& problem, const Limits& limits, const Control& control) {
    return Search(problem, limits, control).run();
}

}  // namespace surtree
