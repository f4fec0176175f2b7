#include "search/bisection_trees.hpp"

#include <algorithm>
#include <memory>

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
        int column = 0;
        const auto number = [&](const std::vector<int>& cuts) {
            for (std::size_t c = 0; c < cuts.size(); ++c)
                place_of_cut_[at(cuts[c])] = {column, static_cast<int>(c)};
            ++column;
        };
        for (const Chain& chain : chained_.chains) number(chain.cut);
        for (const Unordered& other : chained_.others) number(other.cut);
        search.go_on();
    }

    Node root(int) const { return {nullptr, search_.depth(), search_.outcome()}; }
    const Profile& gains(const Node& node) const { return node.outcome.best; }

    template <class Visit>
    void each_choice(const Node& node, int splits, double least, const Visit& visit) {
        if (splits == 1) return each_stump(rows_of(node), least, visit);
        if (complete_) return each_cut(node, splits, least, visit);
        const SideChoice& found = node.outcome.choices[at(splits)];
        const bool one = holds_on_one(found.cut);
        visit({found.cut, {found.splits[!one], found.splits[one]}});
    }

    Node child(const Node& node, const Choice& choice, bool holds) {
        const OrderedRows& rows = rows_of(node);
        const auto [column, cut] = place_of_cut_[at(choice.cut)];
        Partition partition;
        if (column < chained_.n_chains()) {
            const OrderedRows::Order& order = rows.orders[at(column)];
            int position = 0;
            while (position < rows.n && rank_of(order, at(position)) <= cut) ++position;
            divide_chain(rows, column, position, partition);
            add_up(rows, partition);
        } else {
            divide_other(rows, chained_, column - chained_.n_chains(), cut, partition);
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
        return place_of_cut_[at(cut)].column >= chained_.n_chains() ||
               !search_.problem().cuts[at(cut)].negated;
    }

    // Of cuts that divide the rows in the same way, the one with the least number.
    int first_original(int chain, Frontier::SameCuts cuts) const {
        const std::vector<int>& cut = chained_.chains[at(chain)].cut;
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
            const Profile &yes = sides[one].best, &no = sides[!one].best;
            const int n_yes = static_cast<int>(yes.size()), n_no = static_cast<int>(no.size());
            for (int i = std::max(0, splits - n_no); i < std::min(splits, n_yes); ++i)
                if (yes[at(i)] + no[at(splits - 1 - i)] >= least) visit({cut, {splits - 1 - i, i}});
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
        for (int v = 0; v < chained_.n_chains(); ++v) look(look, v, 0, frontier.n_boundaries(v) + 1);
        for (int o = 0; o < static_cast<int>(chained_.others.size()); ++o)
            for (int c = 0; c < static_cast<int>(chained_.others[at(o)].cut.size()); ++c)
                if (search_.evaluate(rows, frontier, {chained_.n_chains() + o, c}, node.depth, worker_))
                    consider(chained_.others[at(o)].cut[at(c)]);
    }

    template <class Visit>
    void each_stump(const OrderedRows& rows, double least, const Visit& visit) const {
        const LeafValue& leaf = search_.rows().leaf;
        const std::size_t width = at(rows.width);
        std::vector<double> total(width, 0.0), below(width), rest(width);
        for (std::size_t k = 0; k < rows.sums.size(); ++k) total[k % width] += rows.sums[k];
        const auto consider = [&](int cut, const double* part) {
            for (std::size_t c = 0; c < width; ++c) rest[c] = total[c] - part[c];
            if (leaf.limited_gain(part) + leaf.limited_gain(rest.data()) >= least) visit({cut, {0, 0}});
        };
        for (int v = 0; v < chained_.n_chains(); ++v) {
            const OrderedRows::Order& order = rows.orders[at(v)];
            std::fill(below.begin(), below.end(), 0.0);
            for (std::size_t k = 0; k < at(rows.n); ++k) {
                if (k > 0 && rank_of(order, k) != rank_of(order, k - 1))
                    consider(first_original(v, {rank_of(order, k - 1), rank_of(order, k) - 1}), below.data());
                for (std::size_t c = 0; c < width; ++c) below[c] += order.sums[k * width + c];
            }
        }
        Partition partition;
        for (int o = 0; o < static_cast<int>(chained_.others.size()); ++o)
            for (int c = 0; c < static_cast<int>(chained_.others[at(o)].cut.size()); ++c) {
                divide_other(rows, chained_, o, c, partition);
                if (partition.n[0] > 0 && partition.n[1] > 0)
                    consider(chained_.others[at(o)].cut[at(c)], partition.totals.data());
            }
    }

    Bisection& search_;
    const ChainedProblem& chained_;
    const bool complete_;
    const std::vector<int>& cut_of_;
    std::vector<CutPlace> place_of_cut_;
    Bisection::Worker worker_;
};

}  // namespace

std::vector<Tree> build_trees(Bisection& search, Status status, const std::vector<int>& cut_of) {
    BisectionTrees engine(search, status, cut_of);
    TreeBuilder builder(engine);
    std::vector<Tree> trees;
    for (int k = 0; k <= search.n_splits(); ++k) trees.push_back(builder.build(k));
    return trees;
}

}  // namespace surtree
