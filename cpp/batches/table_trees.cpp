#include "batches/table_trees.hpp"

#include <map>

#include "search/trees.hpp"

namespace surtree {
namespace {

using Bins = TripleTables::Bins;

// The solution of a set of rows, as Recursion::Solved.
struct Solved {
    Profile profile;
    std::vector<Profile> sides;
};

class TableTrees {
 public:
    // The rows in some bins of at most two axes, and how many levels of cuts are left.
    struct Node {
        std::vector<Bins> where;
        int depth = 0;
        const Solved* solved = nullptr;
    };

    TableTrees(const TripleTables& tables, const Profile& gains, const std::vector<RootResult>& sides)
        : tables_(tables), columns_(tables.columns()), width_(at(tables.leaf().width())) {
        root_.profile = gains;
        for (const RootResult& side : sides) root_.sides.push_back(side.profile);
        depth_ = sides.empty() ? 0 : sides.front().depth + 1;
    }

    Node root(int) const { return {{}, depth_, &root_}; }
    const Profile& gains(const Node& node) const { return node.solved->profile; }
    double tie() const { return tables_.tie(); }
    int original(int cut) const { return cut; }

    template <class Visit>
    void each_choice(const Node& node, int splits, double least, const Visit& visit) const {
        for_each_cut(columns_, node.solved->sides, [&](const Column& column, int cut, auto& yes, auto& no) {
            each_share(column.first_cut + cut, yes, no, splits, least, visit);
        });
    }

    Node child(const Node& node, const Choice& choice, bool holds) {
        const Column& column = columns_.of_side(2 * choice.cut);
        const int side = column.side(choice.cut - column.first_cut, holds) - column.first_side();
        Node out{node.where, node.depth - 1, nullptr};
        const Bins bins{tables_.axis_of(column.index), mask_of(column, side)};
        bool is_new = true;
        for (Bins& known : out.where)
            if (known.axis == bins.axis) {
                known.mask &= bins.mask;
                is_new = false;
            }
        if (is_new) out.where.push_back(bins);
        const auto [place, is_unsolved] = solved_.try_emplace({out.depth, out.where});
        if (is_unsolved) place->second = out.depth == 1 ? solve_one(out.where) : solve_two(out.where);
        out.solved = &place->second;
        return out;
    }

 private:
    using Sums = std::vector<double>;

    static std::uint64_t mask_of(const Column& column, int side) {
        std::uint64_t mask = 0;
        for (const Run& run : column.whole().runs_of(side))
            for (int b = run.first; b < run.last; ++b) mask |= std::uint64_t{1} << b;
        return mask;
    }

    // Sums over the bins of a mask, of numbers that lie `stride` apart.
    static void add_bins(const double* by_bin, std::size_t stride, std::uint64_t mask, Sums& out) {
        for (std::size_t b = 0; mask >> b; ++b) {
            if (mask >> b & 1)
                for (std::size_t k = 0; k < out.size(); ++k) out[k] += by_bin[b * stride + k];
            if (b == 63) break;
        }
    }

    // The gain of each side of a column as a leaf, from sums by its bins.
    std::vector<double> side_gains(const Column& column, const double* by_bin) const {
        std::vector<double> out;
        for (int s = 0; s < 2 * column.n_cuts; ++s) {
            Sums sums(width_);
            add_bins(by_bin, width_, mask_of(column, s), sums);
            out.push_back(tables_.leaf().limited_gain(sums.data()));
        }
        return out;
    }

    double leaf_gain(const Column& column, const double* by_bin) const {
        Sums sums(width_);
        for (int b = 0; b < column.n_bins; ++b)
            for (std::size_t k = 0; k < width_; ++k) sums[k] += by_bin[at(b) * width_ + k];
        return tables_.leaf().limited_gain(sums.data());
    }

    Solved joined(double leaf, int depth, std::vector<Profile> sides) const {
        Solved out{Profile(std::min(std::size_t{1} << depth, root_.profile.size()), leaf), std::move(sides)};
        for_each_cut(columns_, out.sides,
                     [&](const Column&, int, auto& yes, auto& no) { join(yes, no, out.profile); });
        make_monotone(out.profile);
        return out;
    }

    // One level: each side of each cut is a leaf.
    Solved solve_one(const std::vector<Bins>& where) const {
        std::vector<Profile> sides(at(columns_.n_sides()));
        double leaf = 0;
        for (const Column& column : columns_) {
            if (column.n_cuts == 0) continue;
            const Sums by_bin = tables_.sums_by_bins(where, {tables_.axis_of(column.index)});
            leaf = leaf_gain(column, by_bin.data());
            const std::vector<double> gains = side_gains(column, by_bin.data());
            for (std::size_t s = 0; s < gains.size(); ++s) sides[at(column.first_side()) + s] = {gains[s]};
        }
        return joined(leaf, 1, std::move(sides));
    }

    // Two levels, of rows in some bins of one axis: below each side of each cut, a leaf or one more cut.
    Solved solve_two(const std::vector<Bins>& where) const {
        std::vector<Profile> sides(at(columns_.n_sides()));
        double leaf = 0;
        for (const Column& first : columns_) {
            if (first.n_cuts == 0) continue;
            const int axis = tables_.axis_of(first.index);
            const Sums alone = tables_.sums_by_bins(where, {axis});
            leaf = leaf_gain(first, alone.data());
            const std::vector<double> leaves = side_gains(first, alone.data());
            for (std::size_t s = 0; s < leaves.size(); ++s)
                sides[at(first.first_side()) + s] = {leaves[s], leaves[s]};
            for (const Column& second : columns_)
                if (second.n_cuts > 0) raise_stumps(where, first, alone, second, sides);
        }
        return joined(leaf, 2, std::move(sides));
    }

    // Raises the gains of the sides of the first column to those with a cut of the second.
    void raise_stumps(const std::vector<Bins>& where, const Column& first, const Sums& alone,
                      const Column& second, std::vector<Profile>& sides) const {
        const int axis = tables_.axis_of(first.index), other = tables_.axis_of(second.index);
        const std::size_t line = at(second.n_bins) * width_;
        const Sums pair = first.index == second.index ? Sums{} : tables_.sums_by_bins(where, {axis, other});
        for (int s = 0; s < 2 * first.n_cuts; ++s) {
            const std::uint64_t mask = mask_of(first, s);
            Sums by_bin(line);
            if (pair.empty()) {
                for (std::size_t b = 0; b < at(first.n_bins); ++b)
                    if (mask >> b & 1)
                        std::copy_n(alone.data() + b * width_, width_, by_bin.data() + b * width_);
            } else {
                add_bins(pair.data(), line, mask, by_bin);
            }
            const std::vector<double> gains = side_gains(second, by_bin.data());
            double& stump = sides[at(first.first_side() + s)][1];
            for (int c = 0; c < second.n_cuts; ++c)
                stump = std::max(stump, gains[at(c)] + gains[at(second.n_cuts + c)]);
        }
    }

    const TripleTables& tables_;
    const Columns& columns_;
    const std::size_t width_;
    Solved root_;
    int depth_ = 0;
    std::map<std::pair<int, std::vector<Bins>>, Solved> solved_;
};

}  // namespace

std::vector<Tree> build_trees(const TripleTables& tables, const Profile& gains,
                              const std::vector<RootResult>& sides) {
    std::vector<bool> is_wanted(gains.size(), true);
    return build_trees(TableTrees(tables, gains, sides), gains, is_wanted);
}

}  // namespace surtree
