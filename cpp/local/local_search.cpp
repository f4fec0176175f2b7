#include "local/local_search.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>
#include <span>
#include <string_view>

#include "local/problem.hpp"
#include "search/workers.hpp"

// Gains are those of the portable kernels: the tree does not depend on the processor.
#define SURTREE_ISA local
#define SURTREE_LANES 2
#include "kernel/leaf.hpp"
#include "objective/objectives.hpp"

namespace surtree {
namespace {

// One restart: a tree, and changes of one node at a time until none helps.
template <class Leaf>
class Descent {
 public:
    Descent(const LocalSearchProblem& problem, const Workers& workers)
        : land_(problem), leaf_(problem.rows.leaf.spec()), workers_(workers) {}

    void run(std::uint64_t seed, bool from_greedy) {
        random_.seed(seed);
        nodes_.assign(1, Node{});
        n_splits_ = 0;
        all_.resize(at(land_.rows.all.n));
        for (std::size_t r = 0; r < all_.size(); ++r) all_[r] = static_cast<int>(r);
        if (from_greedy)
            grow(0, all_, land_.limits.max_depth);
        else
            plant();
        while (!workers_.stopped() && visit(0, all_, land_.limits.max_depth)) {
        }
    }

    // The gain less the price of the splits, in units of the grid.
    double worth() {
        double value = -land_.price * n_splits_;
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
    using RowSpan = std::span<int>;

    struct Node {
        int cut = -1, left = -1, right = -1;
    };

    // What could stand at a node, and what it is worth there.
    struct Option {
        enum class Kind { keep, leaf, left, right, cut } kind = Kind::keep;
        int cut = -1;
        double worth = -std::numeric_limits<double>::infinity();
    };

    // Rows of a node with the same bin in a column: order_[begin] .. order_[end - 1].
    struct RunOfRows {
        int bin, begin, end;
    };

    double gain(const double (&sums)[Leaf::width]) const {
        local::Vector of[Leaf::width];
        for (int s = 0; s < Leaf::width; ++s) of[s] = local::broadcast(sums[s]);
        return leaf_.gain(of)[0];
    }

    // Every row has some exposure.
    static bool empty(const double (&sums)[Leaf::width]) { return sums[Leaf::Objective::exposure] == 0; }

    int below(std::size_t n) { return static_cast<int>(random_() % n); }

    // Rows for which the cut does not hold come first.
    std::size_t divide(int cut, RowSpan rows) const {
        const auto middle =
            std::partition(rows.begin(), rows.end(), [&](int row) { return !land_.holds(cut, row); });
        return static_cast<std::size_t>(middle - rows.begin());
    }

    void split(int node, int cut) {
        nodes_[at(node)] = {cut, static_cast<int>(nodes_.size()), static_cast<int>(nodes_.size()) + 1};
        nodes_.resize(nodes_.size() + 2);
        ++n_splits_;
    }

    // The best cut of a leaf, then those of its two sides: what greedy growth finds.
    void grow(int leaf, RowSpan rows, int depth) {
        if (!improve(leaf, rows, depth)) return;
        const Node made = nodes_[at(leaf)];
        const std::size_t middle = divide(made.cut, rows);
        grow(made.left, rows.first(middle), depth - 1);
        grow(made.right, rows.subspan(middle), depth - 1);
    }

    // A random tree: random leaves are cut at random as long as the limits allow it.
    void plant() {
        struct Bed {
            int node, depth;
            std::vector<int> rows;
        };
        constexpr int tries = 8;  // cuts that leave too little on a side
        if (land_.problem.cuts.empty() || land_.limits.max_depth == 0) return;
        std::vector<Bed> open{{0, land_.limits.max_depth, all_}};
        while (!open.empty() && n_splits_ < land_.limits.max_splits) {
            std::swap(open[at(below(open.size()))], open.back());
            Bed bed = std::move(open.back());
            open.pop_back();
            for (int t = 0; t < tries; ++t) {
                // Not any cut: columns of many thresholds would rule out the others.
                const std::vector<int>& cuts = land_.sweeps[at(below(land_.sweeps.size()))].cuts;
                const int cut = cuts[at(below(cuts.size()))];
                const std::size_t middle = divide(cut, bed.rows);
                const RowSpan all(bed.rows), no = all.first(middle), yes = all.subspan(middle);
                if (!can_be_leaf(no) || !can_be_leaf(yes)) continue;
                split(bed.node, cut);
                if (bed.depth == 1) break;
                const Node made = nodes_[at(bed.node)];
                open.push_back({made.left, bed.depth - 1, {no.begin(), no.end()}});
                open.push_back({made.right, bed.depth - 1, {yes.begin(), yes.end()}});
                break;
            }
        }
    }

    bool can_be_leaf(RowSpan rows) const {
        double total[Leaf::width] = {};
        for (const int row : rows)
            for (int s = 0; s < Leaf::width; ++s) total[s] += land_.sums(row)[s];
        return !empty(total) && leaf_.allows(total);
    }

    // Improve a node and all below it; which comes first is random, as the order of coordinates.
    bool visit(int node, RowSpan rows, int depth) {
        if (workers_.stopped()) return false;
        const bool now = below(2) == 0;
        bool changed = now && improve(node, rows, depth);
        while (nodes_[at(node)].cut >= 0) {
            const Node current = nodes_[at(node)];
            const std::size_t middle = divide(current.cut, rows);
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
        if (is_leaf && (depth == 0 || n_splits_ >= land_.limits.max_splits)) return false;
        if (rows.empty()) return false;
        label(current, rows);
        Option best;
        if (!is_leaf) best = {Option::Kind::keep, current.cut, worth_of(current.cut, rows)};
        consider_removal(is_leaf, rows, best);
        // Another cut must be better by more than rounding, or the descent might never end.
        Option cut{Option::Kind::keep, -1, best.worth + 100 * land_.rows.tie};
        consider_cuts(rows, cut);
        if (cut.kind == Option::Kind::cut) best = cut;
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

    // The leaves of the left subtree are slots 0 .. n_left_ - 1, those of the right one follow. Each
    // row has a slot on either side, so that a cut only decides which of the two it adds to.
    void label(const Node& node, RowSpan rows) {
        const std::size_t n = static_cast<std::size_t>(land_.rows.all.n);
        slot_left_.resize(n);
        slot_right_.resize(n);
        n_slots_ = 0;
        scratch_.assign(rows.begin(), rows.end());
        label_side(node.left, scratch_, slot_left_);
        n_left_ = n_slots_;
        label_side(node.right, scratch_, slot_right_);
        slots_.resize(at(n_slots_));
    }

    void label_side(int node, RowSpan rows, std::vector<int>& slot) {
        if (node < 0 || nodes_[at(node)].cut < 0) {
            for (const int row : rows) slot[at(row)] = n_slots_;
            ++n_slots_;
            return;
        }
        const Node n = nodes_[at(node)];
        const std::size_t middle = divide(n.cut, rows);
        label_side(n.left, rows.first(middle), slot);
        label_side(n.right, rows.subspan(middle), slot);
    }

    struct Slot {
        double sums[Leaf::width] = {};
        double gain = 0;
        bool too_small = false;
        int stamp = 0;
    };

    void add(Slot& slot, int row, double sign) const {
        const double* sums = land_.sums(row);
        for (int s = 0; s < Leaf::width; ++s) slot.sums[s] += sign * sums[s];
    }

    void refresh(Slot& slot) {
        slot.gain = gain(slot.sums);
        n_too_small_ -= slot.too_small;
        slot.too_small = !empty(slot.sums) && !leaf_.allows(slot.sums);
        n_too_small_ += slot.too_small;
    }

    void clear_slots() {
        std::fill(slots_.begin(), slots_.end(), Slot{});
        n_too_small_ = 0;
        stamp_ = 0;
    }

    double slot_gains(int first, int last) const {
        double value = 0;
        for (int s = first; s < last; ++s) value += slots_[at(s)].gain;
        return value;
    }

    // What the node with this cut and its present subtrees is worth.
    double worth_of(int cut, RowSpan rows) {
        clear_slots();
        for (const int row : rows)
            add(slots_[at(land_.holds(cut, row) ? slot_right_[at(row)] : slot_left_[at(row)])], row, 1);
        for (Slot& slot : slots_) refresh(slot);
        return slot_gains(0, n_slots_) - land_.price * (n_slots_ - 1);
    }

    // A leaf, or one of the two subtrees, in place of the node. Smaller trees are welcome as long as
    // they cost no more than rounding.
    void consider_removal(bool is_leaf, RowSpan rows, Option& best) {
        Slot whole;
        for (const int row : rows) add(whole, row, 1);
        const double slack = land_.rows.tie;
        const double leaf = gain(whole.sums);
        if (leaf >= best.worth - slack) best = {Option::Kind::leaf, -1, leaf};
        if (is_leaf) return;
        for (const bool right : {false, true}) {
            const int first = right ? n_left_ : 0, last = right ? n_slots_ : n_left_;
            if (last - first == 1) continue;  // a leaf, which was considered
            const std::vector<int>& slot_of = right ? slot_right_ : slot_left_;
            clear_slots();
            for (const int row : rows) add(slots_[at(slot_of[at(row)])], row, 1);
            for (int s = first; s < last; ++s) refresh(slots_[at(s)]);
            if (n_too_small_ > 0) continue;
            const double worth = slot_gains(first, last) - land_.price * (last - first - 1);
            const double least = best.kind == Option::Kind::keep ? best.worth - slack : best.worth;
            if (worth >= least) best = {right ? Option::Kind::right : Option::Kind::left, -1, worth};
        }
    }

    void consider_cuts(RowSpan rows, Option& best) {
        int sorted_column = -1;
        for (const Sweep& sweep : land_.sweeps) {
            if (sweep.column != sorted_column) sort_rows(sweep.column, rows);
            sorted_column = sweep.column;
            if (runs_.size() < 2) continue;
            sweep_cuts(sweep, rows, best);
        }
    }

    // order_: the rows by their bin in a column; runs_: which of them share a bin.
    void sort_rows(int column, RowSpan rows) {
        const int n_bins = land_.problem.n_bins[at(column)];
        const std::uint16_t* bins = land_.rows.all.column(column);
        order_.resize(rows.size());
        if (at(n_bins) <= 2 * rows.size()) {
            next_.assign(at(n_bins) + 1, 0);
            for (const int row : rows) ++next_[at(bins[row]) + 1];
            for (std::size_t b = 0; b < at(n_bins); ++b) next_[b + 1] += next_[b];
            for (const int row : rows) order_[at(next_[at(bins[row])]++)] = row;
        } else {
            std::copy(rows.begin(), rows.end(), order_.begin());
            std::sort(order_.begin(), order_.end(), [&](int a, int b) { return bins[a] < bins[b]; });
        }
        runs_.clear();
        for (int k = 0; k < static_cast<int>(order_.size()); ++k) {
            const int b = bins[order_[at(k)]];
            if (runs_.empty() || runs_.back().bin != b) runs_.push_back({b, k, k});
            runs_.back().end = k + 1;
        }
    }

    void move(const RunOfRows& run, bool to_right) {
        for (int k = run.begin; k < run.end; ++k) {
            const int row = order_[at(k)];
            const int from = (to_right ? slot_left_ : slot_right_)[at(row)];
            const int to = (to_right ? slot_right_ : slot_left_)[at(row)];
            add(slots_[at(from)], row, -1);
            add(slots_[at(to)], row, 1);
            for (const int s : {from, to}) {
                if (slots_[at(s)].stamp == stamp_) continue;
                slots_[at(s)].stamp = stamp_;
                touched_.push_back(s);
            }
        }
    }

    void sweep_cuts(const Sweep& sweep, RowSpan rows, Option& best) {
        clear_slots();
        touched_.clear();
        for (const int row : rows) add(slots_[at(slot_left_[at(row)])], row, 1);
        for (Slot& slot : slots_) refresh(slot);
        ++stamp_;
        int held = 0;  // runs on the right
        const bool hold_missing = sweep.missing_bin >= 0 && runs_.back().bin == sweep.missing_bin;
        if (hold_missing) {
            move(runs_.back(), true);
            ++held;
        }
        const int n_runs = static_cast<int>(runs_.size()), n_moving = n_runs - hold_missing;
        int begin = 0, end = 0;  // of the runs that the present cut holds
        const double price = land_.price * (n_slots_ - 1);
        for (const int c : sweep.cuts) {
            const Cut& cut = land_.problem.cuts[at(c)];
            int new_begin = begin, new_end = std::max(begin, end);
            while (new_begin < n_moving && runs_[at(new_begin)].bin < cut.first) ++new_begin;
            new_end = std::max(new_end, new_begin);
            while (new_end < n_moving && runs_[at(new_end)].bin <= cut.last) ++new_end;
            if (new_begin == begin && new_end == end) continue;
            for (int k = begin; k < std::min(new_begin, end); ++k, --held) move(runs_[at(k)], false);
            for (int k = std::max(end, new_begin); k < new_end; ++k, ++held) move(runs_[at(k)], true);
            begin = new_begin;
            end = new_end;
            if (held == 0 || held == n_runs) continue;
            for (const int s : touched_) refresh(slots_[at(s)]);
            touched_.clear();
            ++stamp_;
            if (n_too_small_ > 0) continue;
            const double worth = slot_gains(0, n_slots_) - price;
            if (worth > best.worth + land_.rows.tie) best = {Option::Kind::cut, c, worth};
        }
    }

    void add_gains(int node, RowSpan rows, double& value) {
        const Node n = nodes_[at(node)];
        if (n.cut < 0) {
            Slot leaf;
            for (const int row : rows) add(leaf, row, 1);
            value += gain(leaf.sums);
            return;
        }
        const std::size_t middle = divide(n.cut, rows);
        add_gains(n.left, rows.first(middle), value);
        add_gains(n.right, rows.subspan(middle), value);
    }

    int copy(int node, Tree& out) const {
        const Node& n = nodes_[at(node)];
        const std::size_t place = out.cut.size();
        for (std::vector<int>* side : {&out.cut, &out.left, &out.right}) side->push_back(-1);
        if (n.cut < 0) return static_cast<int>(place);
        out.cut[place] = n.cut;
        const int left = copy(n.left, out);
        const int right = copy(n.right, out);
        out.left[place] = left;
        out.right[place] = right;
        return static_cast<int>(place);
    }

    const LocalSearchProblem& land_;
    const Leaf leaf_;
    const Workers& workers_;
    std::mt19937_64 random_;
    std::vector<Node> nodes_;  // the root first; nodes that nothing points to are never read
    int n_splits_ = 0;
    std::vector<int> all_, scratch_;

    std::vector<int> slot_left_, slot_right_;  // by row
    std::vector<Slot> slots_;
    int n_left_ = 0, n_slots_ = 0, n_too_small_ = 0, stamp_ = 0;
    std::vector<int> touched_, order_, next_;
    std::vector<RunOfRows> runs_;
};

struct Found {
    bool done = false;
    double worth = 0;
    int n_splits = 0;
    Tree tree;
};

// Of trees that differ by rounding only, the one with the fewest splits, then the first.
LocalOptimum best_of(std::vector<Found>& found, const LocalSearchProblem& problem) {
    LocalOptimum best;
    double most = -std::numeric_limits<double>::infinity();
    std::erase_if(found, [](const Found& one) { return !one.done; });
    for (const Found& one : found) {
        best.worth.push_back(one.worth * problem.rows.grid);
        most = std::max(most, one.worth);
    }
    Found* chosen = nullptr;
    for (Found& one : found)
        if (one.worth >= most - problem.rows.tie && (!chosen || one.n_splits < chosen->n_splits))
            chosen = &one;
    if (chosen) best.tree = std::move(chosen->tree);
    return best;
}

template <class Leaf>
LocalOptimum search(const LocalSearchProblem& problem, const Restarts& restarts, const Control& control) {
    Workers workers(control);
    std::vector<Found> found(at(restarts.n));
    std::atomic<int> next{0};
    const auto work = [&] {
        Descent<Leaf> descent(problem, workers);
        for (int k = next++; k < restarts.n && workers.may_begin_task(); k = next++) {
            // The first restart begins with a greedy tree, so that the result is never worse.
            descent.run(restarts.seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(k), k == 0);
            found[at(k)] = {true, descent.worth(), descent.n_splits(), descent.tree()};
        }
    };
    workers.run(std::max(1, std::min(control.n_threads, restarts.n)), work, [] { return Progress{}; });
    return best_of(found, problem);
}

}  // namespace

LocalOptimum local_search(const Problem& problem, const Limits& limits, const Restarts& restarts,
                          const Control& control) {
    const LocalSearchProblem shared(problem, limits, restarts.price);
    LocalOptimum best;
    local::for_each_objective([&]<class Objective>(local::Type<Objective>) {
        if (std::string_view(problem.objective->objective) != Objective::name) return;
        best = local::with_leaf<Objective>(shared.rows.leaf.spec().n_counts, [&]<class Leaf>() {
            return search<Leaf>(shared, restarts, control);
        });
    });
    return best;
}

}  // namespace surtree
