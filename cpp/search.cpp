#include "search.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
namespace {

constexpr std::size_t max_running_tables = std::size_t{1} << 24;  // doubles

}  // namespace

Search::Search(const Problem& problem, const Limits& limits, const Control& control)
    : problem_(problem),
      control_(control),
      limits_(limits),
      limited_(limits.min_samples_leaf > 1 || limits.min_events_leaf > 0),
      rows_(merge_rows(problem, limited_, control.switches.merge)),
      memory_left_(control.memory_limit) {
    budget_ = split_budgets(limits, rows_.all.n);
    depth_ = static_cast<int>(budget_.size()) - 1;
    double events = 0;
    for (int r = 0; r < rows_.all.n; ++r) events += rows_.all.sums[at(r) * at(rows_.n_sums)];
    tie_ = tie_tolerance * events;
    const int kernel_depth = Terminal::deepest(problem, std::min(depth_, control.switches.kernel_depth));
    for (std::size_t c = 0; c < problem.n_columns; ++c)
        columns_.emplace_back(problem, static_cast<int>(c), kernel_depth);
    n_sides_ = 2 * static_cast<int>(problem.cuts.size());
    terminal_.emplace(columns_, limits_, rows_, kernel_depth, &stop_);
    memo_ = std::vector<Memo<Profile>>(at(depth_ + 1));
    const Switches& use = control.switches;
    if (use.share && kernel_depth == 3 && depth_ > 3) stumps_.emplace(columns_);
    if (use.share && use.memo && kernel_depth == 3 && depth_ >= shared_depth &&
        SideMemo::bytes_of_all(n_sides_) < static_cast<double>(control.memory_limit))
        group_ = two_groups(columns_);
}

Status Search::run() {
    if (depth_ == 0 || n_sides_ == 0) return Status::optimal;
    const auto start = Clock::now();
    root_sides_.assign(at(n_sides_), {});
    root_gains_.assign(at(n_sides_), {});
    root_rows_ = sides_of(rows_.all);
    // One more level at a time: each stage leaves a whole tree, and the order in which to go on.
    Status status = Status::optimal;
    for (stage_depth_ = terminal_->depth(); stage_depth_ <= depth_ && status == Status::optimal;
         ++stage_depth_) {
        // What is shared needs no stage before. A tree in between is for those who may end the search early.
        const bool may_end_early = is_timed(control_) || control_.wants_progress;
        if (stage_depth_ == shared_depth - 1 && !group_.empty() && !may_end_early) continue;
        if (stage_depth_ == shared_depth && pays_to_share(start)) {
            std::vector<Task> preparations = tasks();
            for (Task& task : preparations) task.prepares = true;
            status = run_tasks(preparations, start);
            if (status != Status::optimal) break;
            prepared_ = true;
            side_memo_.freeze();
        }
        status = run_tasks(tasks(), start);
        const bool worth_a_look = stage_depth_ == terminal_->depth() && stage_depth_ + 1 < depth_;
        if (worth_a_look && status == Status::optimal) status = run_tasks({{0, 0}}, start);
    }
    return status;
}

// The whole root at first; then columns, each swept; then, where one side is work enough, sides.
std::vector<Search::Task> Search::tasks() const {
    if (stage_depth_ == terminal_->depth()) return {{0, n_sides_}};
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
std::vector<int> Search::promising_sides() const {
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
Status Search::run_tasks(const std::vector<Task>& tasks, Clock::time_point start) {
    if (is_quick()) {
        Worker worker;
        for (std::size_t k = 0; k < tasks.size() && may_begin_task(); ++k) run_task(tasks[k], worker);
        return stopped() ? Status::interrupted : Status::optimal;
    }
    std::atomic<std::size_t> next{0}, n_done{0};
    const auto work = [&] {
        Worker worker;
        for (std::size_t k = next++; k < tasks.size() && may_begin_task(); k = next++) {
            run_task(tasks[k], worker);
            ++n_done;
        }
    };
    const int n_threads = std::max(1, std::min(control_.n_threads, static_cast<int>(tasks.size())));
    const Status status = watch(control_, start, n_threads, stop_, work, [&] {
        if (stage_depth_ < depth_) return progress(0);
        const double done = static_cast<double>(n_done) / static_cast<double>(tasks.size());
        // To prepare takes about twice as long as what it prepares.
        if (tasks.front().prepares) return progress(done * 2 / 3);
        return progress(prepared_ && stage_depth_ == shared_depth ? (2 + done) / 3 : done);
    });
    return status == Status::optimal && stopped() ? Status::interrupted : status;
}

// Whether a stage takes a few milliseconds at most: then threads cost more than they bring, and nobody can
// be late to stop it. A step, here, is adding a row to a table or evaluating a cell of one.
bool Search::is_quick() const {
    const double n_rows = rows_.all.n, n_columns = static_cast<double>(columns_.size()), n_sides = n_sides_;
    double steps = n_rows * n_columns * n_columns + n_sides * n_sides;
    if (terminal_->depth() == 3)
        steps = n_rows * static_cast<double>(terminal_->n_tables()) +
                8 * static_cast<double>(terminal_->tables_size());
    for (int depth = terminal_->depth(); depth < stage_depth_; ++depth) steps *= n_sides;
    return steps < 2e6;
}

void Search::run_task(const Task& task, Worker& worker) {
    worker.prepares = task.prepares;
    if (task.first_side == task.last_side) {
        std::unique_ptr<LookAhead> found = look_ahead(rows_.all, depth_, worker);
        const std::lock_guard lock(root_mutex_);
        look_ahead_ = std::move(found);
        return;
    }
    if (task.prepares) return prepare(task.first_side, worker);
    const int depth = stage_depth_ - 1;
    std::vector<Profile> profiles;
    if (stage_depth_ == terminal_->depth()) {
        if (!terminal_->solve(rows_.all, stage_depth_, worker.scratch, worker.side_gains)) return;
        profiles = profiles_of_sides(worker.side_gains);
        if (shares()) store_sides(worker.side_gains, root_rows_.key);
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

void Search::keep(int side, int depth, Profile profile) {
    const std::lock_guard lock(root_mutex_);
    root_sides_[at(side)] = {depth, std::move(profile)};
}

Progress Search::progress(double fraction) const {
    return {fraction, gains().back() * rows_.grid, gain_bounds().back() * rows_.grid};
}

bool Search::may_begin_task() {
    const int last = control_.switches.stop_after;
    if (last >= 0 && n_begun_++ >= last) std::atomic_ref(stop_).store(true);
    return !stopped();
}

bool Search::stopped() const {
    return std::atomic_ref(const_cast<bool&>(stop_)).load(std::memory_order_relaxed);
}

// The profile of a set of rows, for trees of at most this depth; false if stopped.
bool Search::solve(const RowSet& rows, int depth, Worker& worker, Profile& out) {
    const double leaf = terminal_->leaf_gain(rows, limited_);
    start_profile(leaf, rows.n, depth, out);
    const bool stores_sides = depth == 3 && shares();
    if (leaf < infeasible / 2 || out.size() == 1) {
        if (stores_sides) store_sides(leaf, sides_of(rows).key);
        return true;
    }
    if (control_.switches.bounds && !stores_sides) {
        const std::vector<double> apart = saturated_gains(rows);
        if (std::accumulate(apart.begin(), apart.end(), 0.0) <= leaf + tie_) return true;
    }
    if (depth <= terminal_->depth()) {
        if (!terminal_->solve(rows, depth, worker.scratch, worker.side_gains)) return false;
        join_sides(worker.side_gains, out);
        if (stores_sides) store_sides(worker.side_gains, sides_of(rows).key);
        return true;
    }
    const Sides sides = sides_of(rows);
    std::vector<Profile> profiles;
    for (const Column& column : columns_) {
        if (!solve_sides(rows, column, sides, depth - 1, worker, profiles)) return false;
        for (int c = 0; c < column.n_cuts; ++c) {
            const Profile &yes = profiles[at(c)], &no = profiles[at(column.n_cuts + c)];
            join(yes.data(), yes.size(), no.data(), no.size(), out);
        }
    }
    make_monotone(out);
    return !stopped();
}

// Profiles of all sides of one column; empty where a side or its opposite has no rows.
bool Search::solve_sides(const RowSet& rows, const Column& column, const Sides& sides, int depth,
                         Worker& worker, std::vector<Profile>& out) {
    out.assign(at(2 * column.n_cuts), {});
    std::vector<int> unsolved;
    for (int s = 0; s < 2 * column.n_cuts; ++s) {
        const std::size_t side = at(first_side(column) + s);
        if (sides.n[side] == 0 || sides.n[side] == rows.n) continue;
        if (!find(depth, sides.key[side], out[at(s)])) unsolved.push_back(s);
    }
    if (depth == 3 && shares() && !unsolved.empty()) {
        worker.side_keys.read(rows, columns_, index_of(column));
        // Of a pair of cuts within a group, sides of the other group are known to nobody else.
        if (!worker.prepares) share(rows, column, sides, unsolved, worker, out);
    }
    if (depth == 3 && pays_to_sweep(rows, column, sides, unsolved))
        return sweep(rows, column, sides, unsolved, worker, out);
    for (const int s : unsolved)
        if (!solve_side(rows, column, first_side(column) + s, sides, depth, worker, out[at(s)])) return false;
    return true;
}

bool Search::solve_side(const RowSet& rows, const Column& column, int side, const Sides& sides, int depth,
                        Worker& worker, Profile& out) {
    const Key& key = sides.key[at(side)];
    if (find(depth, key, out)) return true;
    if (worker.rows.size() < at(depth_)) worker.rows.resize(at(depth_));
    RowSet& child = worker.rows[at(depth)];
    take_rows(rows, static_cast<int>(columns_.size()), rows_.n_sums, index_of(column), column.whole(),
              side - first_side(column), child);
    if (!solve(child, depth, worker, out)) return false;
    store(depth, key, out);
    return true;
}

// Adding a row to a table costs about as much as copying ten numbers.
bool Search::pays_to_sweep(const RowSet& rows, const Column& column, const Sides& sides,
                           const std::vector<int>& unsolved) const {
    const Terminal& terminal = *terminal_;
    if (!control_.switches.sweep || terminal.depth() < 3 || unsolved.size() < 2) return false;
    if (terminal.tables_size() * at(column.n_bins + 1) > max_running_tables) return false;
    double n_one_by_one = 0;
    for (const int s : unsolved) n_one_by_one += sides.n[at(first_side(column) + s)];
    const auto n_tables = static_cast<double>(terminal.n_tables()),
               size = static_cast<double>(terminal.tables_size());
    return (n_one_by_one - rows.n) * n_tables > 0.1 * size * column.n_bins;
}

// Rows are added to the tables once, bin by bin. The tables of any side are then differences.
bool Search::sweep(const RowSet& rows, const Column& column, const Sides& sides,
                   const std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out) {
    const Terminal& terminal = *terminal_;
    const std::size_t size = terminal.tables_size();
    StumpStore* const stumps = &rows == &rows_.all && stumps_ && stumps_->is_of_use() ? &*stumps_ : nullptr;
    const std::vector<bool> swept = stumps ? stumps->swept() : std::vector<bool>{};
    const auto skipped = stumps ? terminal.skipped_tables(swept) : nullptr;
    int n_solved = 0;
    std::vector<int> begin;
    sort_rows(rows, static_cast<int>(columns_.size()), rows_.n_sums, index_of(column), column.n_bins, begin,
              worker.sorted);
    worker.running_tables.resize(size * at(column.n_bins + 1));
    worker.side_tables.resize(size);
    std::fill_n(worker.running_tables.begin(), size, 0.0);
    for (int b = 0; b < column.n_bins; ++b) {
        double* here = worker.running_tables.data() + at(b + 1) * size;
        std::copy_n(here - size, size, here);
        terminal.add_rows(worker.sorted, begin[at(b)], begin[at(b + 1)], here, worker.scratch, skipped.get());
        if (stopped()) return false;
    }
    for (const int s : unsolved) {
        const std::size_t side = at(first_side(column) + s);
        Profile& profile = out[at(s)];
        if (find(3, sides.key[side], profile)) continue;  // by another side just now, or another thread
        const double* tables = region_tables(column.whole(), s, worker);
        const double leaf = terminal.leaf_gain_of_tables(tables);
        start_profile(leaf, sides.n[side], 3, profile);
        if (leaf < infeasible / 2 || profile.size() == 1) {
            if (shares()) store_sides(leaf, worker.side_keys.of(column.whole(), s));
        } else {
            const StumpStore::Side here{stumps, swept, index_of(column), s, leaf};
            if (!terminal.solve_tables(tables, worker.scratch, worker.side_gains, stumps ? &here : nullptr))
                return false;
            join_sides(worker.side_gains, profile);
            if (shares()) store_sides(worker.side_gains, worker.side_keys.of(column.whole(), s));
            if (&rows == &rows_.all) root_gains_[side] = worker.side_gains;
        }
        store(3, sides.key[side], profile);
        ++n_solved;
    }
    const auto first = sides.n.begin() + first_side(column);
    const auto divides = [&](int n) { return n > 0 && n < rows.n; };
    // A side that is solved otherwise has kept no stumps.
    if (stumps && n_solved == std::count_if(first, first + 2 * column.n_cuts, divides))
        stumps->finish(index_of(column));
    return true;
}

const double* Search::region_tables(const Axis& axis, int region, Worker& worker) const {
    const std::size_t size = terminal_->tables_size();
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

bool Search::find(int depth, const Key& key, Profile& out) {
    return control_.switches.memo && memo_[at(depth)].find(key, out);
}

void Search::store(int depth, const Key& key, const Profile& profile) {
    if (control_.switches.memo) memo_[at(depth)].store(key, profile, memory_left_);
}

void Search::start_profile(double leaf, int n_rows, int depth, Profile& out) const {
    out.assign(at(std::min(budget_[at(depth)], n_rows - 1) + 1), leaf);
}

void Search::join_sides(const SideGains& gains, Profile& out) const {
    const double* yes = gains.gains.data();
    for (const Axis* axis : gains.axes) {
        for (int c = 0; c < axis->n_cuts; ++c, yes += gains.width)
            join(yes, gains.width, yes + at(axis->n_cuts) * gains.width, gains.width, out);
        yes += at(axis->n_cuts) * gains.width;
    }
    make_monotone(out);
}

// Calls back with the number of each side, and its gains.
template <class Visit>
void Search::for_each_side(const SideGains& gains, const Visit& visit) const {
    const double* from = gains.gains.data();
    for (const Axis* axis : gains.axes)
        for (int s = 0; s < axis->n_sides; ++s, from += gains.width) visit(side_of(*axis, s), from);
}

std::vector<Profile> Search::profiles_of_sides(const SideGains& gains) const {
    std::vector<Profile> out(at(n_sides_));
    for_each_side(gains,
                  [&](int side, const double* from) { out[at(side)].assign(from, from + gains.width); });
    return out;
}

void Search::store_sides(const SideGains& gains, const std::vector<Key>& keys) {
    for_each_side(gains, [&](int side, const double* from) { side_memo_.store(keys[at(side)], from); });
}

const SideGains* Search::kept_gains(const RowSet& rows) const {
    Key key;
    for (const Key& row : rows.keys) key = key + row;
    for (std::size_t side = 0; side < root_gains_.size(); ++side)
        if (root_rows_.key[side] == key && !root_gains_[side].gains.empty()) return &root_gains_[side];
    return nullptr;
}

Search::Solved Search::solve_again(const RowSet& rows, int depth, Worker& worker) {
    std::atomic_ref(stop_).store(false);
    Solved solved;
    start_profile(terminal_->leaf_gain(rows, limited_), rows.n, depth, solved.profile);
    if (depth <= terminal_->depth()) {
        // A side that only the kernels have solved may have spent more splits than the budget of its depth,
        // which is that of a search to the end.
        solved.profile.resize(at(std::min({(1 << depth) - 1, n_splits(), rows.n - 1})) + 1,
                              solved.profile[0]);
        const SideGains* gains = depth == 3 ? kept_gains(rows) : nullptr;
        if (!gains) {
            if (depth < 3 || !load_sides(rows, worker.side_gains))
                terminal_->solve(rows, depth, worker.scratch, worker.side_gains);
            gains = &worker.side_gains;
        }
        join_sides(*gains, solved.profile);
        solved.sides = profiles_of_sides(*gains);
        return solved;
    }
    solve(rows, depth, worker, solved.profile);
    const Sides sides = sides_of(rows);
    std::vector<Profile> profiles;
    for (const Column& column : columns_) {
        solve_sides(rows, column, sides, depth - 1, worker, profiles);
        solved.sides.insert(solved.sides.end(), profiles.begin(), profiles.end());
    }
    return solved;
}

Sides Search::sides_of(const RowSet& rows) const {
    Sides out{std::vector<int>(at(n_sides_)), std::vector<Key>(at(n_sides_))};
    std::vector<int> n;
    std::vector<Key> key;
    for (const Column& column : columns_) {
        const Axis& axis = column.whole();
        n.assign(at(column.n_bins + 1), 0);
        key.assign(at(column.n_bins + 1), {});
        const std::uint16_t* bins = rows.column(index_of(column));
        for (int r = 0; r < rows.n; ++r) {
            const std::size_t next = std::size_t{bins[r]} + 1;
            ++n[next];
            key[next] = key[next] + rows.keys[at(r)];
        }
        for (int b = 0; b < column.n_bins; ++b) {
            n[at(b + 1)] += n[at(b)];
            key[at(b + 1)] = key[at(b + 1)] + key[at(b)];
        }
        for (int s = 0; s < axis.n_sides; ++s)
            for (int u = axis.run_begin[at(s)]; u < axis.run_begin[at(s + 1)]; ++u) {
                const auto [first, last] = axis.runs[at(u)];
                const std::size_t side = at(first_side(column) + s);
                out.n[side] += n[at(last)] - n[at(first)];
                out.key[side] = out.key[side] + (key[at(last)] - key[at(first)]);
            }
    }
    return out;
}

int Search::side_of(const Axis& axis, int side) const {
    const int cut = axis.cut_of[at(side % axis.n_cuts)];
    const Column& column = columns_[at(problem_.cuts[at(cut)].column)];
    return first_side(column) + cut - column.first_cut + (side < axis.n_cuts ? 0 : column.n_cuts);
}

const Column& Search::column_of_side(int side) const {
    return columns_[at(problem_.cuts[at(side / 2)].column)];
}

int Search::opposite(int side) const {
    const Column& column = column_of_side(side);
    return side - first_side(column) < column.n_cuts ? side + column.n_cuts : side - column.n_cuts;
}

}  // namespace surtree
