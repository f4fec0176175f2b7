// Sums and leaves of finished trees.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "problem.hpp"

namespace surtree {
namespace {

using RowList = std::vector<std::int32_t>;

// A node of one of several trees.
struct Place {
    std::size_t tree;
    int node;
};

// Writes every row to both parts, and counts it in one: the next row overwrites it in the other.
void divide(const Problem& problem, const Cut& cut, const RowList& rows, RowList (&parts)[2]) {
    const std::size_t column = at(cut.column);
    const std::uint16_t* bins = problem.bins + column * problem.n_rows;
    std::vector<char> holds(at(problem.n_bins[column]));
    for (std::size_t b = 0; b < holds.size(); ++b)
        holds[b] = cut.holds(static_cast<int>(b), problem.missing_bin[column]);
    std::size_t n[2] = {};
    for (RowList& part : parts) part.resize(rows.size());
    for (const std::int32_t row : rows) {
        const bool yes = holds[bins[row]];
        parts[0][n[0]] = parts[1][n[1]] = row;
        n[0] += !yes;
        n[1] += yes;
    }
    for (const int side : {0, 1}) parts[side].resize(n[side]);
}

// Calls back with the leaves below some nodes that all have these rows. Trees of different sizes share most
// of their nodes: rows go down all trees at once, once where they agree.
template <class Visit>
void visit_leaves(const Problem& problem, const std::vector<Tree>& trees, const std::vector<Place>& places,
                  const RowList& rows, const Visit& visit) {
    std::map<int, std::vector<Place>> by_cut;
    for (const auto& [tree, node] : places) by_cut[trees[tree].cut[at(node)]].push_back({tree, node});
    RowList parts[2];
    for (auto& [cut, same] : by_cut) {
        if (cut < 0) {
            visit(same, rows);
            continue;
        }
        divide(problem, problem.cuts[at(cut)], rows, parts);
        for (const bool holds : {false, true}) {
            std::vector<Place> children = same;
            for (auto& [tree, node] : children)
                node = (holds ? trees[tree].right : trees[tree].left)[at(node)];
            visit_leaves(problem, trees, children, parts[holds], visit);
        }
    }
}

template <class Visit>
void visit_leaves(const Problem& problem, const std::vector<Tree>& trees, const Visit& visit) {
    std::vector<Place> roots;
    for (std::size_t tree = 0; tree < trees.size(); ++tree) roots.push_back({tree, 0});
    RowList rows(problem.n_rows);
    std::iota(rows.begin(), rows.end(), 0);
    visit_leaves(problem, trees, roots, rows, visit);
}

// Sums of leaves. The compiler knows how many kinds of values are added at once: some may be unused.
template <std::size_t Width>
void sum_leaves(const Problem& problem, const std::vector<Tree>& trees, const std::vector<std::size_t>& first,
                const double* values, std::size_t n_values, double* sums) {
    std::vector<std::array<double, Width>> by_row(problem.n_rows);
    for (std::size_t v = 0; v < n_values; ++v)
        for (std::size_t r = 0; r < problem.n_rows; ++r) by_row[r][v] = values[v * problem.n_rows + r];
    visit_leaves(problem, trees, [&](const std::vector<Place>& leaves, const RowList& rows) {
        std::array<double, Width> total{};
        for (const std::int32_t row : rows)
            for (std::size_t v = 0; v < Width; ++v) total[v] += by_row[at(row)][v];
        for (const auto& [tree, node] : leaves)
            for (std::size_t v = 0; v < n_values; ++v)
                sums[v * first.back() + first[tree] + at(node)] = total[v];
    });
}

}  // namespace

void sum_nodes(const Problem& problem, const std::vector<Tree>& trees, const double* values,
               std::size_t n_values, double* sums) {
    std::vector<std::size_t> first{0};  // node of each tree, and how many there are
    for (const Tree& tree : trees) first.push_back(first.back() + tree.cut.size());
    constexpr std::size_t most = 8;  // at once: they take memory
    for (std::size_t done = 0; done < n_values; done += most) {
        const std::size_t n = std::min(n_values - done, most);
        const auto sum = n <= 4 ? sum_leaves<4> : n <= 6 ? sum_leaves<6> : sum_leaves<most>;
        sum(problem, trees, first, values + done * problem.n_rows, n, sums + done * first.back());
    }
    for (std::size_t v = 0; v < n_values; ++v)
        for (std::size_t t = 0; t < trees.size(); ++t) {
            const Tree& tree = trees[t];
            double* to = sums + v * first.back() + first[t];
            // Children come after their parent, so backwards they are complete before it.
            for (std::size_t node = tree.cut.size(); node-- > 0;)
                if (tree.cut[node] >= 0) to[node] = to[tree.left[node]] + to[tree.right[node]];
        }
}

void find_leaves(const Problem& problem, const Tree& tree, std::int32_t* leaf_of_row) {
    visit_leaves(problem, {tree}, [&](const std::vector<Place>& leaves, const RowList& rows) {
        for (const std::int32_t row : rows) leaf_of_row[row] = leaves.front().node;
    });
}

}  // namespace surtree
