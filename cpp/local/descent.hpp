// One restart of the local search: a tree, and changes of one node at a time until none helps.
#pragma once

#include <random>

#include "local/node_search.hpp"
#include "search/workers.hpp"

namespace surtree::SURTREE_ISA {

template <class Leaf>
class Descent {
 public:
    Descent(const LocalSearchProblem& problem, const Workers& workers)
        : problem_(problem), search_(problem, workers), workers_(workers) {}

    // A restart: a single leaf, then one of three ways to a tree, then `run`.
    void begin(std::uint64_t seed) {
        random_.seed(seed);
        nodes_.assign(1, Node{});
        n_splits_ = 0;
        all_.resize(at(problem_.rows.all.n));
        for (std::size_t r = 0; r < all_.size(); ++r) all_[r] = static_cast<int>(r);
    }

    void grow_greedily() { grow(0, all_, problem_.limits.max_depth); }

    // A random tree: random leaves are cut at random as long as the limits allow it.
    void plant() {
        struct Bed {
            int node, depth;
            std::vector<int> rows;
        };
        constexpr int tries = 8;  // cuts that leave too little on a side
        if (problem_.problem.cuts.empty() || problem_.limits.max_depth == 0) return;
        std::vector<Bed> open{{0, problem_.limits.max_depth, all_}};
        while (!open.empty() && n_splits_ < problem_.limits.max_splits) {
            std::swap(open[at(below(open.size()))], open.back());
            Bed bed = std::move(open.back());
            open.pop_back();
            for (int t = 0; t < tries; ++t) {
                // A column is drawn first: else columns of many thresholds would rule out the others.
                const std::vector<int>& cuts = problem_.sweeps[at(below(problem_.sweeps.size()))].cuts;
                const int cut = cuts[at(below(cuts.size()))];
                const std::size_t middle = problem_.divide(cut, bed.rows);
                const RowSpan all(bed.rows), no = all.first(middle), yes = all.subspan(middle);
                if (!search_.can_be_leaf(no) || !search_.can_be_leaf(yes)) continue;
                split(bed.node, cut);
                if (bed.depth == 1) break;
                const Node made = nodes_[at(bed.node)];
                open.push_back({made.left, bed.depth - 1, {no.begin(), no.end()}});
                open.push_back({made.right, bed.depth - 1, {yes.begin(), yes.end()}});
                break;
            }
        }
    }

    // The given tree, as far as the limits allow it; if wanted, with one of its nodes changed.
    void copy_tree(const Tree& tree, bool changed) {
        load(tree, 0, 0, all_, problem_.limits.max_depth);
        if (!changed || n_splits_ == 0) return;
        int skipped = below(at(n_splits_));
        change(0, all_, problem_.limits.max_depth, skipped);
    }

    void run() {
        while (!workers_.stopped() && visit(0, all_, problem_.limits.max_depth)) {
        }
    }

    // The gain less the price of the splits, in units of the grid.
    double worth() {
        double value = -problem_.price * n_splits_;
        add_gains(0, all_, value);
        return value;
    }

    int n_splits() const { return n_splits_; }

    Tree tree() const {
        Tree out;
        copy(0, out);
        return out;
    }

 private:
    int below(std::size_t n) { return static_cast<int>(random_() % n); }

    void split(int node, int cut) {
        nodes_[at(node)] = {cut, static_cast<int>(nodes_.size()), static_cast<int>(nodes_.size()) + 1};
        nodes_.resize(nodes_.size() + 2);
        ++n_splits_;
    }

    // The best cut of a leaf, then those of its two sides: what greedy growth finds.
    void grow(int leaf, RowSpan rows, int depth) {
        if (!improve(leaf, rows, depth)) return;
        const Node made = nodes_[at(leaf)];
        const std::size_t middle = problem_.divide(made.cut, rows);
        grow(made.left, rows.first(middle), depth - 1);
        grow(made.right, rows.subspan(middle), depth - 1);
    }

    void load(const Tree& tree, int from, int node, RowSpan rows, int depth) {
        const int cut = tree.cut[at(from)];
        if (cut < 0 || depth == 0 || n_splits_ >= problem_.limits.max_splits) return;
        const std::size_t middle = problem_.divide(cut, rows);
        const RowSpan no = rows.first(middle), yes = rows.subspan(middle);
        if (no.empty()) return load(tree, tree.right[at(from)], node, rows, depth);
        if (yes.empty()) return load(tree, tree.left[at(from)], node, rows, depth);
        if (!search_.can_be_leaf(no) || !search_.can_be_leaf(yes)) return;
        split(node, cut);
        const Node made = nodes_[at(node)];
        load(tree, tree.left[at(from)], made.left, no, depth - 1);
        load(tree, tree.right[at(from)], made.right, yes, depth - 1);
    }

    // Changes the split with this number in preorder, counted down: it gets the best cut of some columns, and
    // what is below it stays or is grown again. A random cut would rarely lead anywhere if columns are many.
    bool change(int node, RowSpan rows, int depth, int& skipped) {
        const Node current = nodes_[at(node)];
        if (current.cut < 0) return false;
        if (skipped-- > 0) {
            const std::size_t middle = problem_.divide(current.cut, rows);
            return change(current.left, rows.first(middle), depth - 1, skipped) ||
                   change(current.right, rows.subspan(middle), depth - 1, skipped);
        }
        const bool regrown = below(2) == 0;
        if (regrown) replace(node, -1);
        const Option best = search_.find_among(nodes_, nodes_[at(node)], rows, random_(), 1 << below(5));
        if (best.kind != Option::Kind::cut) return true;
        if (!regrown) {
            nodes_[at(node)].cut = best.cut;
            return true;
        }
        split(node, best.cut);
        const Node made = nodes_[at(node)];
        const std::size_t middle = problem_.divide(made.cut, rows);
        grow(made.left, rows.first(middle), depth - 1);
        grow(made.right, rows.subspan(middle), depth - 1);
        return true;
    }

    // Improve a node and all below it; which comes first is random, as the order of coordinates.
    bool visit(int node, RowSpan rows, int depth) {
        if (workers_.stopped()) return false;
        const bool now = below(2) == 0;
        bool changed = now && improve(node, rows, depth);
        while (nodes_[at(node)].cut >= 0) {
            const Node current = nodes_[at(node)];
            const std::size_t middle = problem_.divide(current.cut, rows);
            if (middle == 0 || middle == rows.size()) {
                // Nothing is left to ask: the side that all rows take stands for the node.
                replace(node, middle == 0 ? current.right : current.left);
                changed = true;
                continue;
            }
            changed |= visit(current.left, rows.first(middle), depth - 1);
            changed |= visit(current.right, rows.subspan(middle), depth - 1);
            break;
        }
        return (!now && improve(node, rows, depth)) || changed;
    }

    int count_splits(int node) const {
        const Node& n = nodes_[at(node)];
        return n.cut < 0 ? 0 : 1 + count_splits(n.left) + count_splits(n.right);
    }

    // One of the subtrees of a node, or a leaf (-1), takes its place.
    void replace(int node, int by) {
        n_splits_ -= count_splits(node);
        nodes_[at(node)] = by < 0 ? Node{} : nodes_[at(by)];
        n_splits_ += count_splits(node);
    }

    bool improve(int node, RowSpan rows, int depth) {
        const Node current = nodes_[at(node)];
        const bool is_leaf = current.cut < 0;
        if (is_leaf && (depth == 0 || n_splits_ >= problem_.limits.max_splits)) return false;
        if (rows.empty()) return false;
        const Option best = search_.find(nodes_, current, rows);
        switch (best.kind) {
            case Option::Kind::keep:
                return false;
            case Option::Kind::leaf:
                if (!is_leaf) replace(node, -1);
                return !is_leaf;
            case Option::Kind::left:
                replace(node, current.left);
                return true;
            case Option::Kind::right:
                replace(node, current.right);
                return true;
            case Option::Kind::cut:
                if (is_leaf)
                    split(node, best.cut);
                else
                    nodes_[at(node)].cut = best.cut;
                return true;
        }
        return false;
    }

    void add_gains(int node, RowSpan rows, double& value) {
        const Node n = nodes_[at(node)];
        if (n.cut < 0) {
            value += search_.leaf_gain(rows);
            return;
        }
        const std::size_t middle = problem_.divide(n.cut, rows);
        add_gains(n.left, rows.first(middle), value);
        add_gains(n.right, rows.subspan(middle), value);
    }

    int copy(int node, Tree& out) const {
        const Node& n = nodes_[at(node)];
        const int here = out.add_leaf();
        if (n.cut < 0) return here;
        out.cut[at(here)] = n.cut;
        for (const bool right : {false, true}) {
            const int child = copy(right ? n.right : n.left, out);
            (right ? out.right : out.left)[at(here)] = child;
        }
        return here;
    }

    const LocalSearchProblem& problem_;
    NodeSearch<Leaf> search_;
    const Workers& workers_;
    std::mt19937_64 random_;
    std::vector<Node> nodes_;  // the root first; nodes that nothing points to are never read
    int n_splits_ = 0;
    std::vector<int> all_;
};

}  // namespace surtree::SURTREE_ISA
