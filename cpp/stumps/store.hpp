// Table of the best single splits ("stumps") below every three cuts.
//
// The rows below cuts a, b and c do not depend on the order of the cuts. The first of their columns that is
// swept stores the stumps, and the kernels of the others load them. Two of the cuts may be on one column:
// they leave one of its regions.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "kernel/kernels.hpp"

namespace surtree {

class StumpStore {
 public:
    // At most so many stumps.
    static constexpr std::size_t few_stumps = std::size_t{1} << 22;
    StumpStore(const Columns& columns, std::size_t most_stumps);

    // False if the table would be too large, there are fewer than three columns with cuts, or one of them is
    // unordered and has many bins.
    bool has_room() const { return n_stumps_ > 0; }

    // A large table is cleared in parts, so that who clears it can look at the clock; before that, nothing
    // can be loaded or saved.
    bool is_ready() const { return has_room() && is_cleared_; }
    int n_parts_to_clear() const;
    void clear(int part);
    void finish_clearing() { is_cleared_ = true; }

    // The columns that have cuts, those with few first, and the parts of the table: for sides of three of
    // them in that order, and for regions of one column and sides of another.
    struct Part {
        double* first;
        std::size_t size;
    };
    const std::vector<int>& order() const { return order_; }
    Part part(int a, int b, int c);
    Part part(int a, int b);
    std::size_t bytes() const { return n_stumps_ * sizeof(double); }

    // The columns whose sweep is finished. A sweep takes this once, at its start.
    std::vector<bool> swept() const;
    void finish(int column) { finished_[at(column)] = true; }

    // The rows that a kernel is run for: one side of the column that is swept.
    struct Context {
        StumpStore* store;
        const std::vector<bool>& swept;
        int column, side;
        double leaf;  // the gain of the rows as a leaf
    };

    // A column in a kernel, and its index among the kernel's axes (-1 if it has no cuts there).
    struct View {
        int column;
        const ColumnRegions* axis;
        int place;
    };

    // Whether the stumps of regions of column b, or of pairs of sides of b and c, are stored.
    static bool knows(const Context& context, int b);
    static bool knows(const Context& context, int b, int c);
    static void load(const Context& context, const View& b, double* to);
    static void load(const Context& context, const View& b, const View& c, double* to);

    // Stores the stumps that a kernel found and that were not known.
    static void save(const Context& context, const std::vector<View>& views, const FoundStumps& found);

 private:
    // The stumps of sides of b x sides of c, for a side of a.
    struct Plane {
        double* first;
        std::size_t b_stride, c_stride;
    };
    Plane plane(int a, int side, int b, int c);

    // The stumps of the sides of b, for a region of a.
    double* line(int a, int region, int b);

    // A side of a column, and the regions that other cuts of the column split it into.
    std::vector<int> regions_within(int column, int side) const;

    static void load_own(const Context& context, const View& own, const View& other, std::size_t own_stride,
                         std::size_t other_stride, double* to);

    std::size_t n_sides(int column) const { return 2 * at(columns_[column].n_cuts); }
    std::size_t& first(int a, int b, int c) {
        return first_[(at(a) * at(columns_.size()) + at(b)) * at(columns_.size()) + at(c)];
    }

    const Columns& columns_;
    std::vector<int> order_;  // columns with cuts, and the place of each column there
    std::vector<int> place_;
    std::vector<std::size_t> first_;         // offsets, per triple of columns in this order
    std::vector<std::size_t> first_of_two_;  // offsets, per column of the region and column of the side
    std::unique_ptr<double[]> stumps_;
    std::size_t n_stumps_ = 0;
    bool is_cleared_ = false;
    std::vector<std::atomic<bool>> finished_;
};

}  // namespace surtree
