#include "stumps/filler.hpp"

#include <algorithm>

namespace surtree {

StumpFiller::StumpFiller(StumpStore& store, const Columns& columns, const Rows& rows, const bool* stop)
    : store_(store), rows_(rows), stop_(stop) {
    const int n = static_cast<int>(store.order().size());
    for (const int c : store.order()) regions_.push_back(columns[c].regions(3));
    for (int a = 0; a < n; ++a)
        for (int b = a + 1; b < n; ++b) tasks_.push_back({a, b});
}

bool StumpFiller::run(int task, Scratch& scratch) {
    const auto [a, b] = tasks_[at(task)];
    const int n = static_cast<int>(store_.order().size());
    if (!solve<2>({a, b}, scratch)) return false;
    for (int c = b + 1; c < n; ++c) {
        if (!solve<3>({a, b, c}, scratch)) return false;
        for (int d = c + 1; d < n; ++d)
            if (!solve<4>({a, b, c, d}, scratch)) return false;
    }
    return true;
}

// Solves some columns, given by their places, in memory of its own, and raises the table to what it found.
template <std::size_t N>
bool StumpFiller::solve(const std::array<int, N>& places, Scratch& scratch) {
    std::vector<double*> parts;
    std::vector<std::size_t> sizes;
    const auto column = [&](std::size_t k) { return store_.order()[at(places[k])]; };
    const auto add_part = [&](StumpStore::Part part) {
        parts.push_back(part.first);
        sizes.push_back(part.size);
    };
    if constexpr (N == 4)
        for (const std::array<std::size_t, 3>& three :
             {std::array<std::size_t, 3>{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}})
            add_part(store_.part(column(three[0]), column(three[1]), column(three[2])));
    if constexpr (N == 3) add_part(store_.part(column(0), column(1), column(2)));
    if constexpr (N < 4)
        for (std::size_t a = 0; a < N; ++a)
            for (std::size_t b = 0; b < N; ++b)
                if (a != b) add_part(store_.part(column(a), column(b)));

    std::size_t all = 0;
    for (const std::size_t size : sizes) all += whole_vectors(static_cast<int>(size));
    scratch.tables.assign(all, infeasible);
    std::vector<double*> found;
    std::size_t next = 0;
    for (const std::size_t size : sizes) {
        found.push_back(scratch.tables.data() + next);
        next += whole_vectors(static_cast<int>(size));
    }

    scratch.views.clear();
    for (std::size_t k = 0; k < N; ++k)
        scratch.views.push_back(kernel_axis(*regions_[at(places[k])], rows_.all.column(column(k))));
    const Kernels& kernels = rows_.leaf.kernels();
    KernelInput in{};
    in.axes = scratch.views.data();
    in.n_axes = static_cast<int>(N);
    in.n_rows = rows_.all.n;
    in.sums = rows_.all.sums.data();
    in.leaf = rows_.leaf.spec();
    in.stop = stop_;
    in.stumps = found.data();
    const std::size_t need = kernels.stumps_workspace(in);
    if (scratch.workspace.size() < need) scratch.workspace.resize(need);
    in.workspace = scratch.workspace.data();
    if (!kernels.stumps[N - 2](in)) return false;
    for (std::size_t k = 0; k < parts.size(); ++k) raise(parts[k], sizes[k], found[k]);
    return true;
}

void StumpFiller::raise(double* to, std::size_t size, const double* from) {
    // Parts begin far from each other: the address tells them apart.
    std::mutex& mutex = mutexes_[std::hash<double*>{}(to) / 64 % mutexes_.size()];
    const std::lock_guard lock(mutex);
    for (std::size_t k = 0; k < size; ++k) to[k] = std::max(to[k], from[k]);
}

}  // namespace surtree
