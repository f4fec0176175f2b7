// The two sides of every cut of a set of rows: their rows, and their best gains.
#pragma once

#include <functional>

#include "columns/regions.hpp"
#include "rows/rows.hpp"
#include "search/profile.hpp"

namespace surtree {

// Rows and hash of each side, in the numbering of `Columns`, without looking at the sides one by one.
struct SideCounts {
    std::vector<int> n;
    std::vector<RowSetHash> hash;

    SideCounts() = default;
    SideCounts(const Columns& columns, const RowSet& rows);

    bool divides(int side, int n_rows) const { return n[at(side)] > 0 && n[at(side)] < n_rows; }
};

// Best gains of the sides of all cuts that divide a set of rows, with at most 0, 1, ... splits.
struct SideProfiles {
    std::size_t width = 0;                      // numbers a side
    std::vector<const ColumnRegions*> regions;  // sides come column by column, as its regions order them
    std::vector<double> gains;

    // Joins the two sides of each cut.
    void join_into(Profile& out) const;

    // Calls back with the number of each side, and its gains.
    template <class Visit>
    void for_each(const Columns& columns, const Visit& visit) const {
        const double* from = gains.data();
        for (const ColumnRegions* of : regions)
            for (int s = 0; s < of->n_sides; ++s, from += width) visit(columns.side_of(*of, s), from);
    }

    // By number of the side; empty where a cut does not divide the rows, or divides them as another one does.
    std::vector<Profile> by_side(const Columns& columns) const;
};

// Calls back with every cut: its column, its place there, and the profiles of its two sides.
template <class Side, class Visit, class Project = std::identity>
void for_each_cut(const Columns& columns, const std::vector<Side>& sides, const Visit& visit,
                  Project profile_of = {}) {
    for (const Column& column : columns)
        for (int c = 0; c < column.n_cuts; ++c)
            visit(column, c, std::invoke(profile_of, sides[at(column.side(c, true))]),
                  std::invoke(profile_of, sides[at(column.side(c, false))]));
}

}  // namespace surtree
