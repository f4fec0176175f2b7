// The best single split below three cuts, found once for any of their columns.
//
// What is best below a, b and c does not depend on which of them is asked first. The first of their columns
// that is swept finds it, and the kernels of the others need not. Two of the cuts may be of one column: what
// they leave of it is one of its regions.
#pragma once

#include <atomic>
#include <vector>

#include "kernel/kernels.hpp"

namespace surtree {

class StumpStore {
 public:
    explicit StumpStore(const Columns& columns);

    // Whether there is room for all stumps.
    bool has_room() const { return !stumps_.empty(); }

    // The columns that were swept before, as one sweep sees them from its start to its end.
    std::vector<bool> swept() const;
    void finish(int column) { finished_[static_cast<std::size_t>(column)] = true; }

    // One side of one column, for which a kernel is run.
    struct Side {
        StumpStore* store;
        const std::vector<bool>& swept;
        int column, side;
        double leaf;  // what its rows gain as a leaf
    };

    // A column as a kernel sees it, and its place among the kernel's axes, if it has cuts there.
    struct View {
        int column;
        const ColumnRegions* axis;
        int place;
    };

    // Whether the stumps below regions of a column, or below a side of each of two, are known; what they are.
    static bool knows(const Side& side, int b);
    static bool knows(const Side& side, int b, int c);
    static void load(const Side& side, const View& b, double* to);
    static void load(const Side& side, const View& b, const View& c, double* to);

    // Keeps what a kernel found that was not known.
    static void save(const Side& side, const std::vector<View>& views, const FoundStumps& found);

 private:
    // Sides of b x sides of c, for a side of a.
    struct Plane {
        double* first;
        std::size_t b_stride, c_stride;
    };
    Plane plane(int a, int side, int b, int c);

    // Sides of b, for a region of a.
    double* line(int a, int region, int b);

    // The regions that a side of a column is, or is cut into by another cut of it.
    std::vector<int> regions_within(int column, int side) const;

    static void load_own(const Side& side, const View& own, const View& other, std::size_t own_stride,
                         std::size_t other_stride, double* to);

    const Columns& columns_;
    std::vector<std::size_t> first_;         // of three columns in ascending order
    std::vector<std::size_t> first_of_two_;  // of a region of one and a side of another
    std::vector<double> stumps_;
    std::vector<std::atomic<bool>> finished_;
};

}  // namespace surtree
