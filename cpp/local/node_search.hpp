// The best change of one node of a tree, with both of its subtrees fixed.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "kernel/leaf.hpp"
#include "local/problem.hpp"
#include "search/workers.hpp"

namespace surtree::SURTREE_ISA {

using RowSpan = std::span<int>;

struct Node {
    int cut = -1, left = -1, right = -1;
};

// An option for a node, and its worth there.
struct Option {
    enum class Kind { keep, leaf, left, right, cut } kind = Kind::keep;
    int cut = -1;
    double worth = -std::numeric_limits<double>::infinity();
};

template <class Leaf>
class NodeSearch {
 public:
    NodeSearch(const LocalSearchProblem& problem, const Workers& workers)
        : problem_(problem), workers_(workers), leaf_(problem.rows.leaf.spec()) {}

    // The best option for a node with these rows.
    Option find(const std::vector<Node>& nodes, const Node& node, RowSpan rows) {
        const bool is_leaf = node.cut < 0;
        label(nodes, node, rows);
        Option best;
        if (!is_leaf) best = {Option::Kind::keep, node.cut, worth_of(node.cut, rows)};
        consider_removal(is_leaf, rows, best);
        // Another cut must be better by more than rounding, or the descent might never end.
        Option cut{Option::Kind::keep, -1, best.worth + 100 * problem_.rows.tie};
        consider_cuts(rows, cut);
        return cut.kind == Option::Kind::cut ? cut : best;
    }

    // The best cut of about one column in `one_in`, whatever the node is worth now.
    Option find_among(const std::vector<Node>& nodes, const Node& node, RowSpan rows, std::uint64_t seed,
                      int one_in) {
        label(nodes, node, rows);
        Option cut;
        std::mt19937_64 random(seed);
        consider_cuts(rows, cut, [&](int) { return random() % static_cast<unsigned>(one_in) == 0; });
        return cut;
    }

    double leaf_gain(RowSpan rows) const { return gain(slot_of(rows).sums); }
    bool can_be_leaf(RowSpan rows) const {
        const Slot whole = slot_of(rows);
        return !is_empty(whole) && leaf_.allows(whole.sums);
    }

 private:
    // Rows of a node with the same bin in a column: order_[begin] .. order_[end - 1].
    struct RunOfRows {
        int bin, begin, end;
    };

    // A leaf below the node.
    struct Slot {
        double sums[Leaf::width] = {};
        double gain = 0;
        bool too_small = false;
        int stamp = 0;
    };

    void add(Slot& slot, int row, double sign) const {
        const double* sums = problem_.sums(row);
        for (int s = 0; s < Leaf::width; ++s) slot.sums[s] += sign * sums[s];
    }

    Slot slot_of(RowSpan rows) const {
        Slot slot;
        for (const int row : rows) add(slot, row, 1);
        return slot;
    }

    void refresh(Slot& slot) {
        slot.gain = gain(slot.sums);
        n_too_small_ -= slot.too_small;
        slot.too_small = !is_empty(slot) && !leaf_.allows(slot.sums);
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

    double gain(const double (&sums)[Leaf::width]) const {
        Vector of[Leaf::width];
        for (int s = 0; s < Leaf::width; ++s) of[s] = broadcast(sums[s]);
        return leaf_.gain(of)[0];
    }

    // Every row has some exposure.
    static bool is_empty(const Slot& slot) {
        using Objective = typename Leaf::Objective;
        bool any = false;
        for (int c = Objective::exposure; c < Leaf::n_sums; c += Leaf::n_sums / Objective::n_channels)
            any = any || slot.sums[c] != 0;
        return !any;
    }

    // The leaves of the left subtree are slots 0 .. n_left_ - 1, those of the right one follow. Each
    // row has a slot on either side, so that a cut only decides which of the two it adds to.
    void label(const std::vector<Node>& nodes, const Node& node, RowSpan rows) {
        const std::size_t n = static_cast<std::size_t>(problem_.rows.all.n);
        slot_left_.resize(n);
        slot_right_.resize(n);
        n_slots_ = 0;
        scratch_.assign(rows.begin(), rows.end());
        label_side(nodes, node.left, scratch_, slot_left_);
        n_left_ = n_slots_;
        label_side(nodes, node.right, scratch_, slot_right_);
        slots_.resize(at(n_slots_));
    }

    void label_side(const std::vector<Node>& nodes, int node, RowSpan rows, std::vector<int>& slot) {
        if (node < 0 || nodes[at(node)].cut < 0) {
            for (const int row : rows) slot[at(row)] = n_slots_;
            ++n_slots_;
            return;
        }
        const Node n = nodes[at(node)];
        const std::size_t middle = problem_.divide(n.cut, rows);
        label_side(nodes, n.left, rows.first(middle), slot);
        label_side(nodes, n.right, rows.subspan(middle), slot);
    }

    // The worth of the node with this cut and its present subtrees.
    double worth_of(int cut, RowSpan rows) {
        clear_slots();
        for (const int row : rows)
            add(slots_[at(problem_.holds(cut, row) ? slot_right_[at(row)] : slot_left_[at(row)])], row, 1);
        for (Slot& slot : slots_) refresh(slot);
        return slot_gains(0, n_slots_) - problem_.price * (n_slots_ - 1);
    }

    // A leaf, or one of the two subtrees, in place of the node. Smaller trees are welcome as long as
    // they cost no more than rounding.
    void consider_removal(bool is_leaf, RowSpan rows, Option& best) {
        const double slack = problem_.rows.tie;
        const double leaf = leaf_gain(rows);
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
            const double worth = slot_gains(first, last) - problem_.price * (last - first - 1);
            const double least = best.kind == Option::Kind::keep ? best.worth - slack : best.worth;
            if (worth >= least) best = {right ? Option::Kind::right : Option::Kind::left, -1, worth};
        }
    }

    void consider_cuts(RowSpan rows, Option& best) {
        consider_cuts(rows, best, [](int) { return true; });
    }

    // When stopped, the best cut so far.
    template <class Wanted>
    void consider_cuts(RowSpan rows, Option& best, const Wanted& wanted) {
        int sorted_column = -1;
        for (const Sweep& sweep : problem_.sweeps) {
            if (workers_.stopped()) return;
            if (!wanted(sweep.column)) continue;
            if (sweep.column != sorted_column) sort_rows(sweep.column, rows);
            sorted_column = sweep.column;
            if (runs_.size() < 2) continue;
            if (sweep.slides)
                slide(sweep, rows, best);
            else
                try_each(sweep, rows, best);
        }
    }

    // order_: the rows by their bin in a column; runs_: which of them share a bin.
    void sort_rows(int column, RowSpan rows) {
        const int n_bins = problem_.problem.n_bins[at(column)];
        const std::uint16_t* bins = problem_.rows.all.column(column);
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

    // All rows on the left but, if the sweep holds it, the run of missing values. Returns how many runs are
    // on the right, which is also how many at the end of `runs_` stay where they are.
    int begin_sweep(const Sweep& sweep, RowSpan rows) {
        clear_slots();
        touched_.clear();
        for (const int row : rows) add(slots_[at(slot_left_[at(row)])], row, 1);
        for (Slot& slot : slots_) refresh(slot);
        ++stamp_;
        if (sweep.missing_bin < 0 || runs_.back().bin != sweep.missing_bin) return 0;
        move(runs_.back(), true);
        return 1;
    }

    // The cut whose rows are on the right now.
    void consider(int cut, int n_held, Option& best) {
        if (n_held == 0 || n_held == static_cast<int>(runs_.size())) return;
        for (const int s : touched_) refresh(slots_[at(s)]);
        touched_.clear();
        ++stamp_;
        if (n_too_small_ > 0) return;
        const double worth = slot_gains(0, n_slots_) - problem_.price * (n_slots_ - 1);
        if (worth > best.worth + problem_.rows.tie) best = {Option::Kind::cut, cut, worth};
    }

    void slide(const Sweep& sweep, RowSpan rows, Option& best) {
        int held = begin_sweep(sweep, rows);
        const int n_moving = static_cast<int>(runs_.size()) - held;
        int begin = 0, end = 0;  // of the runs that the present cut holds
        for (const int c : sweep.cuts) {
            const Cut& cut = problem_.problem.cuts[at(c)];
            int new_begin = begin, new_end = std::max(begin, end);
            while (new_begin < n_moving && runs_[at(new_begin)].bin < cut.first) ++new_begin;
            new_end = std::max(new_end, new_begin);
            while (new_end < n_moving && runs_[at(new_end)].bin <= cut.last) ++new_end;
            if (new_begin == begin && new_end == end) continue;
            for (int k = begin; k < std::min(new_begin, end); ++k, --held) move(runs_[at(k)], false);
            for (int k = std::max(end, new_begin); k < new_end; ++k, ++held) move(runs_[at(k)], true);
            begin = new_begin;
            end = new_end;
            consider(c, held, best);
        }
    }

    void try_each(const Sweep& sweep, RowSpan rows, Option& best) {
        int held = begin_sweep(sweep, rows);
        is_held_.assign(runs_.size() - at(held), 0);
        for (const int c : sweep.cuts) {
            const Cut& cut = problem_.problem.cuts[at(c)];
            bool changed = false;
            for (std::size_t k = 0; k < is_held_.size(); ++k) {
                const bool holds = cut.holds(runs_[k].bin, -1);
                if (holds == is_held_[k]) continue;
                move(runs_[k], holds);
                is_held_[k] = holds;
                held += holds ? 1 : -1;
                changed = true;
            }
            if (changed) consider(c, held, best);
        }
    }

    const LocalSearchProblem& problem_;
    const Workers& workers_;
    const Leaf leaf_;
    std::vector<int> slot_left_, slot_right_;  // by row
    std::vector<Slot> slots_;
    int n_left_ = 0, n_slots_ = 0, n_too_small_ = 0, stamp_ = 0;
    std::vector<int> scratch_, touched_, order_, next_;
    std::vector<RunOfRows> runs_;
    std::vector<char> is_held_;  // by run
};

}  // namespace surtree::SURTREE_ISA
