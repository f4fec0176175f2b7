#include <algorithm>
#include <memory>

#include "search/bisection.hpp"
#include "search/trees.hpp"

namespace surtree {
namespace {

int rank_of(const OrderedRows::Order& order, std::size_t k) { return static_cast<int>(order.code[k] >> 1); }

class BisectionTrees {
 public:
    struct Node {
        std::unique_ptr<OrderedRows> rows;  // null for all
        int depth = 0;
        Outcome outcome;
    };

    BisectionTrees(Bisection& search, Status status, const std::vector<int>& cut_of)
        : search_(search),
          chained_(search.chained()),
          complete_(status == Status::optimal),
          cut_of_(cut_of),
          place_of_cut_(cut_of.size()),
          worker_(search.make_worker()) {
        for (int column = 0; column < chained_.n_columns(); ++column)
            for (std::size_t c = 0; c < chained_[column].cut.size(); ++c)
                place_of_cut_[at(chained_[column].cut[c])] = {column, static_cast<int>(c)};
        search.go_on();
    }

    Node root(int) const { return {nullptr, search_.depth(), search_.outcome()}; }
    const Profile& gains(const Node& node) const { return node.outcome.best; }

    template <class Visit>
    void each_choice(const Node& node, int splits, double least, const Visit& visit) {
        if (splits == 1) return each_stump(rows_of(node), least, visit);
        if (complete_) return each_cut(node, splits, least, visit);
        const Choice& found = node.outcome.choices[at(splits)];
        const bool one = holds_on_one(found.cut);
        visit(Choice{found.cut, {found.splits[!one], found.splits[one]}});
    }

    Node child(const Node& node, const Choice& choice, bool holds) {
        const OrderedRows& rows = rows_of(node);
        const auto [column, cut] = place_of_cut_[at(choice.cut)];
        Partition partition;
        if (column < chained_.n_chains) {
            const OrderedRows::Order& order = rows.orders[at(column)];
            int position = 0;
            while (position < rows.n && rank_of(order, at(position)) <= cut) ++position;
            divide_chain(rows, column, position, partition);
            add_up(rows, partition);
        } else {
            divide_other(rows, chained_, column, cut, partition);
        }
        const int side = holds == holds_on_one(choice.cut);
        Node out{std::make_unique<OrderedRows>(), node.depth - 1, {}};
        take_side(rows, partition, side, *out.rows);
        search_.find(*out.rows, partition.hash[side], out.depth, worker_, out.outcome);
        return out;
    }

    double tie() const { return search_.rows().tie; }
    int original(int cut) const { return cut_of_[at(cut)]; }

 private:
    struct CutPlace {
        int column, cut;  // chains first
    };

    const OrderedRows& rows_of(const Node& node) const { return node.rows ? *node.rows : search_.all(); }

    // Rows above a cut of a chain are on side 1, and so are those for which an unordered cut holds.
    bool holds_on_one(int cut) const {
        return place_of_cut_[at(cut)].column >= chained_.n_chains || !search_.problem().cuts[at(cut)].negated;
    }

    // The cut with the least number among those that divide the rows in the same way.
    int first_original(int chain, Frontier::SameCuts cuts) const {
        const std::vector<int>& cut = chained_[chain].cut;
        return *std::min_element(cut.begin() + cuts.first, cut.begin() + cuts.last + 1,
                                 [&](int a, int b) { return original(a) < original(b); });
    }

    // With two splits or more: evaluates every cut whose bound is large enough.
    template <class Visit>
    void each_cut(const Node& node, int splits, double least, const Visit& visit) {
        const OrderedRows& rows = rows_of(node);
        const Outcome(&sides)[2] = worker_.levels[at(node.depth)].sides;
        const auto consider = [&](int cut) {
            const bool one = holds_on_one(cut);
            each_share(cut, sides[one].best, sides[!one].best, splits, least, visit);
        };
        Frontier frontier = search_.frontier(rows, node.depth, search_.start(rows, node.depth, worker_), {});
        const auto look = [&](const auto& self, int chain, int low, int high) -> void {
            if (high - low < 2 || frontier.bound_between(chain, low, high, at(splits)) < least) return;
            Frontier::Place place;
            if (!frontier.place(chain, low, high, place)) return;
            search_.evaluate(rows, frontier, place, node.depth, worker_);
            frontier.keep_bounds(place, sides);
            consider(first_original(chain, frontier.cuts_at(chain, place.cut)));
            self(self, chain, low, place.cut);
            self(self, chain, place.cut, high);
        };
        for (int v = 0; v < chained_.n_chains; ++v) look(look, v, 0, frontier.n_boundaries(v) + 1);
        for_each_unordered([&](int column, int c) {
            const int cut = chained_[column].cut[at(c)];
            if (!node.rows && !search_.problem().cuts[at(cut)].leads) return;
            if (search_.evaluate(rows, frontier, {column, c}, node.depth, worker_)) consider(cut);
        });
    }

    template <class Visit>
    void each_stump(const OrderedRows& rows, double least, const Visit& visit) const {
        const LeafValue& leaf = search_.rows().leaf;
        const std::size_t width = at(rows.width);
        std::vector<double> total(width, 0.0), below(width), rest(width);
        for (std::size_t k = 0; k < rows.sums.size(); ++k) total[k % width] += rows.sums[k];
        const auto consider = [&](int cut, const double* part) {
            for (std::size_t c = 0; c < width; ++c) rest[c] = total[c] - part[c];
            if (leaf.limited_gain(part) + leaf.limited_gain(rest.data()) >= least) visit(Choice{cut});
        };
        for (int v = 0; v < chained_.n_chains; ++v) {
            const OrderedRows::Order& order = rows.orders[at(v)];
            std::fill(below.begin(), below.end(), 0.0);
            for (std::size_t k = 0; k < at(rows.n); ++k) {
                if (k > 0 && rank_of(order, k) != rank_of(order, k - 1))
                    consider(first_original(v, {rank_of(order, k - 1), rank_of(order, k) - 1}), below.data());
                for (std::size_t c = 0; c < width; ++c) below[c] += order.sums[k * width + c];
            }
        }
        Partition partition;
        for_each_unordered([&](int column, int c) {
            divide_other(rows, chained_, column, c, partition);
            if (partition.n[0] > 0 && partition.n[1] > 0)
                consider(chained_[column].cut[at(c)], partition.totals.data());
        });
    }

    template <class Visit>
    void for_each_unordered(const Visit& visit) const {
        for (int column = chained_.n_chains; column < chained_.n_columns(); ++column)
            for (int c = 0; c < static_cast<int>(chained_[column].cut.size()); ++c) visit(column, c);
    }

    Bisection& search_;
    const ChainedProblem& chained_;
    const bool complete_;
    const std::vector<int>& cut_of_;
    std::vector<CutPlace> place_of_cut_;
    Bisection::Worker worker_;
};

}  // namespace

std::vector<Tree> build_trees(Bisection& search, Status status, const std::vector<int>& cut_of,
                              std::vector<bool>& is_wanted) {
    return build_trees(BisectionTrees(search, status, cut_of), search.outcome().best, is_wanted);
}

}  // namespace surtree
