// The frontier of a branch and bound over the cuts of one set of rows, most promising interval first.
//
// Along a chain, the rows below a cut only grow. The `saturated` gain, with a leaf for each row, is an upper
// bound for every tree. The shortfall of a tree from the saturated gain is monotone in the row set:
// restricted to fewer rows the tree is still a tree, and the shortfall of each of its leaves is no larger,
// since g is convex and homogeneous. So for every cut between two solved cuts, low and high:
//
//     gain(cut) <= gain below low + saturated gain between + gain above high
//
// for every way to share the splits. If that upper bound does not exceed the incumbent of any number of
// splits, all cuts in between are pruned. Limits on leaves break the argument for limited gains. It holds for
// gains without limits, which are at least as large, so bounds always ignore the limits.
//
// With a tolerance t, an interval is dropped as soon as the loss of its cuts, the saturated gain less their
// gain, is at least (1 - t) times that of the incumbent, for every size; its upper bound is kept. If the
// bounds of both sides of a cut are within t of their best loss, so is their sum, since losses of sides add
// up. So a search whose subproblems have no larger tolerance than itself ends with bounds within t of its
// best loss, and most cuts of a subproblem need not be looked at: a few coarse intervals are enough.
#pragma once

#include <cstdint>

#include "search/ordered_rows.hpp"
#include "search/profile.hpp"

namespace surtree {

// The result for a set of rows. Profiles have the length of the budget plus one.
struct Outcome {
    Profile best;                 // the incumbent: best gains within the limits
    Profile bound;                // upper bounds, for trees without limits on leaves
    std::vector<Choice> choices;  // of the incumbent: splits on sides 0 and 1
};

inline std::size_t heap_bytes(const Outcome& outcome) {
    return 2 * outcome.best.size() * sizeof(double) + outcome.choices.size() * sizeof(Choice);
}

class Frontier {
 public:
    // A cut to evaluate: a boundary of a chain, or a cut of an unordered column.
    struct Place {
        int column;             // chains first
        int cut;                // boundary of the chain, or cut of the column
        int low = 0, high = 0;  // the nearest solved boundaries, or the ends of the chain

        bool operator==(const Place&) const = default;
    };

    // `start` is exact for zero splits and one split. `known` are gains of trees that exist already. Of the
    // root, `cuts` says which of them lead.
    Frontier(const OrderedRows& rows, const ChainedProblem& chained, const Rows& all, Outcome start,
             const Profile& known, int child_budget, double tolerance, const std::vector<Cut>* cuts);

    // Takes the next place; false if none is open. The caller evaluates it and calls `add` or `skip`.
    bool next(Place& out);
    void add(const Place& place, const Outcome (&sides)[2]);
    void skip() { --n_others_in_work_; }  // the cut does not divide the rows

    bool in_work() const { return !in_work_.empty() || n_others_in_work_ > 0; }
    const Outcome& outcome() const { return outcome_; }
    Profile bound() const;      // upper bounds, open intervals included
    double open_share() const;  // of all cuts

    // Upper bound of all cuts of a chain strictly between two boundaries, with at most so many splits.
    double bound_between(int chain, int low, int high, std::size_t splits) const;
    int n_boundaries(int chain) const { return static_cast<int>(chains_[at(chain)].boundaries.size()) - 2; }
    bool place(int chain, int low, int high, Place& out) const;  // false if limits allow none
    // Cuts chain.cut[first] .. chain.cut[last] divide the rows alike.
    struct SameCuts {
        int first, last;
    };
    SameCuts cuts_at(int chain, int boundary) const;
    void divide(const OrderedRows& rows, const Place& place, Partition& out) const;
    void keep_bounds(const Place& place, const Outcome (&sides)[2]);

    std::uint64_t n_cuts() const { return n_cuts_; }
    std::uint64_t n_evaluated() const { return n_evaluated_; }

 private:
    // A place in a chain's order where the rank changes; the first and the last are its ends.
    struct Boundary {
        int position;
        int first_cut, last_cut;
        double saturated;  // prefix sum over the rows below
        RowSetHash hash;   // likewise
        int solved = -1;   // index into `kept_`
    };
    struct Chain {
        std::vector<Boundary> boundaries;
        std::vector<double> sums;         // prefix sums at each boundary
        int first_leading, last_leading;  // those between need not all lead
        int first_allowed, last_allowed;  // by the limits on leaves too
    };
    // The boundaries of a chain strictly between two of them, and the one to evaluate next.
    struct Interval {
        double promise;  // the most by which it could improve the incumbent of some size
        Place place;

        bool operator<(const Interval& other) const { return promise < other.promise; }
    };

    void find_boundaries(const OrderedRows& rows, int chain);
    void find_allowed(int chain, const std::vector<Cut>* cuts);
    void divide_sums(int chain, int boundary, double* below, double* above) const;
    const Boundary& boundary(int chain, int index) const { return chains_[at(chain)].boundaries[at(index)]; }
    double promise(const Place& interval) const;
    void bounds(const Place& interval, Profile& out) const;
    void push(int chain, int low, int high);
    void drop(const Place& interval);

    const ChainedProblem& chained_;
    const LeafValue& leaf_;
    const std::size_t n_sums_;  // per row, counts included
    std::size_t width_;         // length of a side's profile
    Outcome outcome_;
    Profile known_;
    double tolerance_;
    std::vector<Chain> chains_;
    std::vector<double> kept_;  // bounds of solved boundaries: below, then above
    std::vector<Interval> heap_;
    std::vector<Place> others_;
    std::vector<Place> in_work_;
    mutable Profile scratch_;
    std::uint64_t n_cuts_ = 0, n_evaluated_ = 0;
    double n_open_ = 0;
    std::size_t n_others_in_work_ = 0;
};

}  // namespace surtree
