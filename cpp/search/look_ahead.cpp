// A good tree early.
#include <algorithm>

#include "search/sweep.hpp"

namespace surtree {

std::unique_ptr<SweepSearch::LookAhead> SweepSearch::look_ahead(const RowSet& rows, int depth,
                                                                Worker& worker) {
    auto out = std::make_unique<LookAhead>();
    out->depth = std::min(depth, table_solver_->depth());
    start_profile(table_solver_->leaf_gain(rows, is_limited() && &rows != &rows_.all), rows.n, depth,
                  out->profile);
    start_profile(out->profile[0], rows.n, out->depth, out->exact);
    if (out->profile[0] < infeasible / 2 || out->profile.size() == 1) return out;
    if (!table_solver_->solve(rows, out->depth, worker.scratch, worker.side_gains)) return nullptr;
    join_sides(worker.side_gains, out->exact);
    for (std::size_t k = 0; k < out->profile.size(); ++k)
        out->profile[k] = std::max(out->profile[k], out->exact[std::min(k, out->exact.size() - 1)]);
    if (depth <= table_solver_->depth()) return out;

    const std::vector<Profile> sides = profiles_of_sides(worker.side_gains);
    const std::vector<int> n = sides_of(rows).n;
    double best = infeasible / 2;
    for (const Column& column : columns_)
        for (int c = 0; c < column.n_cuts; ++c) {
            const std::size_t side = at(first_side(column) + c), other = side + at(column.n_cuts);
            const Profile &yes = sides[side], &no = sides[other];
            if (n[side] == 0 || n[other] == 0 || yes.empty() || no.empty() || yes.back() + no.back() <= best)
                continue;
            best = yes.back() + no.back();
            out->column = index_of(column);
            out->cut = c;
        }
    if (out->column < 0) return out;
    const Column& column = columns_[at(out->column)];
    for (const bool holds : {false, true}) {
        RowSet child;
        take_rows(rows, out->column, column.whole(), holds ? out->cut : out->cut + column.n_cuts, child);
        std::unique_ptr<LookAhead>& part = holds ? out->yes : out->no;
        part = look_ahead(child, depth - 1, worker);
        if (!part) return nullptr;
    }
    join(out->yes->profile.data(), out->yes->profile.size(), out->no->profile.data(), out->no->profile.size(),
         out->profile);
    make_monotone(out->profile);
    return out;
}

}  // namespace surtree
