#include <array>
#include <map>

#include "search/sweep.hpp"
#include "search/trees.hpp"

namespace surtree {
namespace {

class SweepTrees {
 public:
    // Solved to an end, or a node of the incumbent.
    struct Node {
        std::shared_ptr<const RowSet> rows;  // null for all
        const Recursion::Solved* solved = nullptr;
        const Incumbent* incumbent = nullptr;
        int depth = 0;  // that it is solved for; of the root's sides, `results` says
    };

    SweepTrees(SweepSearch& search, const Profile& gains, const std::vector<int>& cut_of)
        : search_(search), columns_(search.recursion().columns()), gains_(gains), cut_of_(cut_of) {
        root_.profile = search.gains_of_sides();
        for (const RootResult& result : search.results()) root_.sides.push_back(result.profile);
    }

    Node root(int k) {
        if (root_.profile[at(k)] < gains_[at(k)] - tie()) return node_of(*search_.incumbent(), nullptr, k);
        return {nullptr, &root_, nullptr, 0};
    }

    const Profile& gains(const Node& node) const {
        return node.incumbent ? node.incumbent->profile : node.solved->profile;
    }

    template <class Visit>
    void each_choice(const Node& node, int splits, double least, const Visit& visit) const {
        if (node.incumbent) return visit(best_shares(*node.incumbent, splits));
        for_each_cut(columns_, node.solved->sides, [&](const Column& column, int cut, auto& yes, auto& no) {
            each_share(column.first_cut + cut, yes, no, splits, least, visit);
        });
    }

    Node child(const Node& node, const Choice& choice, bool holds) {
        const Column& column = columns_.of_side(2 * choice.cut);
        const int side = column.side(choice.cut - column.first_cut, holds);
        std::shared_ptr<const RowSet> rows = take(rows_of(node), column, side);
        if (node.incumbent)
            return node_of(holds ? *node.incumbent->yes : *node.incumbent->no, std::move(rows),
                           choice.splits[holds]);
        const int depth = node.solved == &root_ ? search_.results()[at(side)].depth : node.depth - 1;
        return solved_node(std::move(rows), depth);
    }

    double tie() const { return search_.rows().tie; }
    int original(int cut) const { return cut_of_[at(cut)]; }

 private:
    const RowSet& rows_of(const Node& node) const { return node.rows ? *node.rows : search_.rows().all; }

    // Trees of different sizes share many of their parts. Rows are kept up to some multiple of all; what has
    // not been kept has no parts that are, so that no address comes back.
    std::shared_ptr<const RowSet> take(const RowSet& from, const Column& column, int side) {
        const auto place = taken_.find({&from, side});
        if (place != taken_.end()) return place->second;
        auto rows = std::make_shared<RowSet>();
        take_rows(from, column, side - column.first_side(), *rows);
        n_kept_ += rows->n;
        if (n_kept_ < most_kept * search_.rows().all.n) taken_.emplace(std::pair{&from, side}, rows);
        return rows;
    }

    Node solved_node(std::shared_ptr<const RowSet> rows, int depth) {
        const RowSet& all = rows ? *rows : search_.rows().all;
        const RowSetHash hash = hash_of(all);
        const std::array name{static_cast<std::uint64_t>(depth), hash.low, hash.high};
        auto place = solved_.find(name);
        if (place == solved_.end())
            place = solved_.emplace(name, search_.recursion().solve_again(all, depth, worker_)).first;
        return {std::move(rows), &place->second, nullptr, depth};
    }

    // A node of the incumbent, or, where the levels that kernels solve are as good, of those.
    Node node_of(const Incumbent& incumbent, std::shared_ptr<const RowSet> rows, int k) {
        const Profile &profile = incumbent.profile, &exact = incumbent.exact;
        const int splits = fewest_splits(std::min(k, static_cast<int>(profile.size()) - 1), profile, tie());
        if (exact[at(std::min(splits, static_cast<int>(exact.size()) - 1))] >= profile[at(splits)] - tie())
            return solved_node(std::move(rows), incumbent.depth);
        return {std::move(rows), nullptr, &incumbent, 0};
    }

    Choice best_shares(const Incumbent& incumbent, int splits) const {
        Choice choice{incumbent.column->first_cut + incumbent.cut, {}};
        const Profile &yes = incumbent.yes->profile, &no = incumbent.no->profile;
        double most = 2 * infeasible;
        for (int i = 0; i < std::min(splits, static_cast<int>(yes.size())); ++i) {
            const int j = std::min(splits - 1 - i, static_cast<int>(no.size()) - 1);
            if (yes[at(i)] + no[at(j)] <= most) continue;
            most = yes[at(i)] + no[at(j)];
            choice.splits[false] = j;
            choice.splits[true] = i;
        }
        return choice;
    }

    SweepSearch& search_;
    const Columns& columns_;
    const Profile& gains_;
    const std::vector<int>& cut_of_;
    Recursion::Solved root_;
    Recursion::Worker worker_;
    static constexpr std::int64_t most_kept = 16;
    std::int64_t n_kept_ = 0;
    std::map<std::pair<const RowSet*, int>, std::shared_ptr<const RowSet>> taken_;  // by parent and side
    std::map<std::array<std::uint64_t, 3>, Recursion::Solved> solved_;
};

}  // namespace

std::vector<Tree> build_trees(SweepSearch& search, const Profile& gains, const std::vector<int>& cut_of,
                              std::vector<bool>& is_wanted, const std::function<bool()>& is_over) {
    return build_trees(SweepTrees(search, gains, cut_of), gains, is_wanted, is_over);
}

}  // namespace surtree
