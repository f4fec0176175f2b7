// What all restarts of a local search share: the rows, the cuts in an order to sweep, and the limits.
#pragma once

#include <cstddef>
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
    int bin(int column, int row) const { return rows.all.column(column)[row]; }
    bool holds(int cut, int row) const {
        const Cut& question = problem.cuts[at(cut)];
        const int b = bin(question.column, row);
        return (question.first <= b && b <= question.last) ||
               (question.missing && b == problem.missing_bin[at(question.column)]);
    }
};

}  // namespace surtree
