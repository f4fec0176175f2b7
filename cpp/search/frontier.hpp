// What is left to look at of the cuts of one set of rows, most promising first.
//
// Along a chain, the rows below a cut only grow. A leaf for each row apart, the `saturated` gain, is more
// than any tree can gain, and what a tree falls short of it can only grow with the rows: restricted to fewer
// rows the tree is still a tree, and each of its leaves falls short by less, since g is convex and
// homogeneous. So for every cut between two solved ones, low and high:
//
//     gain(cut) <= gain below low + saturated gain between + gain above high
//
// for every way to share splits. Where that is no more than the best gain known for every number of splits,
// all cuts between are done with. Limits on leaves break the argument for the limited gains, not for those
// without limits, which are no less: bounds are always of the latter.
#pragma once

#include <cstdint>

#include "search/ordered_rows.hpp"
#include "search/profile.hpp"

namespace surtree {

// A cut and how many splits are made below it: on side 0, and on side 1.
struct SideChoice {
    int cut = -1;
    int splits[2] = {0, 0};
};

// What is known of a set of rows. Profiles are as long as the budget, whatever the rows.
struct Outcome {
    Profile best;                     // within the limits
    Profile bound;                    // no tree gains more, even without limits on its leaves
    std::vector<SideChoice> choices;  // how the best was reached
};

inline std::size_t heap_bytes(const Outcome& outcome) {
    return 2 * outcome.best.size() * sizeof(double) + outcome.choices.size() * sizeof(SideChoice);
}

class Frontier {
 public:
    // A cut to look at: a boundary of a chain, between two others; or a cut of another column.
    struct Place {
        int column;             // chains first
        int cut;                // boundary of the chain, or cut of the column
        int low = 0, high = 0;  // boundaries next to it that are solved, or the ends
    };

    // `best` and `bound` as leaf and with one split are known already; splits beyond are open. Trees that
    // gain `known` exist.
    Frontier(const OrderedRows& rows, const ChainedProblem& chained, const Rows& all, Outcome start,
             const Profile& known, int child_budget);

    // The next place, or false if none is open. Whoever takes a place adds its sides later.
    bool next(Place& out);
    void add(const Place& place, const Outcome (&sides)[2]);
    void skip() { --n_others_in_work_; }  // the place was a cut that does not divide the rows

    bool in_work() const { return !in_work_.empty() || n_others_in_work_ > 0; }
    const Outcome& outcome() const { return outcome_; }
    Profile bound() const;      // with all that is open
    double open_share() const;  // of the cuts

    // Of all cuts on this chain strictly between two boundaries, with this many splits.
    double bound_between(int chain, int low, int high, std::size_t splits) const;
    int n_boundaries(int chain) const {
        return static_cast<int>(boundaries_[static_cast<std::size_t>(chain)].size()) - 2;
    }
    bool place(int chain, int low, int high, Place& out) const;  // false if limits allow none
    // Cuts chain.cut[first] .. chain.cut[last] divide the rows in the same way.
    struct SameCuts {
        int first, last;
    };
    SameCuts cuts_at(int chain, int boundary) const;
    // Both sides of a boundary.
    void divide(const OrderedRows& rows, const Place& place, Partition& out) const;
    void keep_bounds(const Place& place, const Outcome (&sides)[2]);

    std::uint64_t n_cuts() const { return n_cuts_; }
    std::uint64_t n_evaluated() const { return n_evaluated_; }

 private:
    // Where the rank changes in a chain's order; the first and the last stand for its ends.
    struct Boundary {
        int position;
        int first_cut, last_cut;
        double saturated;  // of all rows below, and their hash
        RowSetHash hash;
        int solved = -1;  // where its bounds are kept
    };
    struct Interval {
        double promise;  // how much it could still improve on some size
        int chain, low, high;

        bool operator<(const Interval& other) const { return promise < other.promise; }
    };

    void find_boundaries(const OrderedRows& rows, int chain);
    // The sums of all rows below a boundary of a chain, and of those above it.
    void divide_sums(int chain, int boundary, double* below, double* above) const;
    double promise(const Interval& interval) const;
    void bounds(const Interval& interval, Profile& out) const;
    void push(int chain, int low, int high);
    void drop(const Interval& interval);

    const ChainedProblem& chained_;
    const LeafValue& leaf_;
    const std::size_t n_sums_;  // and counts: numbers a row
    std::size_t width_;         // of a side's profile
    Outcome outcome_;
    Profile known_;
    std::vector<std::vector<Boundary>> boundaries_;  // by chain
    std::vector<std::vector<double>> sums_;          // of all rows below each boundary
    std::vector<int> first_allowed_, last_allowed_;
    std::vector<double> kept_;  // bounds of solved boundaries: below, then above
    std::vector<Interval> heap_;
    std::vector<Place> others_;
    std::vector<Interval> in_work_;
    mutable Profile scratch_;
    std::uint64_t n_cuts_ = 0, n_evaluated_ = 0;
    double n_open_ = 0;
    std::size_t n_others_in_work_ = 0;
};

}  // namespace surtree
