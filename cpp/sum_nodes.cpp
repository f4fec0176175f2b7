#include "problem.hpp"

namespace surtree {

void sum_nodes(const Problem& problem, const Tree& tree, const double* values, std::size_t n_values,
               std::int32_t* leaf_of_row, double* sums) {
    const std::size_t n_nodes = tree.cut.size();
    // Per node: its column, and where the rows of each bin go.
    struct Fork {
        const std::uint16_t* bins = nullptr;
        std::vector<std::int32_t> child_of_bin;
    };
    std::vector<Fork> forks(n_nodes);
    for (std::size_t node = 0; node < n_nodes; ++node) {
        if (tree.cut[node] < 0) continue;
        const Cut& cut = problem.cuts[static_cast<std::size_t>(tree.cut[node])];
        const auto column = static_cast<std::size_t>(cut.column);
        forks[node].bins = problem.bins + column * problem.n_rows;
        for (int b = 0; b < problem.n_bins[column]; ++b) {
            const bool holds =
                (b >= cut.first && b <= cut.last) || (cut.missing && b == problem.missing_bin[column]);
            forks[node].child_of_bin.push_back(holds ? tree.right[node] : tree.left[node]);
        }
    }
    for (std::size_t r = 0; r < problem.n_rows; ++r) {
        std::size_t node = 0;
        while (forks[node].bins)
            node = static_cast<std::size_t>(forks[node].child_of_bin[forks[node].bins[r]]);
        leaf_of_row[r] = static_cast<std::int32_t>(node);
    }
    for (std::size_t v = 0; v < n_values; ++v) {
        double* to = sums + v * n_nodes;
        for (std::size_t r = 0; r < problem.n_rows; ++r) to[leaf_of_row[r]] += values[v * problem.n_rows + r];
        // Children come after their parent, so backwards they are complete before it.
        for (std::size_t node = n_nodes; node-- > 0;)
            if (tree.cut[node] >= 0)
                to[node] = to[static_cast<std::size_t>(tree.left[node])] +
                           to[static_cast<std::size_t>(tree.right[node])];
    }
}

}  // namespace surtree
