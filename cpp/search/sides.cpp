#include "search/sides.hpp"

namespace surtree {

SideCounts::SideCounts(const Columns& columns, const RowSet& rows)
    : n(at(columns.n_sides())), hash(at(columns.n_sides())) {
    std::vector<int> n_below;
    std::vector<RowSetHash> hash_below;
    for (const Column& column : columns) {
        n_below.assign(at(column.n_bins + 1), 0);
        hash_below.assign(at(column.n_bins + 1), {});
        const std::uint16_t* bins = rows.column(column.index);
        for (int r = 0; r < rows.n; ++r) {
            const std::size_t next = std::size_t{bins[r]} + 1;
            ++n_below[next];
            hash_below[next] = hash_below[next] + rows.hashes[at(r)];
        }
        for (std::size_t b = 0; b < at(column.n_bins); ++b) {
            n_below[b + 1] += n_below[b];
            hash_below[b + 1] = hash_below[b + 1] + hash_below[b];
        }
        for (int s = 0; s < column.whole().n_sides; ++s)
            for (const auto [first, last] : column.whole().runs_of(s)) {
                const std::size_t side = at(column.first_side() + s);
                n[side] += n_below[at(last)] - n_below[at(first)];
                hash[side] = hash[side] + (hash_below[at(last)] - hash_below[at(first)]);
            }
    }
}

void SideProfiles::join_into(Profile& out) const {
    const double* yes = gains.data();
    for (const ColumnRegions* of : regions) {
        for (int c = 0; c < of->n_cuts; ++c, yes += width)
            join(yes, width, yes + at(of->n_cuts) * width, width, out);
        yes += at(of->n_cuts) * width;
    }
    make_monotone(out);
}

std::vector<Profile> SideProfiles::by_side(const Columns& columns) const {
    std::vector<Profile> out(at(columns.n_sides()));
    for_each(columns, [&](int side, const double* from) { out[at(side)].assign(from, from + width); });
    return out;
}

}  // namespace surtree
