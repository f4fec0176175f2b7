#include "average/averager.hpp"

namespace surtree {
namespace {

// A number from zero to one that depends on the seed and on how many were drawn before.
class Uniform {
 public:
    explicit Uniform(std::uint64_t seed) : state_(seed) {}
    double operator()() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

 private:
    std::uint64_t state_;
};

// Appends a node drawn from its posterior, and what is below it.
int draw_node(const Averager& averager, const Terms& terms, const RowList& rows, int depth,
              std::size_t strength, Uniform& uniform, Tree& tree) {
    const int node = tree.add_leaf();
    double left = uniform() - terms.share_of_leaf(strength);
    if (left < 0 || terms.choices.empty()) return node;
    std::size_t k = 0;
    while (k + 1 < terms.choices.size() && (left -= terms.share(k, strength)) >= 0) ++k;
    RowList inside, outside;
    averager.rows().divide(rows, terms.choices[k].cut, inside, outside);
    const auto draw = [&](const RowList& side) {
        if (averager.levels(depth) == 1) return tree.add_leaf();
        return draw_node(averager, averager.terms(side, depth + 1), side, depth + 1, strength, uniform, tree);
    };
    tree.cut[at(node)] = terms.choices[k].cut;
    tree.left[at(node)] = draw(outside);
    tree.right[at(node)] = draw(inside);
    return node;
}

}  // namespace

TreeDraws draw_trees(const Problem& problem, const Limits& limits, const TreePrior& prior, int n_draws,
                     std::uint64_t seed, const Control& control) {
    Workers workers(control);
    const Averager averager(problem, limits, prior, workers);
    const RowList rows = averager.rows().all();
    TreeDraws out;
    Terms terms;
    out.status = find_root_terms(averager, rows, averager.rows().histogram(rows), workers, control, terms);
    if (out.status != Status::optimal) return out;
    const Strengths weight = weights_of(terms.log_evidence);
    out.status = workers.run(
        1,
        [&] {
            Uniform uniform(seed);
            for (int k = 0; k < n_draws && !workers.stopped(); ++k) {
                double left = uniform();
                std::size_t strength = 0;
                while (strength + 1 < weight.size() && (left -= weight[strength]) >= 0) ++strength;
                Tree tree;
                draw_node(averager, terms, rows, 0, strength, uniform, tree);
                out.trees.push_back(std::move(tree));
                out.strength.push_back(static_cast<int>(strength));
            }
        },
        [] { return Progress{}; });
    return out;
}

}  // namespace surtree
