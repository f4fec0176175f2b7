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
    bool limited;  // whether leaves have a least size; else sums are events and hazard only
    Rows rows;
    std::vector<Sweep> sweeps;
    double price;        // in units of the grid, as all gains here
    double rounding;     // gains that differ by less are the same
    double improvement;  // gains must differ by more for the descent to go on

    LocalSearchProblem(const Problem& p, const Limits& l, double split_price)
        : problem(p),
          limits(l),
          limited(l.min_samples_leaf > 1 || l.min_events_leaf > 0),
          rows(merge_rows(p, limited, true)),
          sweeps(surtree::sweeps(p)),
          price(split_price / rows.grid) {
        double events = 0;
        for (int r = 0; r < rows.all.n; ++r) events += sums(r)[0];
        rounding = 1e-12 * events;
        improvement = 100 * rounding;
    }

    int width() const { return rows.n_sums; }
    const double* sums(int row) const { return rows.all.sums.data() + at(row) * at(rows.n_sums); }
    int bin(int column, int row) const { return rows.all.column(column)[row]; }
    bool holds(int cut, int row) const {
        const Cut& question = problem.cuts[at(cut)];
        const int b = bin(question.column, row);
        return (question.first <= b && b <= question.last) ||
               (question.missing && b == problem.missing_bin[at(question.column)]);
    }
    bool empty(const double* leaf) const { return leaf[1] == 0; }  // every row has some hazard
    bool too_small(const double* leaf) const {
        return limited && !empty(leaf) &&
               (leaf[2] < limits.min_samples_leaf || leaf[3] < limits.min_events_leaf);
    }
};

}  // namespace surtree
