// From a finished search by bisection to its trees.
#pragma once

#include "search/bisection.hpp"

namespace surtree {

// Of equally good trees: the fewest splits, then the cut with the least number in `original`.
class BisectionTrees {
 public:
    BisectionTrees(Bisection& search, Status status, const std::vector<int>& original);

    // The tree of at most k splits. After a search that was cut short it is the best that was found.
    Tree build(int k);

 private:
    void build_node(const OrderedRows& rows, int depth, int k, const Outcome& outcome, Tree& out);
    Choice first_choice(const OrderedRows& rows, int depth, int splits, double enough);
    Choice first_stump(const OrderedRows& rows, double enough) const;
    int original(int cut) const { return original_[static_cast<std::size_t>(cut)]; }
    int first_original(int chain, Frontier::SameCuts cuts) const;

    Bisection& search_;
    const bool complete_;
    const std::vector<int>& original_;
    std::vector<Frontier::Place> place_of_cut_;  // without position
    Bisection::Worker worker_;
};

}  // namespace surtree
