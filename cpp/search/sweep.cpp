#include "search/sweep.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
namespace {

constexpr std::size_t max_running_tables = std::size_t{1} << 24;  // doubles

}  // namespace

SweepSearch::SweepSearch(const Problem& problem, const Limits& limits, const Control& control)
    : problem_(problem),
      control_(control),
      limits_(limits),
      rows_(merge_rows(problem, limits, control.switches.merge)),
      workers_(control),
      memory_left_(control.memory_limit) {
    budget_ = split_budgets(limits, rows_.all.n);
    depth_ = static_cast<int>(budget_.size()) - 1;
    const int kernel_depth = TableSolver::deepest(problem, std::min(depth_, control.switches.kernel_depth));
    for (std::size_t c = 0; c < problem.n_columns; ++c)
        columns_.emplace_back(problem, static_cast<int>(c), kernel_depth);
    n_sides_ = 2 * static_cast<int>(problem.cuts.size());
    table_solver_.emplace(columns_, rows_, kernel_depth, workers_.stop_flag());
    cache_ = std::vector<Cache<Profile>>(at(depth_ + 1));
    const Switches& use = control.switches;
    if (use.share && kernel_depth == 3 && depth_ > 3) stumps_.emplace(columns_);
    if (use.share && use.memo && kernel_depth == 3 && depth_ >= shared_depth &&
        SideCache::bytes_of_all(n_sides_) < static_cast<double>(control.memory_limit))
        column_group_ = two_groups(columns_);
}

Status SweepSearch::run() {
    if (depth_ == 0 || n_sides_ == 0) return Status::optimal;
    root_sides_.assign(at(n_sides_), {});
    root_gains_.assign(at(n_sides_), {});
    root_rows_ = sides_of(rows_.all);
    // One more level at a time: each stage leaves a whole tree, and the order in which to go on.
    Status status = Status::optimal;
    for (stage_depth_ = table_solver_->depth(); stage_depth_ <= depth_ && status == Status::optimal;
         ++stage_depth_) {
        // What is shared needs no stage before. A tree in between is for those who may end the search early.
        const bool may_end_early = is_timed(control_) || control_.wants_progress;
        if (stage_depth_ == shared_depth - 1 && !column_group_.empty() && !may_end_early) continue;
        if (stage_depth_ == shared_depth && worth_grouping()) {
            std::vector<Task> preparations = tasks();
            for (Task& task : preparations) task.prepares = true;
            status = run_tasks(preparations);
            if (status != Status::optimal) break;
            prepared_ = true;
            side_cache_.freeze();
        }
        status = run_tasks(tasks());
        const bool worth_a_look = stage_depth_ == table_solver_->depth() && stage_depth_ + 1 < depth_;
        if (worth_a_look && status == Status::optimal) status = run_tasks({{0, 0}});
    }
    return status;
}

// The whole root at first; then columns, each swept; then, where one side is work enough, sides.
std::vector<SweepSearch::Task> SweepSearch::tasks() const {
    if (stage_depth_ == table_solver_->depth()) return {{0, n_sides_}};
    std::vector<Task> out;
    for (const int side : promising_sides()) {
        const Column& column = column_of_side(side);
        Task task{side, side + 1};
        if (stage_depth_ == 4) task = {first_side(column), first_side(column) + 2 * column.n_cuts};
        const auto same = [&](const Task& other) { return other.first_side == task.first_side; };
        if (std::none_of(out.begin(), out.end(), same)) out.push_back(task);
    }
    return out;
}

// Sides of the root, best cut first.
std::vector<int> SweepSearch::promising_sides() const {
    std::vector<std::pair<double, int>> cuts;
    for (const Column& column : columns_)
        for (int c = 0; c < column.n_cuts; ++c) {
            const int yes = first_side(column) + c, no = yes + column.n_cuts;
            if (root_rows_.n[at(yes)] == 0 || root_rows_.n[at(no)] == 0) continue;
            const Profile &profile_yes = root_sides_[at(yes)].profile,
                          &profile_no = root_sides_[at(no)].profile;
            if (profile_yes.empty() || profile_no.empty()) continue;  // divides the rows as another cut does
            cuts.emplace_back(-(profile_yes.back() + profile_no.back()), yes);
        }
    std::stable_sort(cuts.begin(), cuts.end(), [](auto& a, auto& b) { return a.first < b.first; });
    std::vector<int> sides;
    for (const auto& [value, yes] : cuts) {
        sides.push_back(yes);
        sides.push_back(opposite(yes));
    }
    return sides;
}

// Threads take tasks from a shared counter.
Status SweepSearch::run_tasks(const std::vector<Task>& tasks) {
    std::atomic<std::size_t> next{0}, n_done{0};
    const auto work = [&] {
        Worker worker;
        for (std::size_t k = next++; k < tasks.size() && workers_.may_begin_task(); k = next++) {
            run_task(tasks[k], worker);
            ++n_done;
        }
    };
    if (is_quick()) return workers_.run_here(work);
    const int n_threads = std::max(1, std::min(control_.n_threads, static_cast<int>(tasks.size())));
    return workers_.run(n_threads, work, [&] {
        if (stage_depth_ < depth_) return progress(0);
        const double done = static_cast<double>(n_done) / static_cast<double>(tasks.size());
        // To prepare takes about twice as long as what it prepares.
        if (tasks.front().prepares) return progress(done * 2 / 3);
        return progress(prepared_ && stage_depth_ == shared_depth ? (2 + done) / 3 : done);
    });
}

// Whether a stage takes a few milliseconds at most: then threads cost more than they bring, and nobody can
// be late to stop it. A step, here, is adding a row to a table or evaluating a cell of one.
bool SweepSearch::is_quick() const {
    const double n_rows = rows_.all.n, n_columns = static_cast<double>(columns_.size()), n_sides = n_sides_;
    double steps = n_rows * n_columns * n_columns + n_sides * n_sides;
    if (table_solver_->depth() == 3)
        steps = n_rows * static_cast<double>(table_solver_->n_tables()) +
                8 * static_cast<double>(table_solver_->tables_size());
    for (int depth = table_solver_->depth(); depth < stage_depth_; ++depth) steps *= n_sides;
    return steps < 2e6;
}

void SweepSearch::run_task(const Task& task, Worker& worker) {
    worker.prepares = task.prepares;
    if (task.first_side == task.last_side) {
        std::unique_ptr<LookAhead> found = look_ahead(rows_.all, depth_, worker);
        const std::lock_guard lock(root_mutex_);
        look_ahead_ = std::move(found);
        return;
    }
    if (task.prepares) return solve_within_groups(task.first_side, worker);
    const int depth = stage_depth_ - 1;
    std::vector<Profile> profiles;
    if (stage_depth_ == table_solver_->depth()) {
        if (!table_solver_->solve(rows_.all, stage_depth_, worker.scratch, worker.side_gains)) return;
        profiles = profiles_of_sides(worker.side_gains);
        if (caches_sides()) store_sides(worker.side_gains, root_rows_.hash);
    } else if (task.last_side - task.first_side == 1) {
        profiles.resize(1);
        const Column& column = column_of_side(task.first_side);
        if (!solve_side(rows_.all, column, task.first_side, root_rows_, depth, worker, profiles[0])) return;
    } else {
        const Column& column = column_of_side(task.first_side);
        if (!solve_sides(rows_.all, column, root_rows_, depth, worker, profiles)) return;
    }
    for (std::size_t s = 0; s < profiles.size(); ++s)
        if (!profiles[s].empty()) keep(task.first_side + static_cast<int>(s), depth, std::move(profiles[s]));
}

void SweepSearch::keep(int side, int depth, Profile profile) {
    const std::lock_guard lock(root_mutex_);
    root_sides_[at(side)] = {depth, std::move(profile)};
}

Progress SweepSearch::progress(double fraction) const {
    return {fraction, gains().back() * rows_.grid, gain_bounds().back() * rows_.grid};
}

// The profile of a set of rows, for trees of at most this depth; false if stopped.
bool SweepSearch::solve(const RowSet& rows, int depth, Worker& worker, Profile& out) {
    const double leaf = table_solver_->leaf_gain(rows, is_limited());
    start_profile(leaf, rows.n, depth, out);
    const bool stores_sides = depth == 3 && caches_sides();
    if (leaf < infeasible / 2 || out.size() == 1) {
        if (stores_sides) store_sides(leaf, sides_of(rows).hash);
        return true;
    }
    if (control_.switches.bounds && !stores_sides) {
        const std::vector<double> apart = saturated_gains(rows);
        if (std::accumulate(apart.begin(), apart.end(), 0.0) <= leaf + rows_.tie) return true;
    }
    if (depth <= table_solver_->depth()) {
        if (!table_solver_->solve(rows, depth, worker.scratch, worker.side_gains)) return false;
        join_sides(worker.side_gains, out);
        if (stores_sides) store_sides(worker.side_gains, sides_of(rows).hash);
        return true;
    }
    const SideCounts sides = sides_of(rows);
    std::vector<Profile> profiles;
    for (const Column& column : columns_) {
        if (!solve_sides(rows, column, sides, depth - 1, worker, profiles)) return false;
        for (int c = 0; c < column.n_cuts; ++c) {
            const Profile &yes = profiles[at(c)], &no = profiles[at(column.n_cuts + c)];
            join(yes.data(), yes.size(), no.data(), no.size(), out);
        }
    }
    make_monotone(out);
    return !workers_.stopped();
}

// Profiles of all sides of one column; empty where a side or its opposite has no rows.
bool SweepSearch::solve_sides(const RowSet& rows, const Column& column, const SideCounts& sides, int depth,
                              Worker& worker, std::vector<Profile>& out) {
    out.assign(at(2 * column.n_cuts), {});
    std::vector<int> unsolved;
    for (int s = 0; s < 2 * column.n_cuts; ++s) {
        const std::size_t side = at(first_side(column) + s);
        if (sides.n[side] == 0 || sides.n[side] == rows.n) continue;
        if (!find(depth, sides.hash[side], out[at(s)])) unsolved.push_back(s);
    }
    if (depth == 3 && caches_sides() && !unsolved.empty()) {
        worker.side_hashes.read(rows, columns_, index_of(column));
        // Of a pair of cuts within a group, sides of the other group are known to nobody else.
        if (!worker.prepares) join_cached_sides(rows, column, sides, unsolved, worker, out);
    }
    if (depth == 3 && worth_sweeping(rows, column, sides, unsolved))
        return sweep(rows, column, sides, unsolved, worker, out);
    for (const int s : unsolved)
        if (!solve_side(rows, column, first_side(column) + s, sides, depth, worker, out[at(s)])) return false;
    return true;
}

bool SweepSearch::solve_side(const RowSet& rows, const Column& column, int side, const SideCounts& sides,
                             int depth, Worker& worker, Profile& out) {
    const RowSetHash& hash = sides.hash[at(side)];
    if (find(depth, hash, out)) return true;
    if (worker.rows.size() < at(depth_)) worker.rows.resize(at(depth_));
    RowSet& child = worker.rows[at(depth)];
    take_rows(rows, index_of(column), column.whole(), side - first_side(column), child);
    if (!solve(child, depth, worker, out)) return false;
    store(depth, hash, out);
    return true;
}

// Adding a row to a table costs about as much as copying ten numbers.
bool SweepSearch::worth_sweeping(const RowSet& rows, const Column& column, const SideCounts& sides,
                                 const std::vector<int>& unsolved) const {
    const TableSolver& table_solver = *table_solver_;
    if (!control_.switches.sweep || table_solver.depth() < 3 || unsolved.size() < 2) return false;
    if (table_solver.tables_size() * at(column.n_bins + 1) > max_running_tables) return false;
    double n_one_by_one = 0;
    for (const int s : unsolved) n_one_by_one += sides.n[at(first_side(column) + s)];
    const auto n_tables = static_cast<double>(table_solver.n_tables()),
               size = static_cast<double>(table_solver.tables_size());
    return (n_one_by_one - rows.n) * n_tables > 0.1 * size * column.n_bins;
}

// Rows are added to the tables once, bin by bin. The tables of any side are then differences.
bool SweepSearch::sweep(const RowSet& rows, const Column& column, const SideCounts& sides,
                        const std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out) {
    const TableSolver& table_solver = *table_solver_;
    const std::size_t size = table_solver.tables_size();
    StumpStore* const stumps = &rows == &rows_.all && stumps_ && stumps_->has_room() ? &*stumps_ : nullptr;
    const std::vector<bool> swept = stumps ? stumps->swept() : std::vector<bool>{};
    const auto skipped = stumps ? table_solver.skipped_tables(swept) : nullptr;
    int n_solved = 0;
    std::vector<int> begin;
    sort_rows(rows, index_of(column), column.n_bins, begin, worker.sorted);
    worker.running_tables.resize(size * at(column.n_bins + 1));
    worker.side_tables.resize(size);
    std::fill_n(worker.running_tables.begin(), size, 0.0);
    for (int b = 0; b < column.n_bins; ++b) {
        double* here = worker.running_tables.data() + at(b + 1) * size;
        std::copy_n(here - size, size, here);
        table_solver.add_rows(worker.sorted, begin[at(b)], begin[at(b + 1)], here, worker.scratch,
                              skipped.get());
        if (workers_.stopped()) return false;
    }
    for (const int s : unsolved) {
        const std::size_t side = at(first_side(column) + s);
        Profile& profile = out[at(s)];
        if (find(3, sides.hash[side], profile)) continue;  // by another side just now, or another thread
        const double* tables = region_tables(column.whole(), s, worker);
        const double leaf = table_solver.leaf_gain_of_tables(tables);
        start_profile(leaf, sides.n[side], 3, profile);
        if (leaf < infeasible / 2 || profile.size() == 1) {
            if (caches_sides()) store_sides(leaf, worker.side_hashes.of(column.whole(), s));
        } else {
            const StumpStore::Side here{stumps, swept, index_of(column), s, leaf};
            if (!table_solver.solve_tables(tables, worker.scratch, worker.side_gains,
                                           stumps ? &here : nullptr))
                return false;
            join_sides(worker.side_gains, profile);
            if (caches_sides()) store_sides(worker.side_gains, worker.side_hashes.of(column.whole(), s));
            if (&rows == &rows_.all) root_gains_[side] = worker.side_gains;
        }
        store(3, sides.hash[side], profile);
        ++n_solved;
    }
    const auto first = sides.n.begin() + first_side(column);
    const auto divides = [&](int n) { return n > 0 && n < rows.n; };
    // A side that is solved otherwise has kept no stumps.
    if (stumps && n_solved == std::count_if(first, first + 2 * column.n_cuts, divides))
        stumps->finish(index_of(column));
    return true;
}

const double* SweepSearch::region_tables(const ColumnRegions& axis, int region, Worker& worker) const {
    const std::size_t size = table_solver_->tables_size();
    const Run* run = axis.runs.data() + axis.run_begin[at(region)];
    const Run* end = axis.runs.data() + axis.run_begin[at(region + 1)];
    const auto table = [&](int bin) { return worker.running_tables.data() + at(bin) * size; };
    if (end - run == 1 && run->first == 0) return table(run->last);
    double* out = worker.side_tables.data();
    for (bool first = true; run != end; ++run, first = false) {
        const double *high = table(run->last), *low = table(run->first);
        if (first)
            for (std::size_t k = 0; k < size; ++k) out[k] = high[k] - low[k];
        else
            for (std::size_t k = 0; k < size; ++k) out[k] += high[k] - low[k];
    }
    return out;
}

bool SweepSearch::find(int depth, const RowSetHash& hash, Profile& out) {
    return control_.switches.memo && cache_[at(depth)].find(hash, out);
}

void SweepSearch::store(int depth, const RowSetHash& hash, const Profile& profile) {
    if (control_.switches.memo) cache_[at(depth)].store(hash, profile, memory_left_);
}

void SweepSearch::start_profile(double leaf, int n_rows, int depth, Profile& out) const {
    out.assign(at(std::min(budget_[at(depth)], n_rows - 1) + 1), leaf);
}

void SweepSearch::join_sides(const SideProfiles& gains, Profile& out) const {
    const double* yes = gains.gains.data();
    for (const ColumnRegions* axis : gains.axes) {
        for (int c = 0; c < axis->n_cuts; ++c, yes += gains.width)
            join(yes, gains.width, yes + at(axis->n_cuts) * gains.width, gains.width, out);
        yes += at(axis->n_cuts) * gains.width;
    }
    make_monotone(out);
}

// Calls back with the number of each side, and its gains.
template <class Visit>
void SweepSearch::for_each_side(const SideProfiles& gains, const Visit& visit) const {
    const double* from = gains.gains.data();
    for (const ColumnRegions* axis : gains.axes)
        for (int s = 0; s < axis->n_sides; ++s, from += gains.width) visit(side_of(*axis, s), from);
}

std::vector<Profile> SweepSearch::profiles_of_sides(const SideProfiles& gains) const {
    std::vector<Profile> out(at(n_sides_));
    for_each_side(gains,
                  [&](int side, const double* from) { out[at(side)].assign(from, from + gains.width); });
    return out;
}

void SweepSearch::store_sides(const SideProfiles& gains, const std::vector<RowSetHash>& hashes) {
    for_each_side(gains, [&](int side, const double* from) { side_cache_.store(hashes[at(side)], from); });
}

const SideProfiles* SweepSearch::kept_gains(const RowSet& rows) const {
    RowSetHash hash;
    for (const RowSetHash& row : rows.hashes) hash = hash + row;
    for (std::size_t side = 0; side < root_gains_.size(); ++side)
        if (root_rows_.hash[side] == hash && !root_gains_[side].gains.empty()) return &root_gains_[side];
    return nullptr;
}

SweepSearch::Solved SweepSearch::solve_again(const RowSet& rows, int depth, Worker& worker) {
    workers_.go_on();
    Solved solved;
    start_profile(table_solver_->leaf_gain(rows, is_limited()), rows.n, depth, solved.profile);
    if (depth <= table_solver_->depth()) {
        // A side that only the kernels have solved may have spent more splits than the budget of its depth,
        // which is that of a search to the end.
        solved.profile.resize(at(std::min({(1 << depth) - 1, n_splits(), rows.n - 1})) + 1,
                              solved.profile[0]);
        const SideProfiles* gains = depth == 3 ? kept_gains(rows) : nullptr;
        if (!gains) {
            if (depth < 3 || !load_sides(rows, worker.side_gains))
                table_solver_->solve(rows, depth, worker.scratch, worker.side_gains);
            gains = &worker.side_gains;
        }
        join_sides(*gains, solved.profile);
        solved.sides = profiles_of_sides(*gains);
        return solved;
    }
    solve(rows, depth, worker, solved.profile);
    const SideCounts sides = sides_of(rows);
    std::vector<Profile> profiles;
    for (const Column& column : columns_) {
        solve_sides(rows, column, sides, depth - 1, worker, profiles);
        solved.sides.insert(solved.sides.end(), profiles.begin(), profiles.end());
    }
    return solved;
}

SideCounts SweepSearch::sides_of(const RowSet& rows) const {
    SideCounts out{std::vector<int>(at(n_sides_)), std::vector<RowSetHash>(at(n_sides_))};
    std::vector<int> n;
    std::vector<RowSetHash> hash;
    for (const Column& column : columns_) {
        const ColumnRegions& axis = column.whole();
        n.assign(at(column.n_bins + 1), 0);
        hash.assign(at(column.n_bins + 1), {});
        const std::uint16_t* bins = rows.column(index_of(column));
        for (int r = 0; r < rows.n; ++r) {
            const std::size_t next = std::size_t{bins[r]} + 1;
            ++n[next];
            hash[next] = hash[next] + rows.hashes[at(r)];
        }
        for (int b = 0; b < column.n_bins; ++b) {
            n[at(b + 1)] += n[at(b)];
            hash[at(b + 1)] = hash[at(b + 1)] + hash[at(b)];
        }
        for (int s = 0; s < axis.n_sides; ++s)
            for (int u = axis.run_begin[at(s)]; u < axis.run_begin[at(s + 1)]; ++u) {
                const auto [first, last] = axis.runs[at(u)];
                const std::size_t side = at(first_side(column) + s);
                out.n[side] += n[at(last)] - n[at(first)];
                out.hash[side] = out.hash[side] + (hash[at(last)] - hash[at(first)]);
            }
    }
    return out;
}

int SweepSearch::side_of(const ColumnRegions& axis, int side) const {
    const int cut = axis.cut_of[at(side % axis.n_cuts)];
    const Column& column = columns_[at(problem_.cuts[at(cut)].column)];
    return first_side(column) + cut - column.first_cut + (side < axis.n_cuts ? 0 : column.n_cuts);
}

const Column& SweepSearch::column_of_side(int side) const {
    return columns_[at(problem_.cuts[at(side / 2)].column)];
}

int SweepSearch::opposite(int side) const {
    const Column& column = column_of_side(side);
    return side - first_side(column) < column.n_cuts ? side + column.n_cuts : side - column.n_cuts;
}

}  // namespace surtree
