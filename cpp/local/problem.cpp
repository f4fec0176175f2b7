#include "local/problem.hpp"

#include <algorithm>

namespace surtree {

std::vector<Sweep> sweeps(const Problem& problem) {
    std::vector<Sweep> found;
    for (int c = 0; c < static_cast<int>(problem.n_columns); ++c)
        for (const bool with_missing : {false, true}) {
            Sweep sweep{c, with_missing ? problem.missing_bin[at(c)] : -1, {}};
            for (std::size_t k = 0; k < problem.cuts.size(); ++k) {
                const Cut& cut = problem.cuts[k];
                // The cut "is missing" holds for an interval like any other.
                const bool adds_missing = cut.missing && cut.last < problem.missing_bin[at(c)];
                if (cut.column == c && adds_missing == with_missing)
                    sweep.cuts.push_back(static_cast<int>(k));
            }
            std::stable_sort(sweep.cuts.begin(), sweep.cuts.end(), [&](int a, int b) {
                return problem.cuts[at(a)].first < problem.cuts[at(b)].first;
            });
            if (!sweep.cuts.empty()) found.push_back(std::move(sweep));
        }
    return found;
}

}  // namespace surtree
