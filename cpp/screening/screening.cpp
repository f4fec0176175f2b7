#include "screening/screening.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "search/plan.hpp"

namespace surtree {
namespace {

constexpr double most = 0x1p31;  // whole numbers are less
constexpr float no_gain = -1e30f;
// With fewer splits no tree has cuts of three columns below each other, and gains are exact.
constexpr std::size_t first_rough = 3;

}  // namespace

bool Screening::may_pay(const TableSolver& tables, const Rows& rows, bool always) {
    return rows.leaf.kernels().screen && tables.depth() == sweep_depth && (always || !tables.is_small());
}

std::unique_ptr<Screening> Screening::make(const TableSolver& tables, const Columns& columns,
                                           const Rows& rows, const bool* stop, bool always) {
    std::unique_ptr<Screening> out(new Screening(tables, columns, rows, stop));
    if (out->root_.n_axes < 3 || !screened_sums_fit({out->n_lines_.begin(), out->n_lines_.end()}) ||
        !out->pack_rows())
        return nullptr;
    out->plan_tasks();
    if (!always && !screening_pays(out->n_lanes(), out->root_.n_axes)) return nullptr;
    out->sort_rows();
    return out;
}

Screening::Screening(const TableSolver& tables, const Columns& columns, const Rows& rows, const bool* stop)
    : columns_(columns), rows_(rows), root_(tables.depth_three_of(rows.all, scratch_, sides_)) {
    input_.axes = root_.axes;
    input_.n_axes = root_.n_axes;
    input_.n_rows = root_.n_rows;
    input_.stop = stop;
    find_lines();
    for (int i = 0; i < root_.n_axes; ++i)
        for (int j = i + 1; j < root_.n_axes; ++j)
            best_size_ += at(root_.axes[i].n_sides) * at(root_.axes[j].n_sides);
}

void Screening::find_lines() {
    for (int a = 0; a < root_.n_axes; ++a) {
        const KernelAxis& axis = root_.axes[a];
        const auto is_running = [&](int side) {
            const int first = axis.run_begin[side];
            return axis.run_begin[side + 1] == first + 1 && axis.runs[first].first <= axis.first_bin;
        };
        int n = axis.last_bin;
        for (int cut = 0; cut < axis.n_cuts; ++cut) {
            const int opposite = cut + axis.n_cuts;
            if (is_running(cut))
                lines_.push_back({axis.runs[axis.run_begin[cut]].last - 1, 0});
            else if (is_running(opposite))
                lines_.push_back({axis.runs[axis.run_begin[opposite]].last - 1, 1});
            else
                lines_.push_back({n++, 0});
        }
        n_lines_.push_back(n);
        input_.max_bins = std::max(input_.max_bins, axis.last_bin);
    }
    const CutLine* next = lines_.data();
    for (int a = 0; a < root_.n_axes; next += root_.axes[a++].n_cuts) lines_of_axis_.push_back(next);
    input_.lines = lines_of_axis_.data();
    input_.n_lines = n_lines_.data();
}

// Sums as whole numbers of a coarser grid: events to the nearest one, hazards down to it. The gain decreases
// with the hazard, so that this only raises it. Of events E that are rounded by d, the gain of a leaf changes
// by no more than d times its derivative at E, log(e / h) + 1, since it is convex.
bool Screening::pack_rows() {
    const LeafSpec spec = rows_.leaf.spec();
    const RowSet& all = rows_.all;
    const std::size_t width = at(all.width), n = at(all.n);
    const std::vector<double> totals = sum_rows(all);
    int exponent = 0;
    std::frexp(std::max(totals[0], totals[1]), &exponent);
    unit_ = std::max(1.0, std::ldexp(1.0, exponent - 30));
    input_.prior = spec.parameters[0] / unit_;
    if (input_.prior > 0 && (input_.prior < 1 || input_.prior > 0x1p40)) return false;
    for (std::size_t c = 2; c < width; ++c)
        if (totals[c] >= most) return false;
    packed_.resize(width / 2 * n);
    double least_events = 1, rounded = 0;
    for (std::size_t r = 0; r < n; ++r) {
        const double* const sums = all.sums.data() + r * width;
        const double events = std::nearbyint(sums[0] / unit_), hazard = std::floor(sums[1] / unit_);
        if (sums[0] > 0 && hazard < 1) return false;
        if (sums[0] > 0) least_events = std::min(least_events, sums[0] / unit_);
        rounded += std::abs(sums[0] / unit_ - events);
        const auto pack = [](double high, double low) {
            return (static_cast<long long>(high) << 32) + static_cast<long long>(low);
        };
        packed_[r] = pack(events, hazard);
        for (std::size_t c = 2; c < width; c += 2) {
            if (sums[c] != std::floor(sums[c]) || sums[c + 1] != std::floor(sums[c + 1])) return false;
            packed_[c / 2 * n + r] = pack(sums[c], sums[c + 1]);
        }
    }
    for (int c = 0; c < spec.n_counts; ++c)
        least_.push_back(static_cast<int>(std::min(std::ceil(spec.least[c]), most - 1)));
    // Leaves share the events, and each of up to eight has a prior. One more unit is for leaves without
    // events, and for roundings in double precision.
    const double steepest = 1 + std::log(most + input_.prior) - std::log(least_events);
    slack_ = unit_ * (rows_.leaf.kernels().rough_error * std::numbers::ln2 *
                          (totals[0] / unit_ + rounded + 8 * input_.prior) +
                      rounded * steepest + 1);
    input_.packed = packed_.data();
    input_.n_counts = spec.n_counts;
    input_.least = least_.data();
    return true;
}

// Sorts the rows by bin, for each axis. Rows whose sums are all zero are left out: their bin may be one that
// the axis does not have.
void Screening::sort_rows() {
    const std::size_t n = at(root_.n_rows);
    const int max_bins = input_.max_bins;
    order_.resize(at(root_.n_axes) * n);
    begin_.assign(at(root_.n_axes) * at(max_bins + 1), 0);
    std::vector<int> kept;
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t p = r; p < packed_.size(); p += n)
            if (packed_[p] != 0) {
                kept.push_back(static_cast<int>(r));
                break;
            }
    for (int a = 0; a < root_.n_axes; ++a) {
        const std::uint16_t* const bins = root_.axes[a].bins;
        int* const begin = begin_.data() + at(a) * at(max_bins + 1);
        for (const int r : kept) ++begin[bins[r] + 1];
        for (int b = 0; b < max_bins; ++b) begin[b + 1] += begin[b];
        std::vector<int> next(begin, begin + max_bins);
        for (const int r : kept) order_[at(a) * n + at(next[bins[r]]++)] = r;
    }
    input_.order = order_.data();
    input_.begin = begin_.data();
}

// Pairs of axes in the order of the first, as many as there are lanes, and of the same two kinds: a triple is
// one of them with an axis before both. Those with most to do come first.
void Screening::plan_tasks() {
    const std::size_t lanes = 2 * at(rows_.leaf.kernels().lanes);
    std::vector<int> kind_of(at(root_.n_axes));
    const auto kinds = kinds_of(root_.axes, root_.n_axes);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
        for (const int axis : kinds[kind]) kind_of[at(axis)] = static_cast<int>(kind);
    std::map<std::pair<int, int>, std::vector<int>> pairs;
    for (int k = 1; k < root_.n_axes; ++k)
        for (int i = k + 1; i < root_.n_axes; ++i) {
            std::vector<int>& open = pairs[{kind_of[at(k)], kind_of[at(i)]}];
            open.insert(open.end(), {k, i});
            if (open.size() == 2 * lanes) tasks_.push_back(std::exchange(open, {}));
        }
    for (auto& [kind, open] : pairs) {
        if (open.empty()) continue;
        while (open.size() < 2 * lanes) open.insert(open.end(), {open[0], open[1]});
        tasks_.push_back(std::move(open));
    }
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [&](auto& a, auto& b) { return a[2 * lanes - 2] > b[2 * lanes - 2]; });
}

// The lanes of all vectors, each for a triple of axes or idle.
double Screening::n_lanes() const {
    double out = 0;
    for (const std::vector<int>& pairs : tasks_) {
        int last = 0;
        for (std::size_t p = 0; p < pairs.size(); p += 2) last = std::max(last, pairs[p]);
        out += last * (static_cast<double>(pairs.size()) / 2);
    }
    return out;
}

std::unique_ptr<Screening::Best> Screening::take_best() {
    {
        const std::lock_guard lock(mutex_);
        if (!best_.empty()) {
            auto out = std::move(best_.back());
            best_.pop_back();
            return out;
        }
    }
    auto out = std::make_unique<Best>();
    out->values.assign(best_size_, no_gain);
    out->of_pair.resize(at(root_.n_axes * root_.n_axes));
    float* next = out->values.data();
    for (int i = 0; i < root_.n_axes; ++i)
        for (int j = i + 1; j < root_.n_axes; ++j) {
            out->of_pair[at(i * root_.n_axes + j)] = next;
            next += root_.axes[i].n_sides * root_.axes[j].n_sides;
        }
    return out;
}

void Screening::run(int task, Scratch& scratch) {
    std::unique_ptr<Best> best = take_best();
    ScreenInput in = input_;
    in.pairs = tasks_[at(task)].data();
    in.best = best->of_pair.data();
    const Kernels& kernels = rows_.leaf.kernels();
    const std::size_t need = kernels.screen_workspace(in);
    if (scratch.workspace.size() < need) scratch.workspace.resize(need);
    in.workspace = scratch.workspace.data();
    kernels.screen(in);
    const std::lock_guard lock(mutex_);
    best_.push_back(std::move(best));
}

bool Screening::finish() {
    Best& best = *best_.front();
    for (std::size_t b = 1; b < best_.size(); ++b)
        for (std::size_t k = 0; k < best_size_; ++k)
            best.values[k] = std::max(best.values[k], best_[b]->values[k]);
    best_.resize(1);
    root_.rough = best.of_pair.data();
    root_.rough_unit = unit_ * std::numbers::ln2;
    return rows_.leaf.kernels().depth[2](root_);
}

// Calls back with each cut and the rough gains of trees with it as the root.
template <class Visit>
void Screening::for_each_cut(int n_splits, const Visit& visit) const {
    const std::size_t width = sides_.width;
    const double* yes = sides_.gains.data();
    Profile joined;
    for (const ColumnRegions* of : sides_.regions) {
        const std::size_t opposite = at(of->n_cuts) * width;
        for (int c = 0; c < of->n_cuts; ++c, yes += width) {
            joined.assign(at(n_splits + 1), 2 * infeasible);
            join(yes, width, yes + opposite, width, joined);
            visit(of->cut_of[at(c)], joined);
        }
        yes += opposite;
    }
}

std::vector<int> Screening::open_cuts(const std::vector<RootResult>& results, const Profile& gains) const {
    std::vector<int> out;
    for_each_cut(static_cast<int>(gains.size()) - 1, [&](int cut, const Profile& rough) {
        if (results[at(columns_.side_of_cut(cut))].depth >= 2) return;
        for (std::size_t k = first_rough; k < gains.size(); ++k)
            if (rough[k] + slack_ >= gains[k] - rows_.tie) return out.push_back(cut);
    });
    return out;
}

std::vector<int> Screening::promising_cuts(int n_splits) const {
    std::vector<int> out(at(n_splits + 1), -1);
    Profile best(at(n_splits + 1), infeasible);
    for_each_cut(n_splits, [&](int cut, const Profile& rough) {
        for (std::size_t k = first_rough; k < rough.size(); ++k)
            if (rough[k] > best[k]) {
                best[k] = rough[k];
                out[k] = cut;
            }
    });
    std::erase(out, -1);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace surtree
