// The problem that all restarts of a local search share: the rows, the cuts in an order to sweep, and the
// limits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "problem.hpp"
#include "rows/rows.hpp"

namespace surtree {

// The cuts of a column that treat missing values alike. Those of a sliding sweep hold for intervals of bins,
// so ordered that each begins and ends no earlier than the one before: only rows between them change sides.
// The other cuts of the column, if there are any, are in a sweep that looks at every bin for each of them.
struct Sweep {
    int column;
    int missing_bin;  // held by every cut of the sweep; -1 for none
    bool slides;
    std::vector<int> cuts;
};

inline std::vector<Sweep> sweeps(const Problem& problem) {
    std::vector<Sweep> found;
    const std::vector<std::vector<int>> cuts = problem.cuts_by_column();
    for (int c = 0; c < static_cast<int>(problem.n_columns); ++c)
        for (const bool with_missing : {false, true}) {
            const int missing_bin = problem.missing_bin[at(c)];
            Sweep sliding{c, with_missing ? missing_bin : -1, true, {}}, others = sliding;
            others.slides = false;
            std::vector<int> all = cuts[at(c)];
            std::erase_if(all, [&](int k) {
                const Cut& cut = problem.cuts[at(k)];
                // The cut "is missing" holds for an interval like any other.
                return (cut.missing && cut.last < missing_bin) != with_missing;
            });
            std::ranges::stable_sort(all, {}, [&](int k) { return problem.cuts[at(k)].first; });
            int last = 0;
            for (const int k : all) {
                const Cut& cut = problem.cuts[at(k)];
                const bool slides = cut.gaps == 0 && cut.last >= last;
                if (slides) last = cut.last;
                (slides ? sliding : others).cuts.push_back(k);
            }
            for (Sweep* sweep : {&sliding, &others})
                if (!sweep->cuts.empty()) found.push_back(std::move(*sweep));
        }
    return found;
}

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
