#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "problem.hpp"

namespace surtree {
namespace {

// Where rows go at a cut, by their bin.
struct Fork {
    const std::uint16_t* bins;
    std::vector<char> holds;

    Fork(const Problem& problem, const Cut& cut)
        : bins(problem.bins + at(cut.column) * problem.n_rows), holds(at(problem.n_bins[at(cut.column)])) {
        for (int b = 0; b < static_cast<int>(holds.size()); ++b)
            holds[at(b)] = cut.holds(b, problem.missing_bin[at(cut.column)]);
    }
};

// Trees of different sizes share most of their nodes: rows go down all trees at once, once where they agree.
class TreeSums {
 public:
    TreeSums(const Problem& problem, const std::vector<Tree>& trees, const double* values,
             std::size_t n_values, double* sums)
        : problem_(problem),
          trees_(trees),
          values_(n_values * problem.n_rows),
          n_values_(n_values),
          sums_(sums) {
        for (std::size_t v = 0; v < n_values; ++v)
            for (std::size_t r = 0; r < problem.n_rows; ++r)
                values_[r * n_values + v] = values[v * problem.n_rows + r];
        first_.push_back(0);
        for (const Tree& tree : trees) first_.push_back(first_.back() + tree.cut.size());
    }

    void run() {
        std::vector<Place> roots;
        for (std::size_t tree = 0; tree < trees_.size(); ++tree) roots.push_back({tree, 0});
        std::vector<std::int32_t> rows(problem_.n_rows);
        std::iota(rows.begin(), rows.end(), 0);
        descend(roots, rows);
        for (std::size_t v = 0; v < n_values_; ++v)
            for (std::size_t t = 0; t < trees_.size(); ++t) {
                const Tree& tree = trees_[t];
                double* to = sums_ + v * first_.back() + first_[t];
                // Children come after their parent, so backwards they are complete before it.
                for (std::size_t node = tree.cut.size(); node-- > 0;)
                    if (tree.cut[node] >= 0) to[node] = to[tree.left[node]] + to[tree.right[node]];
            }
    }

 private:
    struct Place {
        std::size_t tree;
        int node;
    };

    // Nodes that all have these rows.
    void descend(const std::vector<Place>& places, const std::vector<std::int32_t>& rows) {
        std::map<int, std::vector<Place>> by_cut;
        for (const Place& place : places) by_cut[trees_[place.tree].cut[at(place.node)]].push_back(place);
        std::vector<std::int32_t> parts[2];
        for (const auto& [cut, same] : by_cut) {
            if (cut < 0) {
                add_leaf(same, rows);
                continue;
            }
            divide(rows, Fork(problem_, problem_.cuts[at(cut)]), parts);
            for (const bool holds : {false, true}) {
                std::vector<Place> children;
                for (const auto& [tree, node] : same)
                    children.push_back({tree, (holds ? trees_[tree].right : trees_[tree].left)[at(node)]});
                descend(children, parts[holds]);
            }
        }
    }

    // Writes every row to both parts, and counts it in one: the next row overwrites it in the other.
    static void divide(const std::vector<std::int32_t>& rows, const Fork& fork,
                       std::vector<std::int32_t> (&parts)[2]) {
        for (std::vector<std::int32_t>& part : parts) part.resize(rows.size());
        std::size_t n_no = 0, n_yes = 0;
        for (const std::int32_t row : rows) {
            const bool holds = fork.holds[fork.bins[row]];
            parts[0][n_no] = parts[1][n_yes] = row;
            n_no += !holds;
            n_yes += holds;
        }
        parts[0].resize(n_no);
        parts[1].resize(n_yes);
    }

    void add_leaf(const std::vector<Place>& leaves, const std::vector<std::int32_t>& rows) {
        // Two values at a time: that many the compiler keeps in a register.
        for (std::size_t v = 0; v < n_values_; v += 2) {
            const std::size_t second = std::min(v + 1, n_values_ - 1);
            double sum[2] = {};
            for (const std::int32_t row : rows) {
                const double* value = values_.data() + at(row) * n_values_;
                sum[0] += value[v];
                sum[1] += value[second];
            }
            for (const auto& [tree, node] : leaves) {
                double* to = sums_ + first_[tree] + at(node);
                to[v * first_.back()] = sum[0];
                to[second * first_.back()] = sum[1];
            }
        }
    }

    const Problem& problem_;
    const std::vector<Tree>& trees_;
    std::vector<double> values_;  // rows x values
    const std::size_t n_values_;
    double* sums_;
    std::vector<std::size_t> first_;  // node of each tree, and how many there are
};

}  // namespace

void sum_nodes(const Problem& problem, const std::vector<Tree>& trees, const double* values,
               std::size_t n_values, double* sums) {
    TreeSums(problem, trees, values, n_values, sums).run();
}

void find_leaves(const Problem& problem, const Tree& tree, std::int32_t* leaf_of_row) {
    std::vector<std::unique_ptr<Fork>> forks(tree.cut.size());
    for (std::size_t node = 0; node < forks.size(); ++node)
        if (tree.cut[node] >= 0)
            forks[node] = std::make_unique<Fork>(problem, problem.cuts[at(tree.cut[node])]);
    for (std::size_t r = 0; r < problem.n_rows; ++r) {
        int node = 0;
        while (const Fork* fork = forks[at(node)].get())
            node = (fork->holds[fork->bins[r]] ? tree.right : tree.left)[at(node)];
        leaf_of_row[r] = node;
    }
}

}  // namespace surtree
