#include "search/table_solver.hpp"

#include <algorithm>

#include "portable.hpp"

namespace surtree {

// More tables than this are made one at a time; no more are ever kept, in doubles.
constexpr std::size_t most_kept = std::size_t{1} << 24;

std::size_t TableSolver::bytes_of_depth_three(const Problem& problem) {
    // Per pair of sides: the leaf, the stump, and twice the stump of a lane. Per pair of bins: the sums.
    const std::size_t sides = 2 * problem.cuts.size();
    std::size_t bins = 0;
    for (const int n : problem.n_bins) bins += at(n);
    const std::size_t width = at(problem.objective->n_sums) + max_counts;
    return (2 * sides * sides + bins * bins / 2 * width) * sizeof(double);
}

int TableSolver::deepest(const Problem& problem, int depth, std::size_t memory) {
    std::vector<std::size_t> bins(problem.n_bins.begin(), problem.n_bins.end());
    std::sort(bins.rbegin(), bins.rend());
    bins.resize(std::max<std::size_t>(bins.size(), 3), 1);
    constexpr std::size_t most_cells = std::size_t{1} << 18;
    if (depth >= 3 && bins[0] <= most_bins_of_depth_three && bins[0] * bins[1] * bins[2] <= most_cells &&
        bytes_of_depth_three(problem) <= memory)
        return 3;
    return depth >= 2 && bins[0] <= max_kernel_bins ? 2 : std::min(depth, 1);
}

TableSolver::TableSolver(const Columns& columns, const Rows& rows, int depth, const bool* stop)
    : columns_(columns),
      leaf_(rows.leaf),
      has_light_rows_(rows.has_light_rows),
      width_(rows.leaf.width()),
      depth_(depth),
      stop_(stop) {
    for (int c = 0; c < columns.size(); ++c)
        if (columns[c].n_cuts > 0) order_.push_back(static_cast<int>(c));
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return columns[a].n_bins < columns[b].n_bins; });
    // Tables are over three axes: with fewer columns, axes of one bin come first.
    if (!order_.empty() && order_.size() < 3) order_.insert(order_.begin(), 3 - order_.size(), no_column);
    for (const int c : order_) table_bins_.push_back(c == no_column ? 1 : columns[c].n_bins);
    if (depth < 3) return;
    const std::size_t n = order_.size();
    const auto bins = [&](std::size_t a) { return at(table_bins_[a]); };
    std::size_t size = 0;
    for (const bool is_kept : {false, true}) {
        if (is_kept && size > most_kept) break;
        if (is_kept) triples_.assign(n * n * n, 0);
        size = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = i + 1; j < n; ++j)
                for (std::size_t k = j + 1; k < n; ++k) {
                    if (is_kept) triples_[(i * n + j) * n + k] = size;
                    size += bins(i) * bins(j) * bins(k) * at(width_);
                }
    }
    layout_ = {static_cast<int>(n), table_bins_.data(), triples_.data(), size};
}

KernelAxis kernel_axis(const ColumnRegions& regions, const std::uint16_t* bins) {
    return {regions.first_bin,
            regions.last_bin,
            regions.n_cuts,
            regions.n_sides,
            regions.n_regions,
            regions.n_deep,
            regions.runs.data(),
            regions.run_begin.data(),
            regions.splits.data(),
            regions.split_begin.data(),
            regions.membership.data(),
            bins,
            0,
            0};
}

KernelInput TableSolver::input(const std::vector<const ColumnRegions*>& axes, const RowSet* rows,
                               const double* tables, int depth, Scratch& scratch, SideProfiles& out,
                               bool uses_lanes) const {
    out.width = std::size_t{1} << (depth - 1);
    out.regions.clear();
    scratch.views.clear();
    int n_sides = 0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
        const ColumnRegions* axis = axes[a];
        if (!axis || axis->n_cuts == 0) continue;
        scratch.views.push_back(kernel_axis(*axis, rows ? rows->column(order_[a]) : nullptr));
        scratch.views.back().table_axis = static_cast<int>(a);
        scratch.views.back().first_side = n_sides;
        out.regions.push_back(axis);
        n_sides += axis->n_sides;
    }
    out.gains.resize(at(n_sides) * out.width);
    std::stable_sort(scratch.views.begin(), scratch.views.end(),
                     [](const KernelAxis& a, const KernelAxis& b) { return a.n_cuts < b.n_cuts; });
    KernelInput in{};
    in.axes = scratch.views.data();
    in.n_axes = static_cast<int>(scratch.views.size());
    in.n_rows = rows ? rows->n : 0;
    in.sums = rows ? rows->sums.data() : nullptr;
    in.leaf = leaf_.spec();
    in.layout = &layout_;
    in.tables = tables;
    in.stop = stop_;
    in.side_gains = out.gains.data();
    if (depth > 1 && uses_lanes) find_groups(in, depth, scratch);
    const std::size_t need = leaf_.kernels().workspace(in, depth);
    if (scratch.workspace.size() < need) scratch.workspace.resize(need);
    in.workspace = scratch.workspace.data();
    return in;
}

std::vector<std::vector<int>> kinds_of(const KernelAxis* axes, int n_axes) {
    const auto are_alike = [](const KernelAxis& a, const KernelAxis& b) {
        if (a.n_cuts != b.n_cuts || a.first_bin != b.first_bin || a.last_bin != b.last_bin) return false;
        const int n_runs = a.run_begin[a.n_cuts];
        return std::equal(a.run_begin, a.run_begin + a.n_cuts + 1, b.run_begin) &&
               std::equal(a.runs, a.runs + n_runs, b.runs);
    };
    std::vector<std::vector<int>> kinds;
    for (int x = 0; x < n_axes; ++x) {
        const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const std::vector<int>& kind) {
            return are_alike(axes[kind.front()], axes[x]);
        });
        same == kinds.end() ? kinds.push_back({x}) : same->push_back(x);
    }
    return kinds;
}

// Groups of columns with the same cuts, for kernels that hold one in each lane.
void TableSolver::find_groups(KernelInput& in, int depth, Scratch& scratch) const {
    constexpr std::size_t most_cells = std::size_t{1} << 13;  // of a table, so that sums stay in the cache
    const int lanes = leaf_.kernels().lanes;
    std::size_t most_lines = 0;
    for (int x = 0; x < in.n_axes; ++x)
        most_lines = std::max(most_lines, at(std::max(in.axes[x].n_cuts + 1, in.axes[x].last_bin)));
    if ((depth == 3 ? most_lines : 1) * most_lines * most_lines > most_cells) return;
    std::vector<std::vector<int>> groups;
    for (const std::vector<int>& kind : kinds_of(in.axes, in.n_axes))
        if (2 * kind.size() > at(lanes))
            for (std::size_t first = 0; first < kind.size(); first += at(lanes))
                groups.emplace_back(
                    kind.begin() + static_cast<std::ptrdiff_t>(first),
                    kind.begin() + static_cast<std::ptrdiff_t>(std::min(first + at(lanes), kind.size())));
    // Groups with empty lanes come last: the first ones are used most.
    std::stable_sort(groups.begin(), groups.end(), [](auto& a, auto& b) { return a.size() > b.size(); });
    scratch.groups.clear();
    scratch.group_of.assign(at(in.n_axes), -1);
    for (std::vector<int>& group : groups) {
        for (const int x : group) scratch.group_of[at(x)] = in.n_groups;
        group.resize(at(lanes), group.front());
        scratch.groups.insert(scratch.groups.end(), group.begin(), group.end());
        ++in.n_groups;
    }
    in.groups = scratch.groups.data();
    in.group_of = scratch.group_of.data();
}

bool TableSolver::solve(const RowSet& rows, int depth, Scratch& scratch, SideProfiles& out) const {
    if (depth == 3 && is_small()) {
        scratch.tables.assign(layout_.size, 0.0);
        constexpr int chunk = 1 << 16;  // a stop is polled between chunks
        for (int first = 0; first < rows.n; first += chunk) {
            add_rows(rows, first, std::min(first + chunk, rows.n), scratch.tables.data(), scratch);
            if (is_raised(stop_)) return false;
        }
        return solve_tables(scratch.tables.data(), scratch, out);
    }
    return solve_rows(rows, depth, scratch, out);
}

std::vector<const ColumnRegions*> TableSolver::axes_of(const RowSet& rows, int depth) const {
    std::vector<const ColumnRegions*> axes;
    for (const int c : order_) {
        const ColumnRegions* axis = nullptr;
        if (c != no_column) axis = depth == 3 ? &columns_[c].within(occupied(rows, c)) : &columns_[c].whole();
        axes.push_back(axis);
    }
    return axes;
}

KernelInput TableSolver::depth_three_of(const RowSet& rows, Scratch& scratch, SideProfiles& out) const {
    return input(axes_of(rows, 3), &rows, nullptr, 3, scratch, out);
}

bool TableSolver::solve_rows(const RowSet& rows, int depth, Scratch& scratch, SideProfiles& out,
                             const StumpStore::Context* context) const {
    const std::vector<const ColumnRegions*> axes = axes_of(rows, depth);
    KernelInput in = input(axes, &rows, nullptr, depth, scratch, out, !context);
    return run(in, depth, axes, scratch, context);
}

void TableSolver::add_rows(const RowSet& rows, int first, int last, double* tables, Scratch& scratch,
                           const bool* skipped) const {
    if (order_.empty()) return;
    scratch.views.clear();
    for (std::size_t a = 0; a < order_.size(); ++a) {
        KernelAxis view{};
        view.bins = order_[a] == no_column ? nullptr : rows.column(order_[a]);
        scratch.views.push_back(view);
    }
    const std::size_t need = at(last - first) / 2 + 2 * max_lanes;
    if (scratch.workspace.size() < need) scratch.workspace.resize(need);
    KernelInput in{};
    in.axes = scratch.views.data();
    in.n_axes = static_cast<int>(scratch.views.size());
    in.n_rows = rows.n;
    in.sums = rows.sums.data();
    in.leaf = leaf_.spec();
    in.layout = &layout_;
    in.workspace = scratch.workspace.data();
    in.skipped = skipped;
    leaf_.kernels().add_rows(in, first, last, tables);
}

bool TableSolver::solve_tables(const double* tables, Scratch& scratch, SideProfiles& out,
                               const StumpStore::Context* context) const {
    std::vector<const ColumnRegions*> axes;
    for (std::size_t a = 0; a < order_.size(); ++a)
        axes.push_back(order_[a] == no_column ? nullptr : &columns_[order_[a]].within(occupied(tables, a)));
    KernelInput in = input(axes, nullptr, tables, 3, scratch, out);
    return run(in, 3, axes, scratch, context);
}

bool TableSolver::run(KernelInput& in, int depth, const std::vector<const ColumnRegions*>& axes,
                      Scratch& scratch, const StumpStore::Context* context) const {
    const Kernel kernel = leaf_.kernels().depth[depth - 1];
    if (!context) return in.n_axes == 0 || kernel(in);

    std::vector<StumpStore::View> views;
    for (std::size_t a = 0; a < order_.size(); ++a) views.push_back({order_[a], axes[a], -1});
    for (int place = 0; place < in.n_axes; ++place) views[at(in.axes[place].table_axis)].place = place;
    FoundStumps found{};
    load_known(*context, views, in, scratch);
    in.known = scratch.known_of_pair.data();
    in.known_regions = scratch.known_of_axis.data();
    in.found = &found;
    if (in.n_axes > 0 && !kernel(in)) return false;
    StumpStore::save(*context, views, found);
    return true;
}

void TableSolver::load_known(const StumpStore::Context& context, const std::vector<StumpStore::View>& views,
                             const KernelInput& in, Scratch& scratch) const {
    const int n = in.n_axes;
    const auto view = [&](int place) -> const StumpStore::View& {
        return views[at(in.axes[place].table_axis)];
    };
    const auto size = [&](int i, int j) { return at(in.axes[i].n_sides) * at(in.axes[j].n_sides); };
    std::size_t need = 0;
    for (int i = 0; i < n; ++i) {
        need += at(in.axes[i].n_regions);
        for (int j = i + 1; j < n; ++j) need += size(i, j);
    }
    if (scratch.known.size() < need) scratch.known.resize(need);
    scratch.known_of_pair.assign(at(n * n), nullptr);
    scratch.known_of_axis.assign(at(n), nullptr);
    double* next = scratch.known.data();
    for (int i = 0; i < n; ++i) {
        if (StumpStore::knows(context, view(i).column)) {
            StumpStore::load(context, view(i), next);
            scratch.known_of_axis[at(i)] = next;
            next += in.axes[i].n_regions;
        }
        for (int j = i + 1; j < n; ++j) {
            if (!StumpStore::knows(context, view(i).column, view(j).column)) continue;
            StumpStore::load(context, view(i), view(j), next);
            scratch.known_of_pair[at(i * n + j)] = next;
            next += size(i, j);
        }
    }
}

std::unique_ptr<bool[]> TableSolver::skipped_tables(const std::vector<bool>& swept) const {
    const std::size_t n = order_.size();
    auto out = std::make_unique<bool[]>(n * n * n);
    const auto known = [&](std::size_t a, std::size_t b) {
        return swept[at(order_[a])] || swept[at(order_[b])];
    };
    // Tables of the first axis stay: sums over pairs and single columns are marginals of them.
    for (std::size_t i = 1; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j)
            for (std::size_t k = j + 1; k < n; ++k)
                out[(i * n + j) * n + k] = known(i, j) && known(i, k) && known(j, k);
    return out;
}

// The bins of an axis that hold rows. Every row has some exposure in its first channel, but for rows too
// light for the grid: they may have sums of other channels only, or nothing but counts.
std::uint64_t TableSolver::occupied(const double* tables, std::size_t axis) const {
    // The table of the first two axes and this one, as outer x n_bins x inner cells.
    const std::size_t last = std::max<std::size_t>(axis, 2), n_bins = at(table_bins_[axis]);
    std::size_t outer = 1, inner = 1;
    for (const std::size_t a : {std::size_t{0}, std::size_t{1}, last}) {
        if (a < axis) outer *= at(table_bins_[a]);
        if (a > axis) inner *= at(table_bins_[a]);
    }
    std::uint64_t mask = 0;
    const int exposure = leaf_.kernels().exposure;
    const int first_other = has_light_rows_ ? 0 : width_;
    const double* cell = tables + triples_[order_.size() + last];
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t b = 0; b < n_bins; ++b) {
            bool any = false;
            for (std::size_t k = 0; k < inner; ++k, cell += width_) {
                any |= cell[exposure] > 0;
                for (int c = first_other; c < width_; ++c) any |= cell[c] > 0;
            }
            mask |= static_cast<std::uint64_t>(any) << b;
        }
    return mask;
}

std::uint64_t TableSolver::occupied(const RowSet& rows, int column) const {
    std::uint64_t mask = 0;
    const std::uint16_t* bins = rows.column(column);
    const double* sums = rows.sums.data();
    for (int r = 0; r < rows.n; ++r, sums += width_) {
        bool any = !has_light_rows_;
        for (int c = 0; c < width_ && !any; ++c) any = sums[c] > 0;
        mask |= static_cast<std::uint64_t>(any) << bins[r];
    }
    return mask;
}

std::vector<double> TableSolver::leaf_gains(const RowSet& rows, const Column& column,
                                            const std::vector<int>& sides) const {
    const ColumnRegions& regions = column.whole();
    const std::size_t width = at(width_);
    std::vector<double> per_bin(at(column.n_bins) * width), out;
    const std::uint16_t* bins = rows.column(column.index);
    for (std::size_t r = 0; r < at(rows.n); ++r)
        for (std::size_t c = 0; c < width; ++c) per_bin[bins[r] * width + c] += rows.sums[r * width + c];
    for (const int s : sides) {
        double sums[LeafValue::max_width] = {};
        for (const Run& run : regions.runs_of(s))
            for (int b = run.first; b < run.last; ++b)
                for (std::size_t c = 0; c < width; ++c) sums[c] += per_bin[at(b) * width + c];
        out.push_back(leaf_.limited_gain(sums));
    }
    return out;
}

double TableSolver::leaf_gain(const double* tables) const {
    double sums[LeafValue::max_width] = {};
    // The first table holds all rows.
    const std::size_t n_cells = at(table_bins_[0]) * at(table_bins_[1]) * at(table_bins_[2]);
    for (std::size_t k = 0; k < n_cells; ++k)
        for (int c = 0; c < width_; ++c) sums[c] += tables[k * at(width_) + at(c)];
    return leaf_.limited_gain(sums);
}

}  // namespace surtree
