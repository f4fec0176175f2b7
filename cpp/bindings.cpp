// nanobind, and nothing else: arrays in, arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "kernel/kernels.hpp"
#include "local/local_search.hpp"
#include "problem.hpp"
#include "risk.hpp"
#include "rows/rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, int N>
using Input = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Output<T> output(std::vector<T> values) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Output<T>(kept->data(), {kept->size()}, owner);
}

const char* name(surtree::Status status) {
    switch (status) {
        case surtree::Status::time_limit:
            return "time_limit";
        case surtree::Status::interrupted:
            return "interrupted";
        default:
            return "optimal";
    }
}

surtree::Problem read_rows(const Input<std::uint16_t, 2>& bins, const Input<std::int32_t, 1>& n_bins,
                           const Input<std::int32_t, 1>& missing_bin,
                           const Input<std::int32_t, 1>& cut_column, const Input<std::int32_t, 1>& cut_first,
                           const Input<std::int32_t, 1>& cut_last, const Input<bool, 1>& cut_missing) {
    surtree::Problem problem;
    problem.n_columns = bins.shape(0);
    problem.n_rows = bins.shape(1);
    problem.bins = bins.data();
    problem.n_bins.assign(n_bins.data(), n_bins.data() + n_bins.shape(0));
    problem.missing_bin.assign(missing_bin.data(), missing_bin.data() + missing_bin.shape(0));
    for (std::size_t c = 0; c < cut_column.shape(0); ++c)
        problem.cuts.push_back({cut_column(c), cut_first(c), cut_last(c), cut_missing(c)});
    return problem;
}

using Answer =
    std::tuple<std::string, Output<double>, Output<double>, Output<std::int32_t>, Output<std::int32_t>,
               Output<std::int32_t>, Output<std::int32_t>, std::uint64_t, std::uint64_t>;

Answer solve(const Input<std::uint16_t, 2>& bins, const Input<std::int32_t, 1>& n_bins,
             const Input<std::int32_t, 1>& missing_bin, const Input<std::int32_t, 1>& cut_column,
             const Input<std::int32_t, 1>& cut_first, const Input<std::int32_t, 1>& cut_last,
             const Input<bool, 1>& cut_missing, const Input<double, 1>& events,
             const Input<double, 1>& hazard, const Input<bool, 1>& has_event, bool round_down, int max_depth,
             int max_splits, int min_samples_leaf, int min_events_leaf, double time_limit, int n_threads,
             std::size_t memory_limit, const nb::object& progress, int kernel_depth, bool memo, bool merge,
             bool regroup, bool bounds, bool sweep, bool share, int bisect, int stop_after,
             const Input<double, 1>& known_gains) {
    surtree::Problem problem =
        read_rows(bins, n_bins, missing_bin, cut_column, cut_first, cut_last, cut_missing);
    problem.events = events.data();
    problem.hazard = hazard.data();
    problem.has_event = reinterpret_cast<const std::uint8_t*>(has_event.data());
    problem.round_down = round_down;

    surtree::Control control;
    control.time_limit = time_limit;
    control.n_threads = n_threads;
    control.memory_limit = memory_limit;
    control.wants_progress = !progress.is_none();
    control.switches = {kernel_depth, memo, merge, regroup, bounds, sweep, share, bisect, stop_after};
    control.known_gains.assign(known_gains.data(), known_gains.data() + known_gains.shape(0));
    control.should_stop = [&](const surtree::Progress& now) {
        const nb::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) return true;
        if (progress.is_none()) return false;
        try {
            return nb::cast<bool>(progress(now.fraction, now.gain, now.gain_bound));
        } catch (nb::python_error& error) {
            error.restore();
            return true;
        }
    };
    surtree::Solution solution;
    {
        const nb::gil_scoped_release release;
        solution =
            surtree::solve(problem, {max_depth, max_splits, min_samples_leaf, min_events_leaf}, control);
    }
    // What a signal (KeyboardInterrupt, as a rule) or the progress hook has raised.
    if (PyErr_Occurred()) throw nb::python_error();

    std::vector<std::int32_t> tree_begin{0}, cut, left, right;
    for (const surtree::Tree& tree : solution.trees) {
        cut.insert(cut.end(), tree.cut.begin(), tree.cut.end());
        left.insert(left.end(), tree.left.begin(), tree.left.end());
        right.insert(right.end(), tree.right.begin(), tree.right.end());
        tree_begin.push_back(static_cast<std::int32_t>(cut.size()));
    }
    return Answer(name(solution.status), output(std::move(solution.gains)),
                  output(std::move(solution.gain_bounds)), output(std::move(tree_begin)),
                  output(std::move(cut)), output(std::move(left)), output(std::move(right)), solution.n_cuts,
                  solution.n_evaluated);
}

std::vector<surtree::Tree> read_trees(const Input<std::int32_t, 1>& tree_begin,
                                      const Input<std::int32_t, 1>& cut, const Input<std::int32_t, 1>& left,
                                      const Input<std::int32_t, 1>& right) {
    std::vector<surtree::Tree> trees;
    for (std::size_t t = 0; t + 1 < tree_begin.shape(0); ++t) {
        const std::int32_t first = tree_begin(t), last = tree_begin(t + 1);
        trees.push_back({{cut.data() + first, cut.data() + last},
                         {left.data() + first, left.data() + last},
                         {right.data() + first, right.data() + last}});
    }
    return trees;
}

Output<double> sum_nodes(const Input<std::uint16_t, 2>& bins, const Input<std::int32_t, 1>& n_bins,
                         const Input<std::int32_t, 1>& missing_bin, const Input<std::int32_t, 1>& cut_column,
                         const Input<std::int32_t, 1>& cut_first, const Input<std::int32_t, 1>& cut_last,
                         const Input<bool, 1>& cut_missing, const Input<std::int32_t, 1>& tree_begin,
                         const Input<std::int32_t, 1>& cut, const Input<std::int32_t, 1>& left,
                         const Input<std::int32_t, 1>& right, const Input<double, 2>& values) {
    const surtree::Problem problem =
        read_rows(bins, n_bins, missing_bin, cut_column, cut_first, cut_last, cut_missing);
    std::vector<double> sums(values.shape(0) * cut.shape(0));
    surtree::sum_nodes(problem, read_trees(tree_begin, cut, left, right), values.data(), values.shape(0),
                       sums.data());
    return output(std::move(sums));
}

Output<std::int32_t> find_leaves(const Input<std::uint16_t, 2>& bins, const Input<std::int32_t, 1>& n_bins,
                                 const Input<std::int32_t, 1>& missing_bin,
                                 const Input<std::int32_t, 1>& cut_column,
                                 const Input<std::int32_t, 1>& cut_first,
                                 const Input<std::int32_t, 1>& cut_last, const Input<bool, 1>& cut_missing,
                                 const Input<std::int32_t, 1>& cut, const Input<std::int32_t, 1>& left,
                                 const Input<std::int32_t, 1>& right) {
    const surtree::Problem problem =
        read_rows(bins, n_bins, missing_bin, cut_column, cut_first, cut_last, cut_missing);
    const surtree::Tree tree{{cut.data(), cut.data() + cut.shape(0)},
                             {left.data(), left.data() + left.shape(0)},
                             {right.data(), right.data() + right.shape(0)}};
    std::vector<std::int32_t> leaf_of_row(problem.n_rows);
    surtree::find_leaves(problem, tree, leaf_of_row.data());
    return output(std::move(leaf_of_row));
}

using BinSums =
    std::tuple<Output<std::int64_t>, Output<std::uint64_t>, Output<std::uint64_t>, Output<double>>;

template <class Bin>
BinSums sum_bins(const Input<Bin, 1>& bins, std::size_t n_bins, std::optional<Input<double, 1>> weight) {
    std::vector<std::int64_t> n(n_bins);
    std::vector<std::uint64_t> low(n_bins), high(n_bins);
    std::vector<double> sums(weight ? n_bins : 0);
    for (std::size_t row = 0; row < bins.shape(0); ++row) {
        const auto bin = static_cast<std::size_t>(bins(row));
        const surtree::RowSetHash key = surtree::hash_of_row(row);
        ++n[bin];
        low[bin] += key.low;
        high[bin] += key.high;
        if (weight) sums[bin] += (*weight)(row);
    }
    return BinSums(output(std::move(n)), output(std::move(low)), output(std::move(high)),
                   output(std::move(sums)));
}

using RiskAnswer =
    std::tuple<Output<std::int32_t>, Output<std::int32_t>, Output<double>, Output<double>, Output<double>>;

RiskAnswer count_risk(const Input<std::int32_t, 1>& leaf_of_row, const Input<std::int32_t, 1>& left,
                      const Input<std::int64_t, 1>& order, const Input<double, 1>& time,
                      const Input<bool, 1>& event, const Input<double, 1>& weight,
                      const Input<double, 1>& event_times, const Input<double, 1>& round_times) {
    surtree::RiskCounts counts =
        surtree::count_risk({order.shape(0), left.shape(0), event_times.shape(0), round_times.shape(0),
                             leaf_of_row.data(), left.data(), order.data(), time.data(), event.data(),
                             weight.data(), event_times.data(), round_times.data()});
    std::vector<std::int32_t> step;
    std::vector<double> at_risk, deaths;
    for (const surtree::RiskStep& at : counts.steps) {
        step.push_back(at.event_time);
        at_risk.push_back(at.at_risk);
        deaths.push_back(at.deaths);
    }
    return RiskAnswer(output(std::move(counts.begin)), output(std::move(step)), output(std::move(at_risk)),
                      output(std::move(deaths)), output(std::move(counts.round_at_risk)));
}

using LocalAnswer =
    std::tuple<Output<double>, Output<std::int32_t>, Output<std::int32_t>, Output<std::int32_t>>;

LocalAnswer local_search(const Input<std::uint16_t, 2>& bins, const Input<std::int32_t, 1>& n_bins,
                         const Input<std::int32_t, 1>& missing_bin, const Input<std::int32_t, 1>& cut_column,
                         const Input<std::int32_t, 1>& cut_first, const Input<std::int32_t, 1>& cut_last,
                         const Input<bool, 1>& cut_missing, const Input<double, 1>& events,
                         const Input<double, 1>& hazard, const Input<bool, 1>& has_event, int max_depth,
                         int max_splits, int min_samples_leaf, int min_events_leaf, int n_restarts,
                         std::uint64_t seed, double price, int n_threads) {
    surtree::Problem problem =
        read_rows(bins, n_bins, missing_bin, cut_column, cut_first, cut_last, cut_missing);
    problem.events = events.data();
    problem.hazard = hazard.data();
    problem.has_event = reinterpret_cast<const std::uint8_t*>(has_event.data());
    surtree::Control control;
    control.n_threads = n_threads;
    control.should_stop = [](const surtree::Progress&) {
        const nb::gil_scoped_acquire hold;
        return PyErr_CheckSignals() != 0;
    };
    surtree::LocalOptimum best;
    {
        const nb::gil_scoped_release release;
        best = surtree::local_search(problem, {max_depth, max_splits, min_samples_leaf, min_events_leaf},
                                     {n_restarts, seed, price}, control);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    return LocalAnswer(output(std::move(best.worth)), output(std::move(best.tree.cut)),
                       output(std::move(best.tree.left)), output(std::move(best.tree.right)));
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of surtree. Use surtree.SurTree.";
    m.def("solve", &solve, "bins"_a, "n_bins"_a, "missing_bin"_a, "cut_column"_a, "cut_first"_a, "cut_last"_a,
          "cut_missing"_a, "events"_a, "hazard"_a, "has_event"_a, "round_down"_a, "max_depth"_a,
          "max_splits"_a, "min_samples_leaf"_a, "min_events_leaf"_a, "time_limit"_a, "n_threads"_a,
          "memory_limit"_a, "progress"_a.none(), "kernel_depth"_a, "memo"_a, "merge"_a, "regroup"_a,
          "bounds"_a, "sweep"_a, "share"_a, "bisect"_a, "stop_after"_a, "known_gains"_a,
          "Status, gains, bounds and trees for every number of splits; trees are joined end to end, "
          "tree k at tree_begin[k] .. tree_begin[k + 1] - 1.");
    m.def("sum_nodes", &sum_nodes, "bins"_a, "n_bins"_a, "missing_bin"_a, "cut_column"_a, "cut_first"_a,
          "cut_last"_a, "cut_missing"_a, "tree_begin"_a, "cut"_a, "left"_a, "right"_a, "values"_a,
          "The sums of values over each node of some trees, one kind after the other.");
    m.def("find_leaves", &find_leaves, "bins"_a, "n_bins"_a, "missing_bin"_a, "cut_column"_a, "cut_first"_a,
          "cut_last"_a, "cut_missing"_a, "cut"_a, "left"_a, "right"_a, "The leaf of each row of a tree.");
    m.def("count_risk", &count_risk, "leaf_of_row"_a, "left"_a, "order"_a, "time"_a, "event"_a, "weight"_a,
          "event_times"_a, "round_times"_a,
          "Where the steps of each leaf begin, which event times they are, what is at risk and dies there; "
          "and what is at risk at round times, leaf after leaf.");
    m.def("sum_bins", &sum_bins<std::uint16_t>, "bins"_a, "n_bins"_a, "weight"_a.none(),
          "Rows in each bin, the two halves of the key of these rows, and their weight.");
    m.def("sum_bins", &sum_bins<std::int64_t>, "bins"_a, "n_bins"_a, "weight"_a.none());
    m.def("local_search", &local_search, "bins"_a, "n_bins"_a, "missing_bin"_a, "cut_column"_a, "cut_first"_a,
          "cut_last"_a, "cut_missing"_a, "events"_a, "hazard"_a, "has_event"_a, "max_depth"_a, "max_splits"_a,
          "min_samples_leaf"_a, "min_events_leaf"_a, "n_restarts"_a, "seed"_a, "price"_a, "n_threads"_a,
          "What each restart is worth, and the best tree of all.");
    m.def(
        "kernels", [] { return std::string(surtree::kernels().name); },
        "Name of the instruction set in use.");
}
