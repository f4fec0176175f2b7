#include "search/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace surtree {
namespace {

// The tolerance of the sides of a cut, as a share of that of its rows: what is left is for intervals of cuts.
constexpr double tolerance_of_side = 0.6;

}  // namespace

Bisection::Bisection(const Problem& problem, const Limits& limits, const Control& control)
    : problem_(problem),
      control_(control),
      chained_(split_into_chains(problem)),
      rows_(merge_rows(chained_.problem, limits, control.switches.merge)),
      all_(order_rows(rows_, chained_)),
      budget_(split_budgets(limits, rows_.all.n)),
      depth_(static_cast<int>(budget_.size()) - 1),
      workers_(control),
      cache_(budget_.size()),
      memory_left_(control.memory_limit) {
    Worker worker = make_worker();
    for (const double gain : control.known_gains)
        known_.push_back(a_little_less(gain / rows_.grid, rows_.scale));
    start_root(worker);
}

void Bisection::start_root(Worker& worker) {
    Outcome whole = start(all_, depth_, worker);
    // The root may be a leaf whatever the limits.
    for (double& gain : whole.best) gain = std::max(gain, whole.bound[0]);
    root_.emplace(frontier(all_, depth_, std::move(whole), known_));
}

Bisection::Worker Bisection::make_worker() const {
    Worker worker;
    worker.levels.resize(at(depth_ + 1));
    worker.scan.resize(scan_workspace(all_.n, rows_.leaf.width()));
    return worker;
}

Frontier Bisection::frontier(const OrderedRows& rows, int depth, Outcome start, const Profile& known) const {
    return Frontier(rows, chained_, rows_, std::move(start), known, depth > 0 ? budget_[at(depth - 1)] : 0,
                    tolerance_ * std::pow(tolerance_of_side, depth_ - depth),
                    &rows == &all_ ? &problem_.cuts : nullptr);
}

Status Bisection::run(double tolerance) {
    if (depth_ < 2) return Status::optimal;
    if (tolerance_ != tolerance) {
        // Results of a larger tolerance are of no use. Its memory counts as spent: the allocator may
        // keep what other threads have freed.
        for (Cache<Outcome>& cache : cache_) cache.clear();
        Worker worker = make_worker();
        const std::lock_guard lock(mutex_);
        known_.resize(root_->outcome().best.size(), infeasible);
        for (std::size_t k = 0; k < known_.size(); ++k)
            known_[k] = std::max(known_[k], a_little_less(root_->outcome().best[k], rows_.scale));
        bound_ = bound();
        tolerance_ = tolerance;
        n_cuts_ = n_evaluated_ = 0;
        start_root(worker);
    }
    const Status status =
        workers_.run(std::max(1, control_.n_threads), [this] { work(); }, [this] { return progress(); });
    count(*root_);
    return status;
}

// All threads take places from the frontier of the root.
void Bisection::work() {
    Worker worker = make_worker();
    std::unique_lock lock(mutex_);
    while (!workers_.stopped()) {
        Frontier::Place place;
        if (root_->next(place)) {
            if (!workers_.may_begin_task()) break;  // the place stays in work, and its bound open
            lock.unlock();
            const bool divides = evaluate(all_, *root_, place, depth_, worker);
            lock.lock();
            if (divides)
                root_->add(place, worker.levels[at(depth_)].sides);
            else if (!workers_.stopped())
                root_->skip();
        } else if (root_->in_work()) {
            changed_.wait_for(lock, std::chrono::milliseconds(20));
            continue;
        } else {
            break;
        }
        changed_.notify_all();
    }
    changed_.notify_all();
}

bool Bisection::solve(const OrderedRows& rows, int depth, Worker& worker, Outcome& out) {
    out = start(rows, depth, worker);
    if (out.best.size() <= 2 || out.best[0] < infeasible / 2) return true;
    const double saturated = std::accumulate(rows.saturated.begin(), rows.saturated.end(), 0.0);
    if (saturated <= out.best[0] + rows_.tie) return true;
    Frontier open = frontier(rows, depth, std::move(out), {});
    Frontier::Place place;
    while (open.next(place)) {
        if (evaluate(rows, open, place, depth, worker))
            open.add(place, worker.levels[at(depth)].sides);
        else if (workers_.stopped())
            return false;
        else
            open.skip();
    }
    count(open);
    out = open.outcome();
    return !workers_.stopped();
}

bool Bisection::find(const OrderedRows& rows, const RowSetHash& hash, int depth, Worker& worker,
                     Outcome& out) {
    const bool keeps = control_.switches.memo && depth > 1;
    if (keeps && cache_[at(depth)].find(hash, out)) return true;
    if (!solve(rows, depth, worker, out)) return false;
    if (keeps) cache_[at(depth)].store(hash, out, memory_left_);
    return true;
}

bool Bisection::evaluate(const OrderedRows& rows, const Frontier& frontier, const Frontier::Place& place,
                         int depth, Worker& worker) {
    Level& level = worker.levels[at(depth)];
    Partition& partition = level.partition;
    frontier.divide(rows, place, partition);
    if (partition.n[0] == 0 || partition.n[1] == 0) return false;
    if (depth == 2) {
        solve_stumps(rows, partition, worker, level.sides);
        return !workers_.stopped();
    }
    for (const int side : {0, 1}) {
        Outcome& out = level.sides[side];
        if (control_.switches.memo && cache_[at(depth - 1)].find(partition.hash[side], out)) continue;
        OrderedRows& child = worker.levels[at(depth - 1)].rows;
        take_side(rows, partition, side, child);
        if (!find(child, partition.hash[side], depth - 1, worker, out)) return false;
    }
    return true;
}

// Exact gains for zero splits and one split.
Outcome Bisection::start(const OrderedRows& rows, int depth, Worker& worker) const {
    Partition whole;
    whole.side.assign(at(rows.n), 0);
    add_up(rows, whole);
    Outcome sides[2];
    solve_stumps(rows, whole, worker, sides);
    Outcome& out = sides[0];
    const std::size_t size = at(budget_[at(depth)]) + 1;
    out.best.resize(size, out.best.back());
    out.bound.resize(size, out.bound.back());
    out.choices.resize(size);
    // Rows that may not be a leaf may not be divided either: they need a bound only.
    if (out.best[0] < infeasible / 2)
        for (std::size_t k = 2; k < size; ++k)
            out.bound[k] = std::accumulate(rows.saturated.begin(), rows.saturated.end(), 0.0);
    return out;
}

void Bisection::solve_stumps(const OrderedRows& rows, const Partition& partition, Worker& worker,
                             Outcome (&sides)[2]) const {
    double best[4] = {infeasible, infeasible, infeasible, infeasible};
    ScanInput in{};
    in.n = rows.n;
    in.leaf = rows_.leaf.spec();
    in.side = partition.side.data();
    in.totals = partition.totals.data();
    in.workspace = worker.scan.data();
    in.best = best;
    for (int place = 0; place < static_cast<int>(chained_.short_columns.size()); ++place)
        scan_short(rows, place, partition, in, worker);
    for (int chain = 0; chain < chained_.n_chains; ++chain) {
        if (is_summed(rows, chain)) continue;
        const OrderedRows::Order& order = rows.orders[at(chain)];
        in.row = order.row.data();
        in.code = order.code.data();
        in.sums = order.sums.data();
        rows_.leaf.kernels().scan(in);
    }
    for (const int side : {0, 1}) {
        const double* sums = partition.totals.data() + side * rows_.leaf.width();
        const double leaf = rows_.leaf.gain(sums);
        const bool allowed = rows_.leaf.allows(sums);
        sides[side].bound.assign({leaf, std::max(leaf, best[2 * side])});
        sides[side].best.assign(2, infeasible);
        if (allowed) sides[side].best = {leaf, std::max(leaf, best[2 * side + 1])};
        if (budget_.size() < 2) {
            sides[side].bound.resize(1);
            sides[side].best.resize(1);
        }
    }
}

// Short columns use histograms if there are enough rows per bin; else they are scanned in their order.
bool Bisection::is_summed(const OrderedRows& rows, int column) const {
    return column >= chained_.n_chains || 8 * chained_[column].n_bins <= rows.n;
}

// Evaluates all cuts of a short column from the histograms of both sides.
void Bisection::scan_short(const OrderedRows& rows, int place, const Partition& partition,
                           const ScanInput& in, Worker& worker) const {
    const int column = chained_.short_columns[at(place)];
    if (!is_summed(rows, column)) return;
    const std::size_t width = at(rows.width), n_bins = at(chained_[column].n_bins);
    split_histogram(rows, place, partition, worker.histogram);
    std::vector<double>& parts = worker.parts;
    for (const int side : {0, 1}) {
        const double* per_bin = worker.histogram[side].data();
        std::size_t n_cuts = n_bins - 1;
        if (column < chained_.n_chains) {  // prefix sums
            parts.assign((n_bins + max_lanes) * width, 0.0);
            std::copy_n(per_bin, n_cuts * width, parts.begin());
            for (std::size_t k = width; k < n_cuts * width; ++k) parts[k] += parts[k - width];
        } else {
            n_cuts = chained_[column].cut.size();
            parts.assign((n_cuts + max_lanes) * width, 0.0);
            for (std::size_t c = 0; c < n_cuts; ++c)
                for (const Run& run : chained_[column].holds[c])
                    for (std::size_t b = at(run.first); b < at(run.last); ++b)
                        for (std::size_t k = 0; k < width; ++k)
                            parts[c * width + k] += per_bin[b * width + k];
        }
        rows_.leaf.kernels().scan_cuts(in, side, parts.data(), static_cast<int>(n_cuts));
    }
}

void Bisection::count(const Frontier& frontier) {
    n_cuts_ += frontier.n_cuts();
    n_evaluated_ += frontier.n_evaluated();
}

Profile Bisection::gains() const {
    const std::lock_guard lock(mutex_);
    return root_->outcome().best;
}

Profile Bisection::bound() const {
    Profile out = root_->bound();
    for (std::size_t k = 0; k < bound_.size(); ++k) out[k] = std::min(out[k], bound_[k]);
    return out;
}

Profile Bisection::gain_bounds() const {
    const std::lock_guard lock(mutex_);
    return bound();
}

Progress Bisection::progress() const {
    const std::lock_guard lock(mutex_);
    const double done = tolerance_ > 0 ? 0 : 1 - root_->open_share();
    return {done, root_->outcome().best.back() * rows_.grid, bound().back() * rows_.grid};
}

}  // namespace surtree
