// The kernels of one objective, SURTREE_OBJECTIVE, for one instruction set: compiled once for each of both
// (see kernels.hpp).
#include "kernel/kernels.hpp"

#include "kernel/depth_three.hpp"
#include "kernel/scan.hpp"
#include "objective/objectives.hpp"
#include "screening/kernel.hpp"
#include "stumps/kernel.hpp"

namespace surtree::SURTREE_ISA {
namespace {

template <class Objective, template <class> class Solver>
bool run(const KernelInput& in) {
    return with_leaf<Objective>(in.leaf.n_counts, [&]<class Leaf>() { return Solver<Leaf>(in).run(); });
}

template <class Objective, template <class> class Solver>
std::size_t count(const KernelInput& in) {
    return with_leaf<Objective>(in.leaf.n_counts, [&]<class Leaf>() { return Solver<Leaf>(in).arena.used; });
}

template <class Objective>
std::size_t workspace(const KernelInput& in, int depth) {
    KernelInput dry = in;
    dry.workspace = nullptr;
    if (depth == 1) return count<Objective, DepthOne>(dry);
    if (depth == 2) return count<Objective, DepthTwo>(dry);
    return in.tables ? count<Objective, DepthThreeOfTables>(dry) : count<Objective, DepthThreeOfRows>(dry);
}

template <class Objective>
std::size_t stumps_workspace(const KernelInput& in) {
    KernelInput dry = in;
    dry.workspace = nullptr;
    if (in.n_axes == 2) return count<Objective, StumpsOfTwo>(dry);
    return in.n_axes == 3 ? count<Objective, StumpsOfThree>(dry) : count<Objective, StumpsOfFour>(dry);
}

template <class Objective>
bool run_depth_three(const KernelInput& in) {
    return in.tables ? run<Objective, DepthThreeOfTables>(in) : run<Objective, DepthThreeOfRows>(in);
}

// Kernels that only objectives with a rough gain have.
template <class Objective>
struct Screening {
    static constexpr bool (*run)(const ScreenInput&) = nullptr;
    static constexpr std::size_t (*workspace)(const ScreenInput&) = nullptr;
    static constexpr void (*gains)(double, const int*, int, float*) = nullptr;
    static constexpr double error = 0;
};

#ifdef SURTREE_VECTOR_EXTENSIONS
template <class Objective>
    requires requires { typename Objective::Rough; }
struct Screening<Objective> {
    static constexpr double error = Objective::Rough::error;

    static bool run(const ScreenInput& in) {
        return with_leaf<Objective>(in.n_counts, [&]<class Leaf>() { return Screen<Leaf>(in).run(); });
    }
    static std::size_t workspace(const ScreenInput& in) {
        ScreenInput dry = in;
        dry.workspace = nullptr;
        return with_leaf<Objective>(in.n_counts, [&]<class Leaf>() { return Screen<Leaf>(dry).arena.used; });
    }
    static void gains(double prior, const int* sums, int n, float* out) {
        const typename Objective::Rough gain(prior);
        for (int first = 0; first < n; first += short_lanes) {
            Ints e{}, h{};
            const int left = n - first < short_lanes ? n - first : short_lanes;
            for (int l = 0; l < left; ++l) {
                e[l] = sums[2 * (first + l)];
                h[l] = sums[2 * (first + l) + 1];
            }
            const Floats values = gain(e, h);
            for (int l = 0; l < left; ++l) out[first + l] = values[l];
        }
    }
};
#endif

template <class Objective>
void fill_tables(const KernelInput& in, int first, int last, double* tables) {
    with_leaf<Objective>(in.leaf.n_counts,
                         [&]<class Leaf>() { add_to_tables<Leaf::width>(in, first, last, tables); });
}

template <class Objective>
void scan(const ScanInput& in) {
    with_leaf<Objective>(in.leaf.n_counts, [&]<class Leaf>() { Scan<Leaf>{in}.run(); });
}

template <class Objective>
void scan_cuts(const ScanInput& in, int side, const double* sums, int n_cuts) {
    with_leaf<Objective>(in.leaf.n_counts,
                         [&]<class Leaf>() { Scan<Leaf>{in}.evaluate(side, sums, n_cuts); });
}

// Calls a function of a leaf and the sums of some rows, a vector of rows at a time.
template <class Objective, class Value>
void for_each_row(const LeafSpec& spec, const double* sums, int n, double* out, const Value& value) {
    with_leaf<Objective>(spec.n_counts, [&]<class Leaf>() {
        const Leaf leaf(spec);
        for (int first = 0; first < n; first += lanes) {
            const int left = n - first < lanes ? n - first : lanes;
            Vector rows[Leaf::width] = {};
            for (int l = 0; l < left; ++l)
                for (int c = 0; c < Leaf::width; ++c) rows[c][l] = sums[area(first + l, Leaf::width) + c];
            const Vector values = value(leaf, rows);
            for (int l = 0; l < left; ++l) out[first + l] = values[l];
        }
    });
}

template <class Objective>
void gains(const LeafSpec& spec, const double* sums, int n, double* out) {
    for_each_row<Objective>(spec, sums, n, out, [](auto& leaf, auto& rows) { return leaf.gain(rows); });
}

template <class Objective>
void saturated(const LeafSpec& spec, const double* sums, int n, double* out) {
    for_each_row<Objective>(spec, sums, n, out, [](auto& leaf, auto& rows) { return leaf.saturated(rows); });
}

template <class Objective>
bool allows(const LeafSpec& spec, const double* sums) {
    return with_leaf<Objective>(spec.n_counts, [&]<class Leaf>() { return Leaf(spec).allows(sums); });
}

#define SURTREE_STRING(name) #name
#define SURTREE_NAME(name) SURTREE_STRING(name)
template <class Objective>
constexpr Kernels table = {
    SURTREE_NAME(SURTREE_ISA),
    Objective::name,
    Objective::n_sums,
    Objective::n_channels,
    Objective::n_parameters,
    Objective::exposure,
    Objective::is_convex,
    Objective::is_monotone,
    lanes,
    padded_counts<Objective>,
    Objective::scale,
    Objective::saturated_exactly,
    {run<Objective, DepthOne>, run<Objective, DepthTwo>, run_depth_three<Objective>},
    workspace<Objective>,
    {run<Objective, StumpsOfTwo>, run<Objective, StumpsOfThree>, run<Objective, StumpsOfFour>},
    stumps_workspace<Objective>,
    Screening<Objective>::run,
    Screening<Objective>::workspace,
    Screening<Objective>::gains,
    Screening<Objective>::error,
    fill_tables<Objective>,
    scan<Objective>,
    scan_cuts<Objective>,
    gains<Objective>,
    saturated<Objective>,
    allows<Objective>};

}  // namespace

template <class Objective>
const Kernels* kernels_of() {
    return &table<Objective>;
}
template const Kernels* kernels_of<SURTREE_OBJECTIVE>();

}  // namespace surtree::SURTREE_ISA
