// The Python bindings, and nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "average/average.hpp"
#include "batches/triple_tables.hpp"
#include "kernel/kernels.hpp"
#include "local/local_search.hpp"
#include "problem.hpp"
#include "rows/at_risk.hpp"
#include "rows/digest.hpp"
#include "rows/pairs.hpp"
#include "rows/rows.hpp"
#include "search/near_trees.hpp"
#include "search/plan.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace surtree {
namespace {

template <class T, int N>
using Input = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Ints = Input<std::int32_t, 1>;

template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Output<T> output(std::vector<T> values) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Output<T>(kept->data(), {kept->size()}, owner);
}

template <class Owner, class T>
auto copy_of(std::vector<T> Owner::* member) {
    return [member](const Owner& owner) { return output(owner.*member); };
}

template <class T>
std::vector<T> to_vector(const Input<T, 1>& values) {
    return {values.data(), values.data() + values.shape(0)};
}

// Throws if a row is in a bin that its column does not have: kernels would write beyond their tables.
template <class Bin>
void require_bins(const Bin* bins, std::size_t n_rows, std::size_t n_bins,
                  const char* message = "a bin that its column does not have") {
    std::make_unsigned_t<Bin> most = 0;
    for (std::size_t r = 0; r < n_rows; ++r)
        most = std::max(most, static_cast<std::make_unsigned_t<Bin>>(bins[r]));
    if (n_rows > 0 && most >= n_bins) throw nb::value_error(message);
}

// A problem, and the arrays that it points to.
struct BoundProblem {
    Input<std::uint16_t, 2> bins;
    Input<double, 2> sums, counts;
    Problem problem;

    BoundProblem(Input<std::uint16_t, 2> bins_, const Ints& n_bins, const Ints& missing_bin,
                 const Ints& cut_column, const Ints& cut_first, const Ints& cut_last,
                 const Input<bool, 1>& cut_missing, const Input<std::uint64_t, 1>& cut_gaps,
                 const std::string& objective, const Input<double, 1>& parameters, Input<double, 2> sums_,
                 Input<double, 2> counts_, double grid, bool round_down)
        : bins(std::move(bins_)), sums(std::move(sums_)), counts(std::move(counts_)) {
        problem.n_columns = bins.shape(0);
        problem.n_rows = bins.shape(1);
        problem.bins = bins.data();
        problem.n_bins = to_vector(n_bins);
        problem.missing_bin = to_vector(missing_bin);
        if (n_bins.shape(0) != problem.n_columns || missing_bin.shape(0) != problem.n_columns)
            throw nb::value_error("a number of bins for each column");
        for (std::size_t c = 0; c < problem.n_columns; ++c)
            require_bins(problem.bins + c * problem.n_rows, problem.n_rows, at(std::max(0, n_bins(c))));
        require_bins(cut_column.data(), cut_column.shape(0), problem.n_columns,
                     "a cut of a column that is not there");
        for (std::size_t c = 0; c < cut_column.shape(0); ++c)
            problem.cuts.push_back(
                {cut_column(c), cut_first(c), cut_last(c), cut_missing(c), false, cut_gaps(c)});
        problem.objective = find_kernels(objective.c_str());
        if (!problem.objective) throw nb::value_error(("unknown objective: " + objective).c_str());
        if (at(problem.objective->n_sums) != sums.shape(0)) throw nb::value_error("wrong number of sums");
        problem.parameters = to_vector(parameters);
        if (at(problem.objective->n_parameters) != parameters.shape(0))
            throw nb::value_error("wrong number of parameters");
        problem.sums = sums.data();
        problem.counts = counts.data();
        problem.grid = grid;
        problem.round_down = round_down;
    }

    Limits limits(int max_depth, int max_splits, const Input<double, 1>& least) const {
        if (least.shape(0) != counts.shape(0)) throw nb::value_error("a limit for each count");
        std::vector<double> values = to_vector(least);
        if (std::count_if(values.begin(), values.end(), [](double value) { return value > 0; }) > max_counts)
            throw nb::value_error("too many limits on leaves at once");
        return {max_depth, max_splits, std::move(values)};
    }
};

// The searches of all threads. A thread that wants the interpreter's lock after the interpreter has ended is
// ended in the middle of C++, which ends the process by a signal; so searches are stopped before.
struct Searches {
    std::atomic<int> n_running{0};
    std::atomic<bool> is_over{false};
    std::thread::id last_thread;  // may search until the end

    // Called by Python at its exit. The wait has an end: a forked process has no threads that could count
    // down.
    void end() {
        last_thread = std::this_thread::get_id();
        is_over = true;
        if (n_running == 0) return;
        nb::set_leak_warnings(false);  // what these threads hold is freed with the process
        const nb::gil_scoped_release release;
        for (int k = 0; k < 2000 && n_running > 0; ++k)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }

    bool must_end() const { return is_over && std::this_thread::get_id() != last_thread; }

    // As a thread ends itself, which nobody need be told.
    void require_not_over() const {
        if (!must_end()) return;
        PyErr_SetNone(PyExc_SystemExit);
        throw nb::python_error();
    }
};
Searches searches;

// Alive while a search runs, and until its thread has the interpreter's lock again.
struct Running {
    Running() { ++searches.n_running; }
    ~Running() { --searches.n_running; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
};

// A search ends by Ctrl-C; by `stop`, if that raises; or by a progress hook that raises or returns something
// true.
std::function<bool(const Progress&)> stop_question(const nb::object& progress, const nb::object& stop) {
    return [&progress, &stop](const Progress& now) {
        if (searches.must_end()) return true;
        const nb::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) return true;
        try {
            if (!stop.is_none()) stop();
            return !progress.is_none() && nb::cast<bool>(progress(now));
        } catch (nb::python_error& error) {
            error.restore();
            return true;
        }
    };
}

// Runs without the interpreter's lock, then raises what a signal or a hook has raised.
template <class Run>
auto run_unlocked(const Run& run) {
    const Running running;
    searches.require_not_over();
    auto result = [&] {
        const nb::gil_scoped_release release;
        return run();
    }();
    if (PyErr_Occurred()) throw nb::python_error();
    searches.require_not_over();
    return result;
}

Solution solve_problem(const BoundProblem& bound, int max_depth, int max_splits,
                       const Input<double, 1>& least, double time_limit, int n_threads,
                       std::size_t memory_limit, const nb::object& progress, const nb::object& stop,
                       const Input<double, 1>& known_gains, const Input<bool, 1>& leads,
                       const Switches& switches) {
    const Control control{time_limit,
                          n_threads,
                          memory_limit,
                          !progress.is_none(),
                          stop_question(progress, stop),
                          to_vector(known_gains),
                          switches};
    const Limits limits = bound.limits(max_depth, max_splits, least);
    Problem problem = bound.problem;
    for (std::size_t c = 0; c < leads.shape(0) && c < problem.cuts.size(); ++c)
        problem.cuts[c].leads = leads(c);
    return run_unlocked([&] { return solve(problem, limits, control); });
}

SideGains gains_of_sides(const BoundProblem& bound, int max_depth, int max_splits,
                         const Input<double, 1>& least, double time_limit, int n_threads,
                         std::size_t memory_limit, const nb::object& stop) {
    const nb::object no_progress = nb::none();
    const Control control{.time_limit = time_limit,
                          .n_threads = n_threads,
                          .memory_limit = memory_limit,
                          .should_stop = stop_question(no_progress, stop)};
    const Limits limits = bound.limits(max_depth, max_splits, least);
    return run_unlocked([&] { return side_gains(bound.problem, limits, control); });
}

// Trees near the best one, and what they are asked for with.
struct BoundNearTrees {
    std::unique_ptr<NearTrees> trees;

    BoundNearTrees(const BoundProblem& bound, int max_depth, int max_splits, const Input<double, 1>& least,
                   double within, bool distinct, double time_limit, int n_threads, std::size_t memory_limit,
                   const nb::object& stop, int max_columns, const Ints& signs, const Input<double, 1>& units,
                   double prior) {
        const nb::object no_progress = nb::none();
        if (signs.shape(0) != 0 && (signs.shape(0) != bound.problem.n_columns ||
                                    2 * units.shape(0) > at(bound.problem.objective->n_sums)))
            throw nb::value_error("a sign for each column, and a unit for each pair of sums");
        Conditions conditions{max_columns, to_vector(signs), to_vector(units), prior};
        const Control control{.time_limit = time_limit,
                              .n_threads = n_threads,
                              .memory_limit = memory_limit,
                              .should_stop = stop_question(no_progress, stop)};
        const Limits limits = bound.limits(max_depth, max_splits, least);
        trees = run_unlocked([&] {
            return std::make_unique<NearTrees>(bound.problem, limits, control, within, distinct, conditions);
        });
    }

    Solution best(double time_limit, const nb::object& stop) {
        const nb::object no_progress = nb::none();
        const Control control{.time_limit = time_limit, .should_stop = stop_question(no_progress, stop)};
        return run_unlocked([&] { return trees->best(control); });
    }

    Solution next(std::size_t n, double time_limit, const nb::object& stop) {
        const nb::object no_progress = nb::none();
        const Control control{.time_limit = time_limit, .should_stop = stop_question(no_progress, stop)};
        return run_unlocked([&] { return trees->next(n, control); });
    }
};

std::string plan_text(const BoundProblem& bound, int max_depth, int max_splits, const Input<double, 1>& least,
                      double time_limit, int n_threads, std::size_t memory_limit, bool wants_progress,
                      const Switches& switches) {
    const Control control{.time_limit = time_limit,
                          .n_threads = n_threads,
                          .memory_limit = memory_limit,
                          .wants_progress = wants_progress,
                          .switches = switches};
    return plan(bound.problem, bound.limits(max_depth, max_splits, least), control).text();
}

std::tuple<double, double> estimate_seconds(const BoundProblem& bound, int max_depth, int max_splits,
                                            const Input<double, 1>& least, int n_threads,
                                            std::size_t memory_limit) {
    const Control control{.n_threads = n_threads, .memory_limit = memory_limit};
    const Seconds seconds = estimate(bound.problem, bound.limits(max_depth, max_splits, least), control);
    return {seconds.to_prepare, seconds.in_all};
}

LocalOptimum search_locally(const BoundProblem& bound, int max_depth, int max_splits,
                            const Input<double, 1>& least, int n_restarts, std::uint64_t seed, double price,
                            double time_limit, int n_threads, const nb::object& progress,
                            const nb::object& stop, const Ints& cut, const Ints& left, const Ints& right) {
    const Control control{.time_limit = time_limit,
                          .n_threads = n_threads,
                          .wants_progress = !progress.is_none(),
                          .should_stop = stop_question(progress, stop)};
    const Limits limits = bound.limits(max_depth, max_splits, least);
    const Tree start{to_vector(cut), to_vector(left), to_vector(right)};
    const Restarts restarts{n_restarts, seed, price, start.cut.empty() ? nullptr : &start};
    return run_unlocked([&] { return local_search(bound.problem, limits, restarts, control); });
}

TreePrior tree_prior(int max_depth, const Input<double, 1>& split, const Input<double, 1>& strengths,
                     bool logarithm = false) {
    if (max_depth < 0 || max_depth > 3) throw nb::value_error("an average is over at most three levels");
    if (at(max_depth) > split.shape(0) || split.shape(0) == 0)
        throw nb::value_error("a probability of a split for each level");
    if (strengths.shape(0) == 0) throw nb::value_error("some strength of the prior");
    return {to_vector(split), to_vector(strengths), logarithm};
}

Control average_control(double time_limit, int n_threads, const nb::object& progress,
                        const nb::object& stop) {
    return {.time_limit = time_limit,
            .n_threads = n_threads,
            .wants_progress = !progress.is_none(),
            .should_stop = stop_question(progress, stop)};
}

TreeAverage average_all_trees(const BoundProblem& bound, int max_depth, const Input<double, 1>& least,
                              const Input<double, 1>& split, const Input<double, 1>& strengths,
                              bool logarithm, double time_limit, int n_threads, const nb::object& progress,
                              const nb::object& stop) {
    const Control control = average_control(time_limit, n_threads, progress, stop);
    const Limits limits = bound.limits(max_depth, 0, least);
    const TreePrior prior = tree_prior(max_depth, split, strengths, logarithm);
    return run_unlocked([&] { return average_trees(bound.problem, limits, prior, control); });
}

TreeDraws draw_from_all_trees(const BoundProblem& bound, int max_depth, const Input<double, 1>& least,
                              const Input<double, 1>& split, const Input<double, 1>& strengths, int n_draws,
                              std::uint64_t seed, double time_limit, int n_threads, const nb::object& stop) {
    const nb::object no_progress = nb::none();
    const Control control = average_control(time_limit, n_threads, no_progress, stop);
    const Limits limits = bound.limits(max_depth, 0, least);
    const TreePrior prior = tree_prior(max_depth, split, strengths);
    return run_unlocked([&] { return draw_trees(bound.problem, limits, prior, n_draws, seed, control); });
}

Output<double> sum_tree_nodes(const BoundProblem& bound, const Ints& tree_begin, const Ints& cut,
                              const Ints& left, const Ints& right, const Input<double, 2>& values) {
    std::vector<Tree> trees;
    for (std::size_t t = 0; t + 1 < tree_begin.shape(0); ++t) {
        const std::int32_t first = tree_begin(t), last = tree_begin(t + 1);
        trees.push_back({{cut.data() + first, cut.data() + last},
                         {left.data() + first, left.data() + last},
                         {right.data() + first, right.data() + last}});
    }
    std::vector<double> sums(values.shape(0) * cut.shape(0));
    sum_nodes(bound.problem, trees, values.data(), values.shape(0), sums.data());
    return output(std::move(sums));
}

Output<std::int32_t> find_tree_leaves(const BoundProblem& bound, const Ints& cut, const Ints& left,
                                      const Ints& right) {
    std::vector<std::int32_t> leaf_of_row(bound.problem.n_rows);
    find_leaves(bound.problem, {to_vector(cut), to_vector(left), to_vector(right)}, leaf_of_row.data());
    return output(std::move(leaf_of_row));
}

// Throws unless each of some rows is one of so many.
void require_indices(const Input<std::int64_t, 1>& indices, std::size_t end, std::size_t n_rows) {
    if (indices.shape(0) != n_rows) throw nb::value_error("arrays of different numbers of rows");
    require_bins(indices.data(), n_rows, end, "an index beyond the end");
}

RowWeights row_weights(const Input<double, 2>& parts, std::size_t n_rows) {
    if (parts.shape(1) != n_rows) throw nb::value_error("arrays of different numbers of rows");
    return {parts.data(), parts.shape(0), n_rows};
}

auto count_row_risk(const Input<std::int64_t, 1>& order, const Input<double, 1>& time,
                    const Input<bool, 1>& event, const Input<double, 2>& weight) {
    require_indices(order, time.shape(0), time.shape(0));
    if (event.shape(0) != time.shape(0)) throw nb::value_error("arrays of different numbers of rows");
    RiskTable table = count_risk(order.data(), time.data(), event.data(), row_weights(weight, time.shape(0)));
    return std::tuple(output(std::move(table.times)), output(std::move(table.at_risk)),
                      output(std::move(table.deaths)));
}

Output<std::int64_t> count_row_steps(const Input<std::int64_t, 1>& order, const Input<double, 1>& time,
                                     const Input<double, 1>& times) {
    require_indices(order, time.shape(0), time.shape(0));
    return output(count_steps(order.data(), time.data(), time.shape(0), times.data(), times.shape(0)));
}

// Rows of groups as Python has them: group, step, time and the parts of the weight.
using BoundGroupRows =
    std::tuple<Input<std::int64_t, 1>, Input<std::int64_t, 1>, Input<double, 1>, Input<double, 2>>;

GroupRows group_rows(const BoundGroupRows& rows, std::size_t n_groups, std::size_t n_times) {
    const auto& [group, step, time, weight] = rows;
    const std::size_t n_rows = time.shape(0);
    require_indices(group, n_groups, n_rows);
    require_indices(step, n_times + 1, n_rows);
    return {group.data(), step.data(), time.data(), row_weights(weight, n_rows)};
}

auto count_groups_at_risk(std::size_t n_groups, std::size_t n_times, const BoundGroupRows& leaving,
                          const Input<bool, 1>& event, const Input<bool, 1>& censored, double censored_scale,
                          std::size_t censored_parts, const BoundGroupRows& entering,
                          const Input<double, 1>& round_times) {
    const GroupRows leave = group_rows(leaving, n_groups, n_times);
    const GroupRows enter = group_rows(entering, n_groups, n_times);
    if (event.shape(0) != leave.weight.n_rows || censored.shape(0) != leave.weight.n_rows)
        throw nb::value_error("arrays of different numbers of rows");
    if (enter.weight.n_parts != leave.weight.n_parts || censored_parts == 0 || round_times.shape(0) == 0 ||
        round_times(0) != 0)
        throw nb::value_error("weights in different parts, or times that do not begin at zero");
    GroupsAtRisk all = count_groups(n_groups, n_times, leave, event.data(), censored.data(), censored_scale,
                                    censored_parts, enter, to_vector(round_times));
    return std::tuple(output(std::move(all.n_steps)), output(std::move(all.step)),
                      output(std::move(all.at_risk)), output(std::move(all.deaths)),
                      output(std::move(all.round_at_risk)), output(std::move(all.n_censored)),
                      output(std::move(all.censored)), output(std::move(all.last_time)));
}

Output<std::uint16_t> bin_columns(const Input<double, 2>& values, const Input<double, 2>& thresholds) {
    if (values.shape(0) != thresholds.shape(0)) throw nb::value_error("thresholds for each column");
    const std::size_t n_rows = values.shape(1), n_thresholds = thresholds.shape(1);
    std::vector<std::uint16_t> bins(values.size());
    for (std::size_t c = 0; c < values.shape(0); ++c)
        bin_values(values.data() + c * n_rows, n_rows, thresholds.data() + c * n_thresholds, n_thresholds,
                   bins.data() + c * n_rows);
    return output(std::move(bins));
}

// One column after the other, each with room for the same number of bins.
template <class Bin>
auto sum_columns(const Input<Bin, 2>& bins, std::size_t n_bins, const Input<double, 2>& weight) {
    require_bins(bins.data(), bins.size(), n_bins);
    BinTotals all;
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    for (std::size_t column = 0; column < bins.shape(0); ++column) {
        const BinTotals one = sum_bins(bins.data() + column * bins.shape(1), bins.shape(1), n_bins,
                                       weight.data(), weight.shape(0));
        append(all.n, one.n);
        append(all.hash_low, one.hash_low);
        append(all.hash_high, one.hash_high);
        append(all.weight, one.weight);
    }
    return std::tuple(output(std::move(all.n)), output(std::move(all.hash_low)),
                      output(std::move(all.hash_high)), output(std::move(all.weight)));
}

// Tables, and how many counts their rows have.
struct BoundTables {
    TripleTables tables;
    std::size_t n_counts;
    std::mutex mutex;

    BoundTables(const BoundProblem& like, int max_depth, int max_splits, const Input<double, 1>& least,
                std::size_t memory_limit)
        : tables(like.problem, like.limits(max_depth, max_splits, least), memory_limit),
          n_counts(like.counts.shape(0)) {}

    void add(const BoundProblem& batch) {
        if (batch.counts.shape(0) != n_counts) throw nb::value_error("wrong number of counts");
        const nb::gil_scoped_release release;
        const std::lock_guard lock(mutex);
        tables.add(batch.problem);
    }

    Output<double> sums() {
        const std::lock_guard lock(mutex);
        return output(tables.sums());
    }

    void merge(const Input<double, 1>& sums) {
        const std::lock_guard lock(mutex);
        if (sums.shape(0) != tables.sums().size()) throw nb::value_error("sums of other tables");
        for (std::size_t k = 0; k < sums.shape(0); ++k) tables.sums()[k] += sums(k);
    }

    Solution solve() const {
        const nb::gil_scoped_release release;
        return tables.solve();
    }
};

const char* name(Status status) {
    constexpr const char* names[] = {"optimal", "time_limit", "interrupted"};
    return names[static_cast<int>(status)];
}

}  // namespace
}  // namespace surtree

NB_MODULE(_core, m) {
    using namespace surtree;
    m.doc() = "The compiled core of surtree. Use surtree.SurTree.";

    nb::class_<Switches>(m, "Switches", "What makes the search fast, to be left out one at a time.")
        .def(nb::init<>())
        .def_rw("kernel_depth", &Switches::kernel_depth)
        .def_rw("memo", &Switches::memo)
        .def_rw("merge", &Switches::merge)
        .def_rw("regroup", &Switches::regroup)
        .def_rw("bounds", &Switches::bounds)
        .def_rw("sweep", &Switches::sweep)
        .def_rw("share", &Switches::share)
        .def_rw("fill", &Switches::fill)
        .def_rw("screen", &Switches::screen)
        .def_rw("bisect", &Switches::bisect)
        .def_rw("stop_after", &Switches::stop_after);

    nb::class_<Progress>(m, "Progress", "How far a search is, and the largest size asked for.")
        .def_ro("fraction", &Progress::fraction)
        .def_ro("gain", &Progress::gain)
        .def_ro("gain_bound", &Progress::gain_bound);

    nb::class_<Tree>(m, "Tree", "A tree as flat arrays in preorder; a leaf has -1.")
        .def("__len__", [](const Tree& tree) { return tree.cut.size(); })
        .def_prop_ro("cut", copy_of(&Tree::cut), nb::rv_policy::automatic)
        .def_prop_ro("left", copy_of(&Tree::left), nb::rv_policy::automatic)
        .def_prop_ro("right", copy_of(&Tree::right), nb::rv_policy::automatic);

    nb::class_<Solution>(m, "Solution", "Gains, bounds and trees; entry k is for at most k splits.")
        .def_prop_ro("status", [](const Solution& solution) { return name(solution.status); })
        .def_prop_ro("gains", copy_of(&Solution::gains), nb::rv_policy::automatic)
        .def_prop_ro("gain_bounds", copy_of(&Solution::gain_bounds), nb::rv_policy::automatic)
        .def_ro("trees", &Solution::trees)
        .def_ro("n_cuts", &Solution::n_cuts)
        .def_ro("n_evaluated", &Solution::n_evaluated)
        .def_ro("proven_depth", &Solution::proven_depth);

    nb::class_<LocalOptimum>(m, "LocalOptimum", "The best tree, and what each restart is worth.")
        .def_ro("tree", &LocalOptimum::tree)
        .def_prop_ro("worth", copy_of(&LocalOptimum::worth), nb::rv_policy::automatic);

    nb::class_<TreeAverage>(m, "TreeAverage", "What all trees together say; see average.hpp.")
        .def_prop_ro("status", [](const TreeAverage& average) { return name(average.status); })
        .def_prop_ro("log_evidence", copy_of(&TreeAverage::log_evidence), nb::rv_policy::automatic)
        .def_prop_ro("first", copy_of(&TreeAverage::first), nb::rv_policy::automatic)
        .def_prop_ro("asked", copy_of(&TreeAverage::asked), nb::rv_policy::automatic)
        .def_prop_ro("mean", copy_of(&TreeAverage::mean), nb::rv_policy::automatic);

    nb::class_<TreeDraws>(m, "TreeDraws", "Trees drawn from their posterior.")
        .def_prop_ro("status", [](const TreeDraws& draws) { return name(draws.status); })
        .def_ro("trees", &TreeDraws::trees)
        .def_prop_ro("strength", copy_of(&TreeDraws::strength), nb::rv_policy::automatic);

    nb::class_<SideGains>(m, "SideGains", "Gains of both sides of every cut at the root.")
        .def_prop_ro("status", [](const SideGains& sides) { return name(sides.status); })
        .def_ro("width", &SideGains::width)
        .def_prop_ro("gains", copy_of(&SideGains::gains), nb::rv_policy::automatic);

    nb::class_<BoundProblem>(m, "Problem", "Rows, the cuts allowed on them, and what a leaf is worth.")
        .def(nb::init<Input<std::uint16_t, 2>, const Ints&, const Ints&, const Ints&, const Ints&,
                      const Ints&, const Input<bool, 1>&, const Input<std::uint64_t, 1>&, const std::string&,
                      const Input<double, 1>&, Input<double, 2>, Input<double, 2>, double, bool>(),
             "bins"_a, "n_bins"_a, "missing_bin"_a, "cut_column"_a, "cut_first"_a, "cut_last"_a,
             "cut_missing"_a, "cut_gaps"_a, "objective"_a, "parameters"_a, "sums"_a, "counts"_a, "grid"_a,
             "round_down"_a)
        .def("solve", &solve_problem, "max_depth"_a, "max_splits"_a, "least"_a, "time_limit"_a, "n_threads"_a,
             "memory_limit"_a, "progress"_a.none(), "stop"_a.none(), "known_gains"_a, "leads"_a, "switches"_a,
             "The optimal tree of every number of splits.")
        .def("side_gains", &gains_of_sides, "max_depth"_a, "max_splits"_a, "least"_a, "time_limit"_a,
             "n_threads"_a, "memory_limit"_a, "stop"_a.none(),
             "What both sides of every cut at the root gain, by their number of splits.")
        .def("plan_text", &plan_text, "max_depth"_a, "max_splits"_a, "least"_a, "time_limit"_a, "n_threads"_a,
             "memory_limit"_a, "wants_progress"_a, "switches"_a,
             "The stages of `solve`, each with about how many seconds it takes on one thread.")
        .def("estimate", &estimate_seconds, "max_depth"_a, "max_splits"_a, "least"_a, "n_threads"_a,
             "memory_limit"_a, "About the seconds before a search is stoppable, and of all of it.")
        .def("local_search", &search_locally, "max_depth"_a, "max_splits"_a, "least"_a, "n_restarts"_a,
             "seed"_a, "price"_a, "time_limit"_a, "n_threads"_a, "progress"_a.none(), "stop"_a.none(),
             "cut"_a, "left"_a, "right"_a,
             "A good tree without a proof; without nodes to start from, from random trees.")
        .def("average", &average_all_trees, "max_depth"_a, "least"_a, "split"_a, "strengths"_a, "logarithm"_a,
             "time_limit"_a, "n_threads"_a, "progress"_a.none(), "stop"_a.none(),
             "The average over all trees.")
        .def("draw", &draw_from_all_trees, "max_depth"_a, "least"_a, "split"_a, "strengths"_a, "n_draws"_a,
             "seed"_a, "time_limit"_a, "n_threads"_a, "stop"_a.none(), "Trees drawn from their posterior.")
        .def("sum_nodes", &sum_tree_nodes, "tree_begin"_a, "cut"_a, "left"_a, "right"_a, "values"_a,
             "The sums of values over each node of some trees, one kind after the other.")
        .def("find_leaves", &find_tree_leaves, "cut"_a, "left"_a, "right"_a, "The leaf of each row.");

    nb::class_<BoundNearTrees>(m, "NearTrees", "Trees near the best one, best first.")
        .def(nb::init<const BoundProblem&, int, int, const Input<double, 1>&, double, bool, double, int,
                      std::size_t, const nb::object&, int, const Ints&, const Input<double, 1>&, double>(),
             nb::keep_alive<1, 2>(), "problem"_a, "max_depth"_a, "max_splits"_a, "least"_a, "within"_a,
             "distinct"_a, "time_limit"_a, "n_threads"_a, "memory_limit"_a, "stop"_a.none(), "max_columns"_a,
             "signs"_a, "units"_a, "prior"_a)
        .def("best", &BoundNearTrees::best, "time_limit"_a, "stop"_a.none(),
             "The best tree of every size that satisfies the conditions.")
        .def(
            "free_gains", [](const BoundNearTrees& near) { return output(near.trees->free_gains()); },
            "The gain of the best tree of every size without conditions.")
        .def("next", &BoundNearTrees::next, "n"_a, "time_limit"_a, "stop"_a.none(),
             "The next trees; fewer where there are no more, or at a limit.")
        .def_prop_ro("is_full", [](const BoundNearTrees& near) { return near.trees->is_full(); });

    nb::class_<BoundTables>(m, "TripleTables", "Histograms over triples of columns, of rows in batches.")
        .def(nb::init<const BoundProblem&, int, int, const Input<double, 1>&, std::size_t>(), "problem"_a,
             "max_depth"_a, "max_splits"_a, "least"_a, "memory_limit"_a)
        .def("add", &BoundTables::add, "batch"_a, "Adds the rows of a problem with the same columns.")
        .def("merge", &BoundTables::merge, "sums"_a, "Adds the sums of tables of other rows.")
        .def("sums", &BoundTables::sums, nb::rv_policy::automatic, "All sums, as numbers that may be added.")
        .def("solve", &BoundTables::solve, "The optimal tree of every number of splits.");

    m.def("sum_bins", &sum_columns<std::uint16_t>, "bins"_a, "n_bins"_a, "weight"_a,
          "Rows in each bin, the two halves of the hash of these rows, and the parts of their weight.");
    m.def("sum_bins", &sum_columns<std::int64_t>, "bins"_a, "n_bins"_a, "weight"_a);
    m.def("bin_columns", &bin_columns, "values"_a, "thresholds"_a,
          "For each column, how many thresholds each value is above; one more than all for no number.");
    m.def("count_risk", &count_row_risk, "order"_a, "time"_a, "event"_a, "weight"_a,
          "Distinct times of events, and the parts of the weight at risk and of the events at each.");
    m.def("count_steps", &count_row_steps, "order"_a, "time"_a, "times"_a,
          "For each row, how many of some times are not after its own.");
    m.def("count_groups", &count_groups_at_risk, "n_groups"_a, "n_times"_a, "leaving"_a, "event"_a,
          "censored"_a, "censored_scale"_a, "censored_parts"_a, "entering"_a, "round_times"_a,
          "Who is at risk over time in each of some groups of rows.");
    m.def(
        "pair_weights",
        [](const Input<std::int64_t, 1>& time, const Input<std::int64_t, 1>& risk,
           const Input<double, 2>& first, const Input<double, 1>& second) {
            const std::size_t n_rows = second.shape(0);
            require_indices(time, std::size_t{1} << 62, n_rows);
            require_indices(risk, n_rows, n_rows);
            row_weights(first, n_rows);
            return output(
                pair_weights(time.data(), risk.data(), n_rows, first.data(), first.shape(0), second.data()));
        },
        "time"_a, "risk"_a, "first"_a, "second"_a,
        "Sums over pairs in the order of time: of those where the first has the higher risk, equal risks, "
        "all.");
    m.def(
        "hash_rows",
        [](const Input<double, 2>& words) {
            return output(hash_rows(words.data(), words.shape(0), words.shape(1)));
        },
        "words"_a, "A hash of each row, from the words that describe it.");
    m.def(
        "sum_hashes",
        [](const Input<std::uint64_t, 1>& hashes, std::size_t n_tables, std::size_t n_cells) {
            return output(sum_hashes(hashes.data(), hashes.shape(0), n_tables, n_cells));
        },
        "hashes"_a, "n_tables"_a, "n_cells"_a,
        "Sums of hashes, of their squares, and over the cells of tables.");
    m.def(
        "end_searches", [] { searches.end(); },
        "Stops the searches of all threads, and waits for them: for the exit of the interpreter.");
    m.def(
        "kernels", [] { return find_kernels("relative_risk")->instruction_set; },
        "Name of the instruction set in use.");
}
