#include "search/incumbent.hpp"

#include <algorithm>

namespace surtree {

std::unique_ptr<Incumbent> find_incumbent(const Recursion& recursion, const RowSet& rows, int depth,
                                          Recursion::Worker& worker) {
    const Columns& columns = recursion.columns();
    const LeafValue& leaf = recursion.rows().leaf;
    auto out = std::make_unique<Incumbent>();
    out->depth = std::min(depth, recursion.tables().depth());
    const std::vector<double> sums = sum_rows(rows);
    // The root may always be a leaf, whatever the limits say.
    const bool is_root = &rows == &recursion.rows().all;
    const double gain = is_root ? leaf.gain(sums.data()) : leaf.limited_gain(sums.data());
    recursion.start_profile(gain, rows.n, depth, out->profile);
    recursion.start_profile(gain, rows.n, out->depth, out->exact);
    if (gain < infeasible / 2 || out->profile.size() == 1) return out;
    if (!recursion.tables().solve(rows, out->depth, worker.scratch, worker.profiles)) return nullptr;
    worker.profiles.join_into(out->exact);
    for (std::size_t k = 0; k < out->profile.size(); ++k)
        out->profile[k] = std::max(out->profile[k], out->exact[std::min(k, out->exact.size() - 1)]);
    if (depth <= recursion.tables().depth()) return out;

    const std::vector<Profile> sides = worker.profiles.by_side(columns);
    const SideCounts counts(columns, rows);
    double best = infeasible / 2;
    for_each_cut(columns, sides, [&](const Column& column, int cut, const Profile& yes, const Profile& no) {
        if (!counts.divides(column.side(cut, true), rows.n) || yes.empty() || no.empty() ||
            yes.back() + no.back() <= best)
            return;
        best = yes.back() + no.back();
        out->column = &column;
        out->cut = cut;
    });
    if (!out->column) return out;
    for (const bool holds : {false, true}) {
        RowSet child;
        take_rows(rows, *out->column, holds ? out->cut : out->cut + out->column->n_cuts, child);
        std::unique_ptr<Incumbent>& part = holds ? out->yes : out->no;
        part = find_incumbent(recursion, child, depth - 1, worker);
        if (!part) return nullptr;
    }
    join(out->yes->profile, out->no->profile, out->profile);
    make_monotone(out->profile);
    return out;
}

}  // namespace surtree
