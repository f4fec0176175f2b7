#include "search/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace surtree {

SweepSearch::SweepSearch(const Problem& problem, const Limits& limits, const Control& control)
    : problem_(problem),
      control_(control),
      all_lead_(problem.all_lead()),
      workers_(control),
      recursion_(problem, limits, control, workers_),
      root_leaf_(rows().leaf.gain(sum_rows(rows().all).data())),
      plan_(plan_sweep(recursion_.workload(),
                       {all_lead_, recursion_.stump_filler() != nullptr, recursion_.has_side_cache(),
                        control.switches.screen != 0 && recursion_.depth() == sweep_depth &&
                            Screening::may_pay(recursion_.tables(), rows(), control.switches.screen == 2)},
                       control)) {}

bool SweepSearch::leads(int side) const {
    const Column& column = recursion_.columns().of_side(side);
    return problem_.cuts[at(column.first_cut + (side - column.first_side()) % column.n_cuts)].leads;
}

Status SweepSearch::run() {
    if (!plan_.stages.empty()) results_.resize(at(recursion_.columns().n_sides()));
    Status status = Status::optimal;
    for (const Stage& stage : plan_.stages) {
        if (stage.step == Step::solve && stage.depth == proven_depth_) continue;  // by screening
        if (is_timed(control_) && !stage.fits(workers_.seconds(), control_.time_limit)) continue;
        stage_ = &stage;
        recursion_.use_side_cache(stage.depth <= side_cache_depth);
        status = run_stage();
        if (status != Status::optimal) break;
    }
    recursion_.use_side_cache(false);
    return status;
}

Status SweepSearch::run_stage() {
    switch (stage_->step) {
        case Step::fill_side_cache:
            return fill_side_cache();
        case Step::clear_stumps:
            return clear_stumps();
        case Step::fill_stumps:
            return fill_stumps();
        case Step::screen:
            return screen();
        case Step::find_incumbent:
            return run_tasks(1,
                             [this](std::size_t, Recursion::Worker& worker) {
                                 auto found =
                                     find_incumbent(recursion_, rows().all, recursion_.depth(), worker);
                                 const std::lock_guard lock(mutex_);
                                 incumbent_ = std::move(found);
                             },
                             {});
        default:
            return solve();
    }
}

Status SweepSearch::fill_side_cache() {
    const std::vector<Sides> tasks = root_tasks();
    const double start = workers_.seconds();
    std::atomic<int> n_done{0};
    std::atomic<bool> is_late{false};
    const auto fill = [&](std::size_t task, Recursion::Worker& worker) {
        if (is_late) return;
        recursion_.fill_side_cache(tasks[task].first, worker);
        const double done = ++n_done / static_cast<double>(tasks.size());
        if (is_timed(control_))
            is_late = stage_->is_late(start, workers_.seconds(), done, control_.time_limit);
    };
    const Status status = run_tasks(tasks.size(), fill, {0, stage_->share});
    if (is_late) recursion_.use_side_cache(false);
    if (is_late || status != Status::optimal) return status;
    prepared_ = stage_->share;
    recursion_.freeze_side_cache();
    return status;
}

Status SweepSearch::clear_stumps() {
    StumpStore& store = *recursion_.stump_store();
    const auto clear = [&](std::size_t part, Recursion::Worker&) { store.clear(static_cast<int>(part)); };
    const Status status = run_tasks(at(store.n_parts_to_clear()), clear, {});
    if (status == Status::optimal) store.finish_clearing();
    return status;
}

Status SweepSearch::fill_stumps() {
    StumpFiller& filler = *recursion_.stump_filler();
    const auto fill = [&](std::size_t task, Recursion::Worker& worker) {
        filler.run(static_cast<int>(task), worker.scratch);
    };
    const Status status = run_tasks(at(filler.n_tasks()), fill, {0, stage_->share});
    if (status != Status::optimal) return status;
    prepared_ = stage_->share;
    recursion_.use_filled_stumps();
    return status;
}

// Solves the root by screening, unless the rows do not fit it, or too many cuts stay open.
Status SweepSearch::screen() {
    const bool always = control_.switches.screen == 2;
    const auto screening =
        Screening::make(recursion_.tables(), recursion_.columns(), rows(), workers_.stop_flag(), always);
    if (!screening) return Status::optimal;
    const Share begun{0, stage_->share}, ended{stage_->share, stage_->share};
    const auto run = [&](std::size_t task, Recursion::Worker& worker) {
        screening->run(static_cast<int>(task), worker.scratch);
    };
    // Half of the memory is for what threads find.
    Status status = run_tasks(at(screening->n_tasks()), run, begun,
                              control_.memory_limit / 2 / screening->bytes_of_thread());
    const auto finish = [&](std::size_t, Recursion::Worker&) {
        if (!screening->finish()) return;
        const std::lock_guard lock(mutex_);
        screening->sides().for_each(recursion_.columns(), [&](int side, const double* from) {
            results_[at(side)] = {1, {from, from + 2}};
        });
    };
    if (status == Status::optimal) status = run_tasks(1, finish, ended);
    // Once the most promising cuts are solved, few others are left.
    if (status == Status::optimal) status = solve_screened(screening->promising_cuts(recursion_.n_splits()));
    if (status != Status::optimal) return status;
    const std::vector<int> open = screening->open_cuts(results_, gains_of_sides());
    if (!always && !has_screened_enough(open.size(), recursion_.columns())) return status;
    status = solve_screened(open);
    if (status == Status::optimal) proven_depth_ = stage_->depth;
    return status;
}

// Solves both sides of each cut.
Status SweepSearch::solve_screened(const std::vector<int>& cuts) {
    const auto solve_one = [&](std::size_t task, Recursion::Worker& worker) {
        int side = recursion_.columns().side_of_cut(cuts[task / 2]);
        if (task % 2 == 1) side = recursion_.columns().opposite(side);
        Profile profile;
        if (!recursion_.solve_root_side(side, stage_->depth - 1, worker, profile)) return;
        const std::lock_guard lock(mutex_);
        results_[at(side)] = {stage_->depth - 1, std::move(profile)};
    };
    return run_tasks(2 * cuts.size(), solve_one, {stage_->share, stage_->share});
}

Status SweepSearch::solve() {
    const std::vector<Sides> tasks = root_tasks();
    const auto work = [&](std::size_t task, Recursion::Worker& worker) {
        solve_root_sides(tasks[task], worker);
    };
    const bool by_side = stage_->depth == recursion_.depth() && stage_->depth > recursion_.tables().depth();
    const Status status =
        by_side && !stage_->by_column ? solve_weakest_first() : run_tasks(tasks.size(), work, {prepared_, 1});
    if (status == Status::optimal) proven_depth_ = stage_->depth;
    prepared_ = 0;
    return status;
}

// Both sides of one cut after another: next comes the cut with the weakest bound, and of those that are as
// weak one of the column that is most promising. What is solved bounds its neighbours, so that the bound of
// the root falls soon.
Status SweepSearch::solve_weakest_first() {
    const Columns& columns = recursion_.columns();
    const int depth = stage_->depth - 1, n_splits = recursion_.n_splits();
    if (!bounds_) bounds_.emplace(columns, rows());
    std::vector<int> open = promising_sides();  // two sides a cut
    const std::size_t n = open.size();
    std::vector<double> most(at(columns.n_sides()), std::numeric_limits<double>::infinity());  // by side
    std::optional<int> second;
    const auto next = [&] {
        const std::lock_guard lock(mutex_);
        if (second) return *std::exchange(second, {});
        std::size_t weakest = 0;
        for (std::size_t k = 2; k < open.size(); k += 2)
            if (most[at(open[k])] > most[at(open[weakest])] + rows().tie) weakest = k;
        // Of its column, the middle one bounds most of the others.
        std::vector<int> alike;
        for (std::size_t k = 0; k < open.size(); k += 2)
            if (&columns.of_side(open[k]) == &columns.of_side(open[weakest]) &&
                most[at(open[k])] >= most[at(open[weakest])] - rows().tie)
                alike.push_back(open[k]);
        const auto middle = alike.begin() + static_cast<std::ptrdiff_t>(alike.size() / 2);
        std::nth_element(alike.begin(), middle, alike.end());
        const auto place = std::find(open.begin(), open.end(), *middle);
        const int first = place[0];
        second = place[1];
        open.erase(place, place + 2);
        return first;
    };
    const auto bound = [&](const Column& column) {
        const std::lock_guard lock(mutex_);
        const RootResult* const found = &results_[at(column.first_side())];
        const auto upper = bounds_->upper(column, found, depth, recursion_.budget(depth));
        for (int c = 0; c < column.n_cuts; ++c) {
            Profile whole(at(n_splits + 1), 2 * infeasible);
            join(upper[at(c)].profile, upper[at(column.n_cuts + c)].profile, whole);
            make_monotone(whole);
            most[at(column.first_side() + c)] = whole.back();
        }
    };
    for (const Column& column : columns) bound(column);
    const auto work = [&](std::size_t, Recursion::Worker& worker) {
        const int side = next();
        solve_root_sides({side, side + 1}, worker);
        bound(columns.of_side(side));
    };
    return run_tasks(n, work, {prepared_, 1});
}

// The whole root at first; then columns, each swept; then, where one side is work enough, sides.
std::vector<SweepSearch::Sides> SweepSearch::root_tasks() const {
    const Columns& columns = recursion_.columns();
    if (stage_->depth <= recursion_.tables().depth()) return {{0, columns.n_sides()}};
    std::vector<Sides> out;
    const auto begin = problem_.cuts.begin();
    for (const int side : promising_sides()) {
        const Column& column = columns.of_side(side);
        const auto first = begin + column.first_cut;
        const bool whole = all_lead_ || std::all_of(first, first + column.n_cuts, std::mem_fn(&Cut::leads));
        Sides task{side, side + 1};
        if (stage_->by_column && whole) task = {column.first_side(), column.first_side() + 2 * column.n_cuts};
        const auto same = [&](const Sides& other) { return other.first == task.first; };
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
Status SweepSearch::run_tasks(std::size_t n, const Work& work, const Share& share, std::size_t most_threads) {
    if (n == 0) return Status::optimal;
    std::atomic<std::size_t> next{0}, n_done{0};
    const auto run = [&] {
        Recursion::Worker worker;
        for (std::size_t k = next++; k < n && workers_.may_begin_task(); k = next++) {
            work(k, worker);
            ++n_done;
        }
    };
    if (stage_->is_quick) return workers_.run_here(run);
    // The thread that looks at the clock may be late.
    if (is_timed(control_) && workers_.seconds() >= control_.time_limit) return workers_.end_in_time();
    const std::size_t n_threads = std::min({at(control_.n_threads), n, most_threads});
    return workers_.run(std::max(1, static_cast<int>(n_threads)), run, [&] {
        if (stage_->depth < recursion_.depth()) return progress(0);
        const double done = static_cast<double>(n_done) / static_cast<double>(n);
        return progress(share.begin + done * (share.end - share.begin));
    });
}

void SweepSearch::solve_root_sides(const Sides& sides, Recursion::Worker& worker) {
    const int depth = stage_->depth - 1;
    const RowSet& all = rows().all;
    const Column& column = recursion_.columns().of_side(sides.first);
    std::vector<Profile> profiles;
    if (stage_->depth <= recursion_.tables().depth()) {
        if (!recursion_.tables().solve(all, stage_->depth, worker.scratch, worker.profiles)) return;
        profiles = worker.profiles.by_side(recursion_.columns());
        if (stage_->depth == recursion_.tables().depth()) recursion_.cache_root_sides(worker.profiles);
    } else if (sides.last - sides.first == 1) {
        profiles.resize(1);
        if (!recursion_.solve_side(all, column, sides.first, recursion_.root_sides(), depth, worker,
                                   profiles[0]))
            return;
    } else if (!recursion_.solve_sides(all, column, recursion_.root_sides(), depth, worker, profiles)) {
        return;
    }
    const std::lock_guard lock(mutex_);
    for (std::size_t s = 0; s < profiles.size(); ++s)
        if (!profiles[s].empty()) results_[at(sides.first) + s] = {depth, std::move(profiles[s])};
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
