#include "search/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace surtree {

SweepSearch::SweepSearch(const Problem& problem, const Limits& limits, const Control& control)
    : problem_(problem),
      control_(control),
      all_lead_(problem.all_lead()),
      workers_(control),
      recursion_(problem, limits, control, workers_),
      root_leaf_(rows().leaf.gain(sum_rows(rows().all).data())) {}

bool SweepSearch::leads(int side) const {
    const Column& column = recursion_.columns().of_side(side);
    return problem_.cuts[at(column.first_cut + (side - column.first_side()) % column.n_cuts)].leads;
}

// One more level at a time: each stage leaves a whole tree, and the order in which to go on.
Status SweepSearch::run() {
    if (recursion_.depth() == 0 || recursion_.columns().n_sides() == 0) return Status::optimal;
    results_.resize(at(recursion_.columns().n_sides()));
    const int kernel_depth = recursion_.tables().depth();
    const bool may_end_early = is_timed(control_) || control_.wants_progress;
    Status status = Status::optimal;
    // The kernels solve their levels at once, which takes long where there are many columns.
    stage_depth_ = kernel_depth;
    if (may_end_early && !is_quick()) stage_depth_ = 1;
    for (; stage_depth_ <= recursion_.depth() && status == Status::optimal; ++stage_depth_) {
        // The stage before the side cache is used only leaves a tree, for searches that may be stopped early.
        if (stage_depth_ == Recursion::side_cache_depth - 1 && recursion_.has_side_cache() && !may_end_early)
            continue;
        recursion_.use_side_cache(stage_depth_ <= Recursion::side_cache_depth);
        status = run_stage();
        if (status == Status::optimal) proven_depth_ = stage_depth_;
        const bool wants_incumbent = stage_depth_ == kernel_depth && stage_depth_ + 1 < recursion_.depth();
        if (wants_incumbent && status == Status::optimal) status = run_tasks({{Task::Kind::find_incumbent}});
    }
    recursion_.use_side_cache(false);
    return status;
}

Status SweepSearch::run_stage() {
    if (stage_depth_ == Recursion::side_cache_depth && worth_filling_side_cache()) {
        std::vector<Task> filling = tasks();
        for (Task& task : filling) task.kind = Task::Kind::fill_side_cache;
        const Status status = run_tasks(filling);
        if (status != Status::optimal) return status;
        side_cache_filled_ = true;
        recursion_.freeze_side_cache();
    }
    if (stage_depth_ == recursion_.tables().depth() + 1 && recursion_.stump_filler()) {
        const Status status = prepare_stumps();
        if (status != Status::optimal) return status;
    }
    if (stage_depth_ == 3 && recursion_.depth() == 3) {
        const std::optional<Status> status = screen();
        screening_.reset();
        if (status) return *status;
    }
    return run_tasks(tasks());
}

// The last stage by screening; nothing if that does not pay.
std::optional<Status> SweepSearch::screen() {
    const Columns& columns = recursion_.columns();
    const int use = control_.switches.screen;
    if (use == 0 || recursion_.tables().depth() < 3) return {};
    screening_ = Screening::plan(recursion_.tables(), columns, rows(), workers_.stop_flag(), use == 2);
    if (!screening_) return {};
    std::vector<Task> parts;
    for (int k = 0; k < screening_->n_tasks(); ++k) parts.push_back({Task::Kind::screen, k, k + 1});
    // Half of the memory is for what threads find.
    Status status = run_tasks(parts, control_.memory_limit / 2 / screening_->bytes_of_thread());
    if (status == Status::optimal) status = run_tasks({{Task::Kind::finish_screening}});
    // Once the most promising cuts are solved, few others are left.
    if (status == Status::optimal)
        status = run_tasks(screened_sides(screening_->promising_cuts(recursion_.n_splits())));
    if (status != Status::optimal) return status;
    const std::vector<int> open = screening_->open_cuts(results_, gains_of_sides());
    if (use != 2 && open.size() > at(columns.size())) return {};
    return run_tasks(screened_sides(open));
}

// Both sides of each cut.
std::vector<SweepSearch::Task> SweepSearch::screened_sides(const std::vector<int>& cuts) const {
    std::vector<Task> out;
    for (const int cut : cuts) {
        const int side = recursion_.columns().side_of_cut(cut);
        for (const int s : {side, recursion_.columns().opposite(side)})
            out.push_back({Task::Kind::solve_screened, s, s + 1});
    }
    return out;
}

// Clears the table of stumps, and fills it. Nothing is proven before all stumps are found, so they must be
// well within the time. A sweep stores what it finds in the table, which pays if it may end in time.
Status SweepSearch::prepare_stumps() {
    if (!may_use_stumps(1)) return Status::optimal;
    StumpStore& store = *recursion_.stump_store();
    std::vector<Task> clearing, filling;
    for (int k = 0; k < store.n_parts_to_clear(); ++k)
        clearing.push_back({Task::Kind::clear_stumps, k, k + 1});
    Status status = run_tasks(clearing);
    if (status != Status::optimal) return status;
    store.finish_clearing();
    if (!may_use_stumps(2)) return Status::optimal;
    for (int k = 0; k < recursion_.stump_filler()->n_tasks(); ++k)
        filling.push_back({Task::Kind::fill_stumps, k, k + 1});
    status = run_tasks(filling);
    if (status != Status::optimal) return status;
    stumps_filled_ = true;
    recursion_.use_filled_stumps();
    return status;
}

// Whether so many times the seconds that it takes to fill the table of stumps are left.
bool SweepSearch::may_use_stumps(double times_to_fill) {
    const double seconds = times_to_fill * StumpFiller::seconds_to_fill(recursion_.columns(), rows().all.n);
    return !is_timed(control_) || workers_.seconds() + seconds / control_.n_threads < control_.time_limit;
}

// No side of the root is solved before the cache is filled for all. Where time may end before, the most
// promising sides are solved first instead.
bool SweepSearch::worth_filling_side_cache() const {
    if (!recursion_.has_side_cache() || !all_lead_) return false;
    return !is_timed(control_) || workers_.seconds() * recursion_.columns().n_sides() < control_.time_limit;
}

// The whole root at first; then columns, each swept; then, where one side is work enough, sides.
std::vector<SweepSearch::Task> SweepSearch::tasks() const {
    const Columns& columns = recursion_.columns();
    const int kernel_depth = recursion_.tables().depth();
    if (stage_depth_ <= kernel_depth) return {{Task::Kind::solve, 0, columns.n_sides()}};
    std::vector<Task> out;
    const auto begin = problem_.cuts.begin();
    for (const int side : promising_sides()) {
        const Column& column = columns.of_side(side);
        const auto first = begin + column.first_cut;
        const bool whole = all_lead_ || std::all_of(first, first + column.n_cuts, std::mem_fn(&Cut::leads));
        Task task{Task::Kind::solve, side, side + 1};
        if (stage_depth_ == 4 && whole)
            task = {Task::Kind::solve, column.first_side(), column.first_side() + 2 * column.n_cuts};
        const auto same = [&](const Task& other) { return other.first_side == task.first_side; };
        if (std::none_of(out.begin(), out.end(), same)) out.push_back(task);
    }
    return out;
}

// Sides of the root, best cut first.
std::vector<int> SweepSearch::promising_sides() const {
    const Columns& columns = recursion_.columns();
    std::vector<std::pair<double, int>> cuts;
    const auto add = [&](const Column& column, int cut, const Profile& yes, const Profile& no) {
        const int side = column.side(cut, true);
        if (!recursion_.root_sides().divides(side, rows().all.n) || !leads(side)) return;
        if (yes.empty() || no.empty()) return;  // divides the rows as another cut does
        cuts.emplace_back(-(yes.back() + no.back()), side);
    };
    for_each_cut(columns, results_, add, &RootResult::profile);
    std::stable_sort(cuts.begin(), cuts.end(), [](auto& a, auto& b) { return a.first < b.first; });
    std::vector<int> sides;
    for (const auto& [value, side] : cuts) sides.insert(sides.end(), {side, columns.opposite(side)});
    return sides;
}

// Threads take tasks from a shared counter.
Status SweepSearch::run_tasks(const std::vector<Task>& tasks, std::size_t most_threads) {
    if (tasks.empty()) return Status::optimal;
    std::atomic<std::size_t> next{0}, n_done{0};
    const auto work = [&] {
        Recursion::Worker worker;
        for (std::size_t k = next++; k < tasks.size() && workers_.may_begin_task(); k = next++) {
            run_task(tasks[k], worker);
            ++n_done;
        }
    };
    const bool quickly =
        tasks.front().kind == Task::Kind::find_incumbent ? finds_incumbent_quickly() : is_quick();
    if (quickly) return workers_.run_here(work);
    // The thread that looks at the clock may be late.
    if (is_timed(control_) && workers_.seconds() >= control_.time_limit) return workers_.end_in_time();
    const std::size_t n_threads = std::min({at(control_.n_threads), tasks.size(), most_threads});
    return workers_.run(std::max(1, static_cast<int>(n_threads)), work, [&] {
        if (stage_depth_ < recursion_.depth() || tasks.front().kind == Task::Kind::clear_stumps)
            return progress(0);
        const double done = static_cast<double>(n_done) / static_cast<double>(tasks.size());
        // To fill the side cache takes about twice as long as what it serves.
        if (tasks.front().kind == Task::Kind::fill_side_cache) return progress(done * 2 / 3);
        // So does what fills the table of stumps, nine times.
        if (tasks.front().kind == Task::Kind::fill_stumps) return progress(done * 9 / 10);
        if (stumps_filled_) return progress((9 + done) / 10);
        if (tasks.front().kind == Task::Kind::screen) return progress(done * 9 / 10);
        if (screening_) return progress(0.9);
        const bool is_served = side_cache_filled_ && stage_depth_ == Recursion::side_cache_depth;
        return progress(is_served ? (2 + done) / 3 : done);
    });
}

// True if the stage finishes in a few milliseconds: then threads cost more than they save, and cancellation
// need not be polled. A step, here, is adding a row to a table or evaluating a cell of one.
bool SweepSearch::is_quick() const {
    double n_steps = steps(1);
    for (int depth = recursion_.tables().depth(); depth < stage_depth_; ++depth)
        n_steps *= recursion_.columns().n_sides();
    return n_steps < 2e6;
}

// The same of the incumbent, for which the kernels solve every set of rows in a tree.
bool SweepSearch::finds_incumbent_quickly() const {
    const int levels = recursion_.depth() - recursion_.tables().depth();
    return levels * steps(std::min(std::ldexp(1.0, levels), static_cast<double>(rows().all.n))) < 1e7;
}

// The steps of the kernels, if the rows are divided into so many sets.
double SweepSearch::steps(double n_sets) const {
    const double n_rows = rows().all.n, n_columns = recursion_.columns().size();
    return n_rows * n_columns * n_columns * n_columns / 6 +
           8 * n_sets * static_cast<double>(recursion_.tables().tables_size());
}

void SweepSearch::run_task(const Task& task, Recursion::Worker& worker) {
    switch (task.kind) {
        case Task::Kind::solve:
            return solve_root_sides(task, worker);
        case Task::Kind::fill_side_cache:
            return recursion_.fill_side_cache(task.first_side, worker);
        case Task::Kind::clear_stumps:
            return recursion_.stump_store()->clear(task.first_side);
        case Task::Kind::fill_stumps:
            recursion_.stump_filler()->run(task.first_side, worker.scratch);
            return;
        case Task::Kind::screen:
            return screening_->run(task.first_side, worker.scratch);
        case Task::Kind::finish_screening: {
            if (!screening_->finish()) return;
            const std::lock_guard lock(mutex_);
            screening_->sides().for_each(recursion_.columns(), [&](int side, const double* from) {
                results_[at(side)] = {1, {from, from + 2}};
            });
            return;
        }
        case Task::Kind::solve_screened: {
            Profile profile;
            if (!recursion_.solve_root_side(task.first_side, 2, worker, profile)) return;
            const std::lock_guard lock(mutex_);
            results_[at(task.first_side)] = {2, std::move(profile)};
            return;
        }
        case Task::Kind::find_incumbent: {
            auto found = find_incumbent(recursion_, rows().all, recursion_.depth(), worker);
            const std::lock_guard lock(mutex_);
            incumbent_ = std::move(found);
        }
    }
}

void SweepSearch::solve_root_sides(const Task& task, Recursion::Worker& worker) {
    const int depth = stage_depth_ - 1;
    const RowSet& all = rows().all;
    const Column& column = recursion_.columns().of_side(task.first_side);
    std::vector<Profile> profiles;
    if (stage_depth_ <= recursion_.tables().depth()) {
        if (!recursion_.tables().solve(all, stage_depth_, worker.scratch, worker.profiles)) return;
        profiles = worker.profiles.by_side(recursion_.columns());
        if (stage_depth_ == recursion_.tables().depth()) recursion_.cache_root_sides(worker.profiles);
    } else if (task.last_side - task.first_side == 1) {
        profiles.resize(1);
        if (!recursion_.solve_side(all, column, task.first_side, recursion_.root_sides(), depth, worker,
                                   profiles[0]))
            return;
    } else if (!recursion_.solve_sides(all, column, recursion_.root_sides(), depth, worker, profiles)) {
        return;
    }
    const std::lock_guard lock(mutex_);
    for (std::size_t s = 0; s < profiles.size(); ++s)
        if (!profiles[s].empty()) results_[at(task.first_side) + s] = {depth, std::move(profiles[s])};
}

Profile SweepSearch::gains_of_sides() const {
    const std::lock_guard lock(mutex_);
    return root_gains(recursion_.columns(), results_, root_leaf_, recursion_.n_splits());
}

Profile SweepSearch::gains() const {
    Profile out = gains_of_sides();
    const std::lock_guard lock(mutex_);
    for (std::size_t k = 0; incumbent_ && k < out.size(); ++k)
        out[k] = std::max(out[k], incumbent_->profile[std::min(k, incumbent_->profile.size() - 1)]);
    return out;
}

Profile SweepSearch::gain_bounds() const {
    std::vector<RootResult> bounds;
    {
        const std::lock_guard lock(mutex_);
        bounds = results_;
    }
    if (!bounds.empty()) {
        if (!bounds_) bounds_.emplace(recursion_.columns(), rows());
        const int depth = recursion_.depth() - 1;
        const std::vector<RootResult> found = bounds;
        bounds = bounds_->upper(std::move(bounds), depth, recursion_.budget(depth));
        for (std::size_t side = 0; side < found.size(); ++side)
            if (!leads(static_cast<int>(side))) bounds[side] = found[side];
    }
    return root_gains(recursion_.columns(), bounds, root_leaf_, recursion_.n_splits());
}

Progress SweepSearch::progress(double fraction) const {
    return {fraction, gains().back() * rows().grid, gain_bounds().back() * rows().grid};
}

}  // namespace surtree
