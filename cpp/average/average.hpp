// The exact average over all trees: the recurrence of the search with sums in place of maxima.
//
// A leaf with E events, H of them expected, has theta ~ Gamma(a, a) a priori: its evidence is
// Gamma(E + a) a^a / (Gamma(a) (H + a)^(E + a)), its posterior mean (E + a) / (H + a). A node that can be
// split is split with a probability that depends on its depth; each column that divides its rows is as likely
// as another, and so is each way in which the column divides them. Adding up the evidence of all trees is not
// idempotent: bounds and screening of the search do not apply, so that this has kernels of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace surtree {

struct TreePrior {
    std::vector<double> split;      // for each depth, the probability that a node is split
    std::vector<double> strengths;  // the events `a` that the prior of a leaf is worth, each as likely
    bool logarithm = false;         // average the logarithms of the means of leaves, not the means
};

// Posterior means as sums of tables. A row has one bin in each column. What it adds up is, in this order: the
// constant; a cell for its bin in each column; a cell for its bins in each pair of columns.
class PairCells {
 public:
    explicit PairCells(const std::vector<int>& n_bins);

    std::size_t size() const { return size_; }
    std::size_t n_single() const { return 1 + at(n_bins()); }  // of the constant and of columns alone
    int n_columns() const { return static_cast<int>(first_bin_.size()) - 1; }
    int n_bins() const { return first_bin_.back(); }  // of all columns
    int first_bin(int column) const { return first_bin_[at(column)]; }
    int n_bins(int column) const { return first_bin(column + 1) - first_bin(column); }

    static constexpr std::size_t constant = 0;
    std::size_t of_bin(int column, int bin) const { return 1 + at(first_bin(column) + bin); }
    std::size_t of_bins(int column, int bin, int other, int other_bin) const;

 private:
    std::vector<int> first_bin_;           // of each column, and the end
    std::vector<std::size_t> first_cell_;  // of each pair of columns
    std::size_t size_;
};

// With one level of splits there is a table without pairs, with two there is one table. With three there is
// one more for each bin of each column, which counts for the rows in that bin.
struct TreeAverage {
    Status status = Status::optimal;
    std::vector<double> log_evidence;  // of each strength
    std::vector<double> first;         // for each cut, the probability that it is the first question
    std::vector<double> asked;         // for each column, the probability that a tree asks about it
    std::vector<double> mean;          // tables, one after the other
};

// Limits have a depth from zero to three and at most one count. Nothing depends on the number of threads.
// A stopped average has nothing but its status.
TreeAverage average_trees(const Problem& problem, const Limits& limits, const TreePrior& prior,
                          const Control& control);

// Independent draws from the posterior, and the strength of each.
struct TreeDraws {
    Status status = Status::optimal;
    std::vector<Tree> trees;
    std::vector<int> strength;
};

TreeDraws draw_trees(const Problem& problem, const Limits& limits, const TreePrior& prior, int n_draws,
                     std::uint64_t seed, const Control& control);

}  // namespace surtree
