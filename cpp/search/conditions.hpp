// Conditions on whole trees: how many columns they ask about, and columns with which the risk only rises, or
// only falls.
//
// A box is what the questions above a node leave open: a set of bins of every column. Two leaves are compared
// along a column where one of them has a lower value of it than the other has, and where their boxes have a
// bin of every other column in common: two people who differ in that column alone may be in them. Missing
// values are neither lower nor higher.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"
#include "rows/rows.hpp"

namespace surtree {

struct Conditions {
    int max_columns = -1;         // none below zero
    std::vector<int> signs{};     // per column: 1 where the risk may only rise with its bins, -1, or 0
    std::vector<double> units{};  // of sums: events are each even sum times its unit, exposures each odd one
    double prior = 0;             // events that a leaf is given at the average risk

    bool are_signed() const { return !signs.empty(); }
    bool are_some() const { return max_columns >= 0 || are_signed(); }

    // What a leaf predicts.
    double risk(const double* sums) const;
};

// Bits of the bins of all columns.
using Box = std::vector<std::uint64_t>;

struct BoxedLeaf {
    double risk;
    Box box;
};

class Boxes {
 public:
    explicit Boxes(const Problem& problem);

    const Box& all() const { return all_; }
    // One side of a cut of the problem.
    Box part(const Box& box, int cut, bool holds) const;
    static RowSetHash hash(const Box& box);

    // Whether a tree of two parts satisfies the conditions, each part of which does.
    bool may_join(const Conditions& conditions, const std::vector<BoxedLeaf>& no,
                  const std::vector<BoxedLeaf>& yes) const;

 private:
    bool meet(const Box& a, const Box& b, int apart) const;
    bool has_lower(const Box& low, const Box& high, int column) const;
    bool is_asked(const Box& box, int column) const;

    std::vector<std::size_t> begin_;  // per column, its first word
    Box all_, values_;                // all bins, and those that are not missing
    std::vector<Box> holds_;          // per cut, words of its column
    std::vector<int> column_;         // per cut
};

}  // namespace surtree
