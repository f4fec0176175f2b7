// What all restarts of a local search share: the rows, the cuts in an order to sweep, and the limits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "problem.hpp"
#include "rows/rows.hpp"

namespace surtree {

// The cuts of a column that treat missing values alike, so ordered that the bins for which one holds
// begin and end no earlier than those of the one before. Only rows between them change sides.
struct Sweep {
    int column;
    int missing_bin;  // held by every cut of the sweep; -1 for none
    std::vector<int> cuts;
};

std::vector<Sweep> sweeps(const Problem& problem);

// What the restarts share and none of them changes.
struct LocalSearchProblem {
    const Problem& problem;
    Limits limits;
    Rows rows;
    std::vector<Sweep> sweeps;
    double price;  // in units of the grid, as all gains here

    LocalSearchProblem(const Problem& p, const Limits& l, double split_price)
        : problem(p),
          limits(l),
          rows(merge_rows(p, l, true)),
          sweeps(surtree::sweeps(p)),
          price(split_price / rows.grid) {}

    const double* sums(int row) const { return rows.all.sums.data() + at(row) * at(rows.all.width); }
    bool holds(int cut, int row) const {
        const Cut& asked = problem.cuts[at(cut)];
        return asked.holds(rows.all.column(asked.column)[row], problem.missing_bin[at(asked.column)]);
    }
    // Rows for which the cut does not hold come first; returns how many.
    std::size_t divide(int cut, std::span<int> of) const {
        const auto middle = std::partition(of.begin(), of.end(), [&](int row) { return !holds(cut, row); });
        return static_cast<std::size_t>(middle - of.begin());
    }
};

}  // namespace surtree
