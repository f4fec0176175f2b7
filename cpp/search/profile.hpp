// Profile: the best gains of a set of rows for every number of splits.
#pragma once

#include <cstddef>
#include <vector>

#include "problem.hpp"

namespace surtree {

// Best gains with at most 0, 1, 2, ... splits: monotone.
using Profile = std::vector<double>;

// Raises `out` to the best tree with this cut: one split for the cut, the others shared in every way.
void join(const double* yes, std::size_t n_yes, const double* no, std::size_t n_no, Profile& out);

inline void join(const Profile& yes, const Profile& no, Profile& out) {
    join(yes.data(), yes.size(), no.data(), no.size(), out);
}

void make_monotone(Profile& out);

// One way to spend splits: a cut, and how many splits go below each of its sides.
struct Choice {
    int cut = -1;
    int splits[2] = {0, 0};
};

// The fewest splits whose gain ties with that of k splits.
int fewest_splits(int k, const Profile& gains, double tie);

// By depth, the most splits of a tree of this depth. Depths that no tree can use are left out.
std::vector<int> split_budgets(const Limits& limits, int n_rows);

}  // namespace surtree
