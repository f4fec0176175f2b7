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
constexpr double tie_tolerance = 1e-12;                           // of all events
constexpr std::size_t max_running_tables = std::size_t{1} << 24;  // doubles

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
    std::vector<double> tables;
    std::vector<double> running_tables;
    RowSet sorted;
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
        tie_ = tie_tolerance * total_events();
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
        if (kernel_depth_ == 3) {
            Worker worker;
            tables_size_ = kernels().tables_size(kernel_input(rows_.all, 3, worker));
            const std::size_t n = axes_.size();
            n_tables_ = n < 3 ? 1 : n * (n - 1) * (n - 2) / 6;
        }
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
    // Sides of the root that a thread solves in one go.
    struct Task {
        int first_side, last_side;
    };

    // The best profile known for the rows on one side of a root cut, and the depth it is optimal for.
    struct RootSide {
        int depth = -1;
        Profile profile;
    };

    double total_events() const {
        double sum = 0;
        for (int r = 0; r < rows_.all.n; ++r) sum += rows_.all.sums[at(r * rows_.n_sums)];
        return sum;
    }

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
        root_sides_ = sides(rows_.all);
        // One more level at a time: each stage leaves a whole tree, and the order in which to go on.
        Status status = Status::optimal;
        for (stage_depth_ = kernel_depth_; stage_depth_ <= depth_ && status == Status::optimal;
             ++stage_depth_)
            status = run_tasks(tasks(), start);
        return status;
    }

    // The whole root at first; then columns, each swept; then, where one side is work enough, sides.
    std::vector<Task> tasks() const {
        if (stage_depth_ == kernel_depth_) return {{0, n_sides_}};
        std::vector<Task> out;
        for (const int side : promising_sides()) {
            const Axis& axis = axis_of_side(side);
            Task task{side, side + 1};
            if (stage_depth_ == 4 && kernel_depth_ == 3)
                task = {first_side(axis), first_side(axis) + axis.n_sides};
            const bool is_new = std::none_of(out.begin(), out.end(), [&](const Task& other) {
                return other.first_side == task.first_side;
            });
            if (is_new) out.push_back(task);
        }
        return out;
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
    Status run_tasks(const std::vector<Task>& tasks, Clock::time_point start) {
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

    void run_task(const Task& task, Worker& worker) {
        const int depth = stage_depth_ - 1;
        if (stage_depth_ == kernel_depth_) {
            if (!run_kernel(rows_.all, kernel_depth_, worker, worker.kernel_gains)) return;
            const std::vector<Profile> profiles = split_profiles(worker.kernel_gains, kernel_depth_);
            for (std::size_t s = 0; s < profiles.size(); ++s) gains_of_sides_[s] = {depth, profiles[s]};
            return;
        }
        const Axis& axis = axis_of_side(task.first_side);
        if (task.last_side - task.first_side == axis.n_sides) {
            std::vector<Profile> profiles;
            if (!solve_sides(rows_.all, axis, root_sides_, depth, worker, profiles)) return;
            for (std::size_t s = 0; s < profiles.size(); ++s)
                if (!profiles[s].empty()) gains_of_sides_[at(task.first_side) + s] = {depth, profiles[s]};
            return;
        }
        Profile profile;
        if (!solve_side(rows_.all, axis, task.first_side, root_sides_, depth, worker, profile)) return;
        gains_of_sides_[at(task.first_side)] = {depth, std::move(profile)};
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
        start_profile(leaf, rows.n, depth, out);
        if (leaf < infeasible / 2 || out.size() == 1) return true;
        if (depth <= kernel_depth_) {
            if (!run_kernel(rows, depth, worker, worker.kernel_gains)) return false;
            join_sides(worker.kernel_gains, depth, out);
            return true;
        }
        const Sides children = sides(rows);
        std::vector<Profile> of_sides;
        for (const Axis& axis : axes_) {
            if (!solve_sides(rows, axis, children, depth - 1, worker, of_sides)) return false;
            for (int c = 0; c < axis.n_cuts; ++c) {
                const Profile &yes = of_sides[at(c)], &no = of_sides[at(axis.n_cuts + c)];
                join(yes.data(), yes.size(), no.data(), no.size(), out);
            }
        }
        make_monotone(out);
        return !stopped();
    }

    // Profiles of all sides of one column; empty where a side or its opposite has no rows.
    bool solve_sides(const RowSet& rows, const Axis& axis, const Sides& children, int depth, Worker& worker,
                     std::vector<Profile>& out) {
        out.assign(at(axis.n_sides), {});
        std::vector<int> unsolved;
        for (int s = 0; s < axis.n_sides; ++s) {
            const std::size_t side = at(first_side(axis) + s);
            if (children.n[side] == 0 || children.n[side] == rows.n) continue;
            if (!memo_[at(depth)].find(children.key[side], out[at(s)])) unsolved.push_back(s);
        }
        if (depth == 3 && kernel_depth_ == 3 && pays_to_sweep(rows, axis, children, unsolved))
            return sweep(rows, axis, children, unsolved, worker, out);
        for (const int s : unsolved)
            if (!solve_side(rows, axis, first_side(axis) + s, children, depth, worker, out[at(s)]))
                return false;
        return true;
    }

    // Adding a row to a table costs about as much as copying ten numbers.
    bool pays_to_sweep(const RowSet& rows, const Axis& axis, const Sides& children,
                       const std::vector<int>& unsolved) const {
        if (unsolved.size() < 2 || tables_size_ * at(axis.n_bins + 1) > max_running_tables) return false;
        double n_one_by_one = 0;
        for (const int s : unsolved) n_one_by_one += children.n[at(first_side(axis) + s)];
        const double n_tables = static_cast<double>(n_tables_), size = static_cast<double>(tables_size_);
        return (n_one_by_one - rows.n) * n_tables > 0.1 * size * axis.n_bins;
    }

    // Rows are added to the tables once, bin by bin. The tables of any side are then differences.
    bool sweep(const RowSet& rows, const Axis& axis, const Sides& children, const std::vector<int>& unsolved,
               Worker& worker, std::vector<Profile>& out) {
        const int column = column_of(axis);
        std::vector<int> begin;
        sort_rows(rows, n_columns(), rows_.n_sums, column, axis.n_bins, begin, worker.sorted);
        std::vector<double>& running = worker.running_tables;
        running.resize(tables_size_ * at(axis.n_bins + 1));
        std::fill_n(running.begin(), tables_size_, 0.0);
        const KernelInput input = kernel_input(worker.sorted, 3, worker);
        for (int b = 0; b < axis.n_bins; ++b) {
            double* here = running.data() + at(b + 1) * tables_size_;
            std::copy_n(here - tables_size_, tables_size_, here);
            kernels().add_rows(input, begin[at(b)], begin[at(b + 1)], here);
        }
        worker.tables.resize(tables_size_);
        for (const int s : unsolved) {
            const double* tables = region_tables(axis, s, running, worker.tables);
            const std::size_t side = at(first_side(axis) + s);
            const double leaf = leaf_gain_of_tables(tables);
            Profile& profile = out[at(s)];
            start_profile(leaf, children.n[side], 3, profile);
            if (leaf > infeasible / 2 && profile.size() > 1) {
                if (!run_tables(tables, worker, worker.kernel_gains)) return false;
                join_sides(worker.kernel_gains, 3, profile);
            }
            memo_[3].store(children.key[side], profile);
        }
        return true;
    }

    const double* region_tables(const Axis& axis, int region, const std::vector<double>& running,
                                std::vector<double>& scratch) const {
        const Run* run = axis.runs.data() + axis.run_begin[at(region)];
        const Run* end = axis.runs.data() + axis.run_begin[at(region + 1)];
        const auto table = [&](int bin) { return running.data() + at(bin) * tables_size_; };
        if (end - run == 1 && run->first == 0) return table(run->last);
        for (bool first = true; run != end; ++run, first = false) {
            const double *high = table(run->last), *low = table(run->first);
            if (first)
                for (std::size_t k = 0; k < tables_size_; ++k) scratch[k] = high[k] - low[k];
            else
                for (std::size_t k = 0; k < tables_size_; ++k) scratch[k] += high[k] - low[k];
        }
        return scratch.data();
    }

    // Sums of all rows: those of the first table.
    double leaf_gain_of_tables(const double* tables) const {
        double sums[4] = {};
        std::size_t n_cells = 1;
        for (std::size_t k = 0; k < std::min<std::size_t>(3, order_.size()); ++k)
            n_cells *= at(axes_[at(order_[k])].n_bins);
        for (std::size_t k = 0; k < n_cells; ++k)
            for (int c = 0; c < rows_.n_sums; ++c) sums[c] += tables[k * at(rows_.n_sums) + at(c)];
        return leaf_gain(sums, limited_);
    }

    void start_profile(double leaf, int n_rows, int depth, Profile& out) const {
        out.assign(at(std::min(budget_[at(depth)], n_rows - 1) + 1), leaf);
    }

    static void make_monotone(Profile& out) {
        std::partial_sum(out.begin(), out.end(), out.begin(),
                         [](double a, double b) { return std::max(a, b); });
    }

    // What a kernel found for the sides of all cuts.
    void join_sides(const std::vector<double>& gains, int depth, Profile& out) const {
        const std::size_t width = std::size_t{1} << (depth - 1);
        for (const Axis& axis : axes_)
            for (int c = 0; c < axis.n_cuts; ++c) {
                const double* yes = gains.data() + at(first_side(axis) + c) * width;
                const double* no = yes + at(axis.n_cuts) * width;
                join(yes, width, no, width, out);
            }
        make_monotone(out);
    }

    // Every way to share k splits: one for the cut, the others left and right.
    static void join(const double* yes, std::size_t n_yes, const double* no, std::size_t n_no, Profile& out) {
        for (std::size_t i = 0; i < n_yes && i + 1 < out.size(); ++i)
            for (std::size_t j = 0; j < n_no && i + j + 1 < out.size(); ++j)
                out[i + j + 1] = std::max(out[i + j + 1], yes[i] + no[j]);
    }

    KernelInput kernel_input(const RowSet& rows, int depth, Worker& worker) {
        worker.views.clear();
        for (const int c : order_) {
            const Axis& axis = axes_[at(c)];
            worker.views.push_back({axis.n_bins, axis.n_cuts, axis.n_sides, axis.n_regions, axis.n_deep,
                                    axis.runs.data(), axis.run_begin.data(), axis.splits.data(),
                                    axis.split_begin.data(), axis.membership.data(), rows.column(c),
                                    first_side(axis)});
        }
        KernelInput input{worker.views.data(),
                          static_cast<int>(worker.views.size()),
                          rows.n,
                          rows.sums.data(),
                          rows_.n_sums,
                          static_cast<double>(limits_.min_samples_leaf),
                          static_cast<double>(limits_.min_events_leaf),
                          nullptr,
                          &stop_,
                          nullptr,
                          nullptr};
        const std::size_t need = kernels().workspace(input, depth);
        if (worker.workspace.size() < need) worker.workspace.resize(need);
        input.workspace = worker.workspace.data();
        return input;
    }

    bool run_kernel(const RowSet& rows, int depth, Worker& worker, std::vector<double>& gains) {
        KernelInput input = kernel_input(rows, depth, worker);
        if (depth == 3) {
            worker.tables.assign(tables_size_, 0.0);
            kernels().add_rows(input, 0, rows.n, worker.tables.data());
            return run_tables(worker.tables.data(), worker, gains);
        }
        gains.resize(at(n_sides_) << (depth - 1));
        input.side_gains = gains.data();
        return kernels().depth[depth - 1](input);
    }

    bool run_tables(const double* tables, Worker& worker, std::vector<double>& gains) {
        KernelInput input = kernel_input(rows_.all, 3, worker);
        gains.resize(at(n_sides_) * 4);
        input.tables = tables;
        input.side_gains = gains.data();
        return kernels().depth[2](input);
    }

    double leaf_gain(const RowSet& rows, bool limited) const {
        double sums[4] = {};
        for (int r = 0; r < rows.n; ++r)
            for (int c = 0; c < rows_.n_sums; ++c) sums[c] += rows.sums[at(r * rows_.n_sums + c)];
        return leaf_gain(sums, limited);
    }

    double leaf_gain(const double (&sums)[4], bool limited) const {
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

    // Calls back with every way to spend a number of splits, in the order that breaks ties.
    template <class ProfileOf, class Consider>
    void for_each_choice(int splits, const ProfileOf& profile_of, const Consider& consider) const {
        for (int a = 0; a < n_columns(); ++a)
            for (int c = 0; c < axes_[at(a)].n_cuts; ++c) {
                const int side = first_side(axes_[at(a)]) + c;
                const Profile& yes = profile_of(side);
                const Profile& no = profile_of(opposite(side));
                for (int i = std::max(0, splits - static_cast<int>(no.size()));
                     i < std::min(splits, static_cast<int>(yes.size())); ++i)
                    consider(Choice{a, c, i, splits - 1 - i}, yes[at(i)] + no[at(splits - 1 - i)]);
            }
    }

    template <class ProfileOf>
    Choice choose(int splits, const ProfileOf& profile_of) const {
        double most = 2 * infeasible;
        for_each_choice(splits, profile_of, [&](const Choice&, double gain) { most = std::max(most, gain); });
        Choice chosen;
        for_each_choice(splits, profile_of, [&](const Choice& choice, double gain) {
            if (chosen.cut < 0 && gain >= most - tie_) chosen = choice;
        });
        return chosen;
    }

    int fewest(int k, const Profile& gains) const {
        const double enough = gains[at(k)] - tie_;
        while (k > 0 && gains[at(k - 1)] >= enough) --k;
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
        Worker& worker = again_worker_;
        std::atomic_ref(stop_).store(false);  // what was solved before a stop is soon solved again
        start_profile(leaf_gain(rows, limited_), rows.n, depth, solved.profile);
        if (depth <= kernel_depth_) {
            run_kernel(rows, depth, worker, worker.kernel_gains);
            join_sides(worker.kernel_gains, depth, solved.profile);
            solved.sides = split_profiles(worker.kernel_gains, depth);
        } else {
            solve(rows, depth, worker, solved.profile);
            const Sides children = sides(rows);
            std::vector<Profile> of_sides;
            for (const Axis& axis : axes_) {
                solve_sides(rows, axis, children, depth - 1, worker, of_sides);
                solved.sides.insert(solved.sides.end(), of_sides.begin(), of_sides.end());
            }
        }
        return again_.emplace(name, std::move(solved)).first->second;
    }

    // A kernel's output, cut into the profiles of the sides.
    std::vector<Profile> split_profiles(const std::vector<double>& gains, int depth) const {
        const std::size_t width = std::size_t{1} << (depth - 1);
        std::vector<Profile> out;
        for (std::size_t s = 0; s < at(n_sides_); ++s)
            out.emplace_back(gains.data() + s * width, gains.data() + (s + 1) * width);
        return out;
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
    std::vector<int> order_;       // axes by number of cuts
    std::size_t tables_size_ = 0;  // what depth three starts from, in doubles
    std::size_t n_tables_ = 0;
    std::vector<Memo> memo_;  // by depth
    std::vector<RootSide> gains_of_sides_;
    Sides root_sides_;
    double tie_ = 0;  // gains this close are equal but for rounding
    bool stop_ = false;
    Worker again_worker_;
    std::map<std::array<std::uint64_t, 3>, Solved> again_;
};

}  // namespace

Solution solve(const Problem& problem, const Limits& limits, const Control& control) {
    return Search(problem, limits, control).run();
}

}  // namespace surtree
