// The kernels of one instruction set: compiled once for each (see kernels.hpp).
#include "kernel/kernels.hpp"

#include "kernel/depth_three.hpp"
#include "kernel/scan.hpp"

namespace surtree::SURTREE_ISA {
namespace {

template <template <int> class Solver>
bool run(const KernelInput& in) {
    return in.n_sums == 2 ? Solver<2>(in).run() : Solver<4>(in).run();
}

template <template <int> class Solver>
std::size_t count(const KernelInput& in) {
    return in.n_sums == 2 ? Solver<2>(in).arena.used : Solver<4>(in).arena.used;
}

std::size_t workspace(const KernelInput& in, int depth) {
    KernelInput dry = in;
    dry.workspace = nullptr;
    if (depth == 1) return count<DepthOne>(dry);
    if (depth == 2) return count<DepthTwo>(dry);
    // The same space serves while the tables are filled.
    Arena filling{nullptr};
    filling.cells(in.n_rows);
    const std::size_t solving = count<DepthThree>(dry);
    return solving > filling.used ? solving : filling.used;
}

void fill_tables(const KernelInput& in, int first, int last, double* tables) {
    in.n_sums == 2 ? add_to_tables<2>(in, first, last, tables) : add_to_tables<4>(in, first, last, tables);
}

void scan(const ScanInput& in) { in.n_sums == 2 ? Scan<2>{in}.run() : Scan<4>{in}.run(); }

void scan_cuts(const ScanInput& in, int side, const double* sums, int n_cuts) {
    in.n_sums == 2 ? Scan<2>{in}.evaluate(side, sums, n_cuts) : Scan<4>{in}.evaluate(side, sums, n_cuts);
}

void gains(const double* events, const double* hazard, double* out, int n) {
    for (int k = 0; k < n; k += lanes) store(out + k, gain(load(events + k), load(hazard + k)));
}

}  // namespace

#define SURTREE_STRING(name) #name
#define SURTREE_NAME(name) SURTREE_STRING(name)
extern const Kernels table;
const Kernels table = {SURTREE_NAME(SURTREE_ISA),
                       {run<DepthOne>, run<DepthTwo>, run<DepthThree>},
                       workspace,
                       fill_tables,
                       scan,
                       scan_cuts,
                       gains};

}  // namespace surtree::SURTREE_ISA
