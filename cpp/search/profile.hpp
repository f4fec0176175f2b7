// The best gains of a set of rows for every number of splits.
#pragma once

#include <cstddef>
#include <vector>

#include "problem.hpp"

namespace surtree {

// Best gains with at most 0, 1, 2, ... splits. Never falls.
using Profile = std::vector<double>;

// Every way to share splits: one for the cut, the others left and right.
void join(const double* yes, std::size_t n_yes, const double* no, std::size_t n_no, Profile& out);

inline void join(const Profile& yes, const Profile& no, Profile& out) {
    join(yes.data(), yes.size(), no.data(), no.size(), out);
}

void make_monotone(Profile& out);

// The fewest splits whose gain is, but for rounding, that of k splits.
int fewest_splits(int k, const Profile& gains, double tie);

// Adds a leaf, and returns its number.
int add_node(Tree& out);

// By depth, the most splits that a tree of this depth may have; a depth that is of no use is left out.
std::vector<int> split_budgets(const Limits& limits, int n_rows);

}  // namespace surtree
