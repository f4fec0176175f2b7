#include "search/recursion.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {

Recursion::Recursion(const Problem& problem, const Limits& limits, const Control& control, Workers& workers)
    : use_(control.switches),
      workers_(workers),
      rows_(merge_rows(problem, limits, use_.merge)),
      budget_(split_budgets(limits, rows_.all.n)),
      columns_(problem, kernel_depth(problem, depth(), control)),
      tables_(columns_, rows_, kernel_depth(problem, depth(), control), workers.stop_flag()),
      workload_(problem, rows_.all.n, rows_.leaf.width(), depth(), tables_.depth()),
      root_sides_(columns_, rows_.all),
      memory_left_(control.memory_limit -
                   std::min(control.memory_limit, bytes_of_threads(problem, workload_, control))),
      cache_(budget_.size()),
      root_profiles_(at(columns_.n_sides())) {
    if (!use_.share || tables_.depth() < sweep_depth) return;
    if (depth() > sweep_depth) make_stumps(problem, memory_left_);
    if (use_.memo && depth() >= side_cache_depth &&
        SideCache::bytes_of_all(columns_.n_sides()) < static_cast<double>(memory_left_))
        side_cache_.emplace(columns_, memory_left_);
}

// A table of stumps may take half of the memory.
void Recursion::make_stumps(const Problem& problem, std::size_t memory_limit) {
    // A filled one serves all cuts of the root.
    if (use_.fill && depth() == sweep_depth + 1 && problem.all_lead() && workload_.stumps_pay()) {
        stumps_.emplace(columns_, memory_limit / 2 / sizeof(double));
        if (stumps_->has_room()) {
            memory_left_ -= stumps_->bytes();
            filler_.emplace(*stumps_, columns_, rows_, workers_.stop_flag());
            return;
        }
    }
    stumps_.emplace(columns_, StumpStore::few_stumps);
}

bool Recursion::solve(const RowSet& rows, int depth, Worker& worker, Profile& out) {
    const double leaf = rows_.leaf.limited_gain(sum_rows(rows).data());
    start_profile(leaf, rows.n, depth, out);
    const bool stores_sides = depth == sweep_depth && uses_side_cache_;
    if (leaf < infeasible / 2 || out.size() == 1) {
        if (stores_sides) side_cache_->store_leaf(leaf, SideCounts(columns_, rows).hash);
        return true;
    }
    if (!stores_sides && is_saturated(rows, leaf)) return true;
    if (depth <= tables_.depth()) {
        if (!tables_.solve(rows, depth, worker.scratch, worker.profiles)) return false;
        worker.profiles.join_into(out);
        if (stores_sides) side_cache_->store(worker.profiles, SideCounts(columns_, rows).hash);
        return true;
    }
    const SideCounts sides(columns_, rows);
    std::vector<Profile> profiles;
    for (const Column& column : columns_) {
        if (!solve_sides(rows, column, sides, depth - 1, worker, profiles)) return false;
        for (int c = 0; c < column.n_cuts; ++c) join(profiles[at(c)], profiles[at(column.n_cuts + c)], out);
    }
    make_monotone(out);
    return !workers_.stopped();
}

// No tree gains more than the saturated gain: where the leaf has it, nothing is left to find.
bool Recursion::is_saturated(const RowSet& rows, double leaf) const {
    if (!use_.bounds || !rows_.leaf.kernels().is_monotone) return false;
    const std::vector<double> saturated = rows_.leaf.saturated(rows.sums.data(), rows.n);
    return std::accumulate(saturated.begin(), saturated.end(), 0.0) <= leaf + rows_.tie;
}

bool Recursion::solve_sides(const RowSet& rows, const Column& column, const SideCounts& sides, int depth,
                            Worker& worker, std::vector<Profile>& out) {
    out.assign(at(2 * column.n_cuts), {});
    std::vector<int> unsolved;
    for (int s = 0; s < 2 * column.n_cuts; ++s) {
        const int side = column.first_side() + s;
        if (sides.divides(side, rows.n) && !find(depth, sides.hash[at(side)], out[at(s)]))
            unsolved.push_back(s);
    }
    if (depth == sweep_depth && uses_side_cache_ && !unsolved.empty()) {
        worker.side_hashes.read(rows, columns_, column);
        // While the cache is filled, no other task has solved this pair's sides in the other group.
        if (!worker.fills_side_cache) join_cached_sides(rows, column, sides, unsolved, worker, out);
    }
    if (depth == sweep_depth && stumps_filled_ && &rows == &rows_.all) {
        for (const int s : unsolved)
            if (!solve_with_stumps(rows, column, s, sides, worker, out[at(s)])) return false;
        return true;
    }
    if (depth == sweep_depth && sweep_pays(rows, column, sides, unsolved))
        return sweep(rows, column, sides, unsolved, worker, out);
    for (const int s : unsolved)
        if (!solve_side(rows, column, column.first_side() + s, sides, depth, worker, out[at(s)]))
            return false;
    return true;
}

bool Recursion::solve_side(const RowSet& rows, const Column& column, int side, const SideCounts& sides,
                           int depth, Worker& worker, Profile& out) {
    const RowSetHash& hash = sides.hash[at(side)];
    if (find(depth, hash, out)) return true;
    if (worker.rows.size() < budget_.size()) worker.rows.resize(budget_.size());
    RowSet& child = worker.rows[at(depth)];
    take_rows(rows, column, side - column.first_side(), child);
    if (!solve(child, depth, worker, out)) return false;
    store(depth, hash, out);
    return true;
}

// A side of the root, where the table of stumps is filled: kernels need tables of pairs only.
bool Recursion::solve_with_stumps(const RowSet& rows, const Column& column, int side, const SideCounts& sides,
                                  Worker& worker, Profile& out) {
    const std::size_t number = at(column.first_side() + side);
    if (find(sweep_depth, sides.hash[number], out)) return true;  // by another side or thread just now
    RowSet& child = worker.sorted;
    take_rows(rows, column, side, child);
    const double leaf = rows_.leaf.limited_gain(sum_rows(child).data());
    start_profile(leaf, child.n, sweep_depth, out);
    if (leaf > infeasible / 2 && out.size() > 1) {
        std::vector<bool> known(at(columns_.size()), true);
        known[at(column.index)] = false;
        const StumpStore::Context context{&*stumps_, known, column.index, side, leaf};
        if (!tables_.solve_rows(child, sweep_depth, worker.scratch, worker.profiles, &context)) return false;
        worker.profiles.join_into(out);
        root_profiles_[number] = worker.profiles;
    }
    store(sweep_depth, sides.hash[number], out);
    return true;
}

bool Recursion::solve_root_side(int side, int depth, Worker& worker, Profile& out) {
    const Column& column = columns_.of_side(side);
    RowSet& child = worker.sorted;
    take_rows(rows_.all, column, side - column.first_side(), child);
    if (!tables_.solve(child, depth, worker.scratch, worker.profiles)) return false;
    out.assign(std::size_t{1} << depth, rows_.leaf.limited_gain(sum_rows(child).data()));
    worker.profiles.join_into(out);
    root_profiles_[at(side)] = worker.profiles;
    return true;
}

bool Recursion::sweep_pays(const RowSet& rows, const Column& column, const SideCounts& sides,
                           const std::vector<int>& unsolved) const {
    if (!use_.sweep || unsolved.size() < 2) return false;
    double n_rows_of_sides = 0;
    for (const int s : unsolved) n_rows_of_sides += sides.n[at(column.first_side() + s)];
    return workload_.sweep_pays(column.n_bins, rows.n, n_rows_of_sides);
}

// Rows are added to the tables once, bin by bin. The tables of any side are then differences.
bool Recursion::sweep(const RowSet& rows, const Column& column, const SideCounts& sides,
                      const std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out) {
    const bool is_root = &rows == &rows_.all;
    const int index = column.index, first_side = column.first_side();
    const std::size_t size = tables_.tables_size();
    StumpStore* const stumps = is_root && stumps_ && stumps_->is_ready() ? &*stumps_ : nullptr;
    const std::vector<bool> swept = stumps ? stumps->swept() : std::vector<bool>{};
    const auto skipped = stumps ? tables_.skipped_tables(swept) : nullptr;
    std::vector<int> begin;
    sort_rows(rows, index, column.n_bins, begin, worker.sorted);
    worker.running_tables.resize(size * at(column.n_bins + 1));
    worker.side_tables.resize(size);
    std::fill_n(worker.running_tables.begin(), size, 0.0);
    for (int b = 0; b < column.n_bins; ++b) {
        double* here = worker.running_tables.data() + at(b + 1) * size;
        std::copy_n(here - size, size, here);
        tables_.add_rows(worker.sorted, begin[at(b)], begin[at(b + 1)], here, worker.scratch, skipped.get());
        if (workers_.stopped()) return false;
    }
    int n_solved = 0;
    for (const int s : unsolved) {
        const std::size_t side = at(first_side + s);
        Profile& profile = out[at(s)];
        if (find(sweep_depth, sides.hash[side], profile)) continue;  // by another side or thread just now
        const double* tables = region_tables(column.whole(), s, worker);
        const double leaf = tables_.leaf_gain(tables);
        start_profile(leaf, sides.n[side], sweep_depth, profile);
        if (leaf < infeasible / 2 || profile.size() == 1) {
            if (uses_side_cache_) side_cache_->store_leaf(leaf, worker.side_hashes.of(s));
        } else {
            const StumpStore::Context here{stumps, swept, index, s, leaf};
            if (!tables_.solve_tables(tables, worker.scratch, worker.profiles, stumps ? &here : nullptr))
                return false;
            worker.profiles.join_into(profile);
            if (uses_side_cache_) side_cache_->store(worker.profiles, worker.side_hashes.of(s));
            if (is_root) root_profiles_[side] = worker.profiles;
        }
        store(sweep_depth, sides.hash[side], profile);
        ++n_solved;
    }
    int n_dividing = 0;
    for (int s = 0; s < 2 * column.n_cuts; ++s) n_dividing += sides.divides(first_side + s, rows.n);
    // A side that is solved otherwise has kept no stumps.
    if (stumps && n_solved == n_dividing) stumps->finish(index);
    return true;
}

const double* Recursion::region_tables(const ColumnRegions& regions, int region, Worker& worker) const {
    const std::size_t size = tables_.tables_size();
    const auto table = [&](int bin) { return worker.running_tables.data() + at(bin) * size; };
    const std::span<const Run> runs = regions.runs_of(region);
    if (runs.size() == 1 && runs[0].first == 0) return table(runs[0].last);
    double* out = worker.side_tables.data();
    for (const Run& run : runs) {
        const double *high = table(run.last), *low = table(run.first);
        if (&run == runs.data())
            for (std::size_t k = 0; k < size; ++k) out[k] = high[k] - low[k];
        else
            for (std::size_t k = 0; k < size; ++k) out[k] += high[k] - low[k];
    }
    return out;
}

void Recursion::fill_side_cache(int side, Worker& worker) {
    const Column& column = columns_.of_side(side);
    RowSet child;
    take_rows(rows_.all, column, side - column.first_side(), child);
    const SideCounts sides(columns_, child);
    std::vector<Profile> profiles;
    worker.fills_side_cache = true;
    for (const Column& other : columns_)
        if (side_cache_->in_same_group(other, column) &&
            !solve_sides(child, other, sides, side_cache_depth - 2, worker, profiles))
            break;
    worker.fills_side_cache = false;
}

void Recursion::cache_root_sides(const SideProfiles& profiles) {
    if (uses_side_cache_) side_cache_->store(profiles, root_sides_.hash);
}

// Solves what can be joined from sides in the cache.
void Recursion::join_cached_sides(const RowSet& rows, const Column& column, const SideCounts& sides,
                                  std::vector<int>& unsolved, Worker& worker, std::vector<Profile>& out) {
    const std::vector<double> leaves = tables_.leaf_gains(rows, column, unsolved);
    std::size_t n_seen = 0;
    std::erase_if(unsolved, [&](int s) {
        const std::size_t side = at(column.first_side() + s);
        const RowSetHash& hash = sides.hash[side];
        Profile& profile = out[at(s)];
        const double leaf = leaves[n_seen++];
        start_profile(leaf, sides.n[side], sweep_depth, profile);
        if (leaf > infeasible / 2 && profile.size() > 1 &&
            !side_cache_->join_into(profile, hash, worker.side_hashes.of(s)))
            return false;
        store(sweep_depth, hash, profile);
        return true;
    });
}

bool Recursion::find(int depth, const RowSetHash& rows, Profile& out) const {
    return use_.memo && cache_[at(depth)].find(rows, out);
}

void Recursion::store(int depth, const RowSetHash& rows, const Profile& profile) {
    if (use_.memo) cache_[at(depth)].store(rows, profile, memory_left_);
}

void Recursion::start_profile(double leaf, int n_rows, int depth, Profile& out) const {
    out.assign(at(std::min(budget_[at(depth)], n_rows - 1) + 1), leaf);
}

Recursion::Solved Recursion::solve_again(const RowSet& rows, int depth, Worker& worker) {
    workers_.go_on();
    Solved solved;
    start_profile(rows_.leaf.limited_gain(sum_rows(rows).data()), rows.n, depth, solved.profile);
    if (depth > tables_.depth()) {
        solve(rows, depth, worker, solved.profile);
        const SideCounts sides(columns_, rows);
        std::vector<Profile> profiles;
        for (const Column& column : columns_) {
            solve_sides(rows, column, sides, depth - 1, worker, profiles);
            solved.sides.insert(solved.sides.end(), profiles.begin(), profiles.end());
        }
        return solved;
    }
    // A side that only the kernels have solved may have spent more splits than the budget of its depth, which
    // is that of a search to the end.
    solved.profile.resize(at(std::min({(1 << depth) - 1, n_splits(), rows.n - 1})) + 1, solved.profile[0]);
    const SideProfiles* profiles = nullptr;
    const RowSetHash hash = hash_of(rows);
    for (std::size_t side = 0; side < root_profiles_.size() && !profiles; ++side)
        if (root_sides_.hash[side] == hash && root_profiles_[side].width == std::size_t{1} << (depth - 1))
            profiles = &root_profiles_[side];
    if (!profiles) {
        if (depth < sweep_depth || !side_cache_ || !side_cache_->load(rows, worker.profiles))
            tables_.solve(rows, depth, worker.scratch, worker.profiles);
        profiles = &worker.profiles;
    }
    profiles->join_into(solved.profile);
    solved.sides = profiles->by_side(columns_);
    return solved;
}

}  // namespace surtree
