#include "batches/triple_tables.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "batches/table_trees.hpp"
#include "search/bounds.hpp"

namespace surtree {
namespace {

constexpr int depth_of_tables = 3;

// Rows that are added to one table after the other while they stay in the cache.
constexpr std::size_t chunk_size = 1 << 12;

const Problem& require_small(const Problem& problem, std::size_t memory_limit) {
    for (const int n : problem.n_bins)
        if (n > TableSolver::most_bins_of_depth_three)
            throw std::invalid_argument("a column has " + std::to_string(n) +
                                        " bins: tables over three columns have at most " +
                                        std::to_string(TableSolver::most_bins_of_depth_three) + " of each");
    if (TableSolver::deepest(problem, depth_of_tables, memory_limit) < depth_of_tables)
        throw std::invalid_argument("the tables over three columns are larger than the memory limit");
    return problem;
}

}  // namespace

TripleTables::TripleTables(Problem problem, Limits limits, std::size_t memory_limit)
    : problem_(std::move(problem)),
      limits_(std::move(limits)),
      rows_{{}, LeafValue(problem_, limits_, problem_.grid), problem_.grid, 0, 0, 0, problem_.round_down},
      columns_(require_small(problem_, memory_limit), depth_of_tables),
      tables_(columns_, rows_, depth_of_tables, &stop_),
      axis_of_(problem_.n_columns, -1) {
    const std::size_t size = tables_.tables_size(), bytes = size * sizeof(double);
    if (!tables_.can_be_given() || bytes > memory_limit)
        throw std::invalid_argument("the tables over three of " + std::to_string(problem_.n_columns) +
                                    " columns would take " + std::to_string(bytes >> 20) + " MiB");
    for (int axis = 0; axis < tables_.layout().n_axes; ++axis)
        if (tables_.column_of(axis) >= 0) axis_of_[at(tables_.column_of(axis))] = axis;
    sums_.assign(n_slack + at(rows_.leaf.width()) + size, 0.0);
    chunk_.n_columns = static_cast<int>(problem_.n_columns);
    chunk_.width = rows_.leaf.width();
}

void TripleTables::add(const Problem& batch) {
    if (batch.n_bins != problem_.n_bins || batch.objective != problem_.objective ||
        batch.grid != problem_.grid || batch.round_down != problem_.round_down)
        throw std::invalid_argument("rows of another problem");
    const std::size_t width = at(chunk_.width);
    SumRoundedUp slack(sums_.data());
    double* const all = sums_.data() + n_slack;
    for (std::size_t first = 0; first < batch.n_rows; first += chunk_size) {
        const std::size_t n = std::min(chunk_size, batch.n_rows - first);
        chunk_.n = static_cast<int>(n);
        chunk_.bins.resize(batch.n_columns * n);
        for (std::size_t c = 0; c < batch.n_columns; ++c) {
            const std::uint16_t* from = batch.bins + c * batch.n_rows + first;
            std::copy_n(from, n, chunk_.bins.data() + c * n);
            if (*std::max_element(from, from + n) >= problem_.n_bins[c])
                throw std::invalid_argument("a bin that its column does not have");
        }
        chunk_.sums.assign(n * width, 0.0);
        for (std::size_t r = 0; r < n; ++r) {
            double* const to = chunk_.sums.data() + r * width;
            slack.add(add_row(batch, rows_.leaf, first + r, to));
            for (std::size_t c = 0; c < width; ++c) all[c] += to[c];
        }
        tables_.add_rows(chunk_, 0, chunk_.n, all + width, scratch_);
    }
}

double TripleTables::tie() const { return tie_of(problem_.objective->scale(totals())); }

Solution TripleTables::solve() const {
    const int depth = std::min({limits_.max_depth, limits_.max_splits, depth_of_tables});
    const int n_splits = std::min(limits_.max_splits, (1 << depth) - 1);
    std::vector<RootResult> sides;
    if (depth > 0 && columns_.n_sides() > 0) {
        Scratch scratch;
        SideProfiles found;
        tables_.solve_tables(tables(), scratch, found);
        for (Profile& profile : found.by_side(columns_)) {
            if (!profile.empty()) profile.resize(std::size_t{1} << (depth - 1));
            sides.push_back({depth - 1, std::move(profile)});
        }
    }
    Solution solution;
    solution.gains = root_gains(columns_, sides, rows_.leaf.gain(totals()), n_splits);
    solution.trees = build_trees(*this, solution.gains, sides);
    solution.proven_depth = limits_.max_depth;
    solution.gain_bounds = solution.gains;
    std::vector<double> light(sums_.begin(), sums_.begin() + n_slack);
    const double slack = SumRoundedUp(light.data()).total();
    for (double& gain : solution.gains) gain *= problem_.grid;
    for (double& bound : solution.gain_bounds) bound = (bound + slack) * problem_.grid;
    return solution;
}

std::vector<double> TripleTables::sums_by_bins(const std::vector<Bins>& where,
                                               const std::vector<int>& by) const {
    const TableLayout& layout = tables_.layout();
    std::uint64_t masks[3] = {~0ULL, ~0ULL, ~0ULL};
    std::size_t strides[3] = {};  // of the output; an axis that is not asked for has none
    std::vector<int> axes = by;
    for (const Bins& bins : where)
        if (std::find(by.begin(), by.end(), bins.axis) == by.end()) axes.push_back(bins.axis);
    for (int axis = 0; axes.size() < 3; ++axis)
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
    std::sort(axes.begin(), axes.end());
    const auto place = [&](int axis) { return std::find(axes.begin(), axes.end(), axis) - axes.begin(); };
    for (const Bins& bins : where) masks[place(bins.axis)] = bins.mask;
    const std::size_t width = at(rows_.leaf.width());
    std::size_t size = width;
    for (auto axis = by.rbegin(); axis != by.rend(); ++axis) {
        strides[place(*axis)] = size;
        size *= at(layout.n_bins[*axis]);
    }
    std::vector<double> out(size);
    const double* cell =
        tables() + layout.triples[(axes[0] * layout.n_axes + axes[1]) * layout.n_axes + axes[2]];
    const auto n = [&](std::size_t axis) { return at(layout.n_bins[axes[axis]]); };
    const auto holds = [&](std::size_t axis, std::size_t bin) { return masks[axis] >> bin & 1; };
    for (std::size_t a = 0; a < n(0); ++a)
        for (std::size_t b = 0; b < n(1); ++b) {
            if (!holds(0, a) || !holds(1, b)) {
                cell += n(2) * width;
                continue;
            }
            for (std::size_t c = 0; c < n(2); ++c, cell += width) {
                if (!holds(2, c)) continue;
                double* const to = out.data() + a * strides[0] + b * strides[1] + c * strides[2];
                for (std::size_t k = 0; k < width; ++k) to[k] += cell[k];
            }
        }
    return out;
}

}  // namespace surtree
