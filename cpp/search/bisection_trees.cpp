#include "search/bisection_trees.hpp"

#include <algorithm>
#include <limits>

namespace surtree {
namespace {

int rank_of(const OrderedRows::Order& order, std::size_t k) { return static_cast<int>(order.code[k] >> 1); }

}  // namespace

BisectionTrees::BisectionTrees(Bisection& search, Status status, const std::vector<int>& original)
    : search_(search),
      complete_(status == Status::optimal),
      original_(original),
      place_of_cut_(original.size()),
      worker_(search.make_worker()) {
    const ChainedProblem& chained = search.chained();
    int column = 0;
    const auto number = [&](const std::vector<int>& cuts) {
        for (std::size_t c = 0; c < cuts.size(); ++c)
            place_of_cut_[at(cuts[c])] = {column, static_cast<int>(c)};
        ++column;
    };
    for (const Chain& chain : chained.chains) number(chain.cut);
    for (const Unordered& other : chained.others) number(other.cut);
    search.go_on();
}

Tree BisectionTrees::build(int k) {
    Tree out;
    build_node(search_.all(), search_.depth(), k, search_.outcome(), out);
    return out;
}

void BisectionTrees::build_node(const OrderedRows& rows, int depth, int k, const Outcome& outcome,
                                Tree& out) {
    const int node = add_node(out);
    const int splits = fewest_splits(k, outcome.best, search_.tie());
    if (splits == 0) return;
    const double enough = outcome.best[at(splits)] - search_.tie();
    Choice choice = outcome.choices[at(splits)];
    if (splits == 1)
        choice = first_stump(rows, enough);
    else if (complete_)
        choice = first_choice(rows, depth, splits, enough);

    const Frontier::Place place = place_of_cut_[at(choice.cut)];
    Partition partition;
    if (place.column < search_.chained().n_chains()) {
        const OrderedRows::Order& order = rows.orders[at(place.column)];
        int position = 0;
        while (position < rows.n && rank_of(order, at(position)) <= place.cut) ++position;
        divide_chain(rows, place.column, position, partition);
        add_up(rows, partition);
    } else {
        divide_other(rows, search_.chained(), place.column - search_.chained().n_chains(), place.cut,
                     partition);
    }
    out.cut[at(node)] = original(choice.cut);
    const bool holds_on_one =
        !search_.problem().cuts[at(choice.cut)].negated || at(place.column) >= rows.orders.size();
    for (const bool holds : {false, true}) {
        const int side = holds == holds_on_one;
        (holds ? out.right : out.left)[at(node)] = static_cast<int>(out.cut.size());
        const int below = choice.splits[side];
        if (below == 0) {
            add_node(out);
            continue;
        }
        OrderedRows child;
        take_side(rows, search_.chained(), partition, side, child);
        Outcome found;
        search_.find(child, partition.hash[side], depth - 1, worker_, found);
        build_node(child, depth - 1, below, found, out);
    }
}

int BisectionTrees::first_original(int chain, Frontier::SameCuts cuts) const {
    const std::vector<int>& cut = search_.chained().chains[at(chain)].cut;
    return *std::min_element(cut.begin() + cuts.first, cut.begin() + cuts.last + 1,
                             [&](int a, int b) { return original(a) < original(b); });
}

// With two splits or more: looks at every cut that may reach the gain, and takes the first of those that do.
Choice BisectionTrees::first_choice(const OrderedRows& rows, int depth, int splits, double enough) {
    Choice chosen;
    const auto consider = [&](int cut) {
        if (chosen.cut >= 0 && original(chosen.cut) < original(cut)) return;
        const bool holds_on_one = at(place_of_cut_[at(cut)].column) >= rows.orders.size() ||
                                  !search_.problem().cuts[at(cut)].negated;
        const Outcome(&sides)[2] = worker_.levels[at(depth)].sides;
        const Profile &yes = sides[holds_on_one].best, &no = sides[!holds_on_one].best;
        for (int i = 0; i < std::min(splits, static_cast<int>(yes.size())); ++i) {
            const int j = splits - 1 - i;
            if (j >= static_cast<int>(no.size()) || yes[at(i)] + no[at(j)] < enough) continue;
            chosen.cut = cut;
            chosen.splits[holds_on_one] = i;
            chosen.splits[!holds_on_one] = j;
            return;
        }
    };
    const ChainedProblem& chained = search_.chained();
    Frontier frontier = search_.frontier(rows, depth, search_.start(rows, depth, worker_), {});
    const auto look = [&](const auto& self, int chain, int low, int high) -> void {
        if (high - low < 2 || frontier.bound_between(chain, low, high, at(splits)) < enough) return;
        Frontier::Place place;
        if (!frontier.place(chain, low, high, place)) return;
        search_.evaluate(rows, frontier, place, depth, worker_);
        frontier.keep_bounds(place, worker_.levels[at(depth)].sides);
        consider(first_original(chain, frontier.cuts_at(chain, place.cut)));
        self(self, chain, low, place.cut);
        self(self, chain, place.cut, high);
    };
    for (int v = 0; v < static_cast<int>(chained.chains.size()); ++v)
        look(look, v, 0, frontier.n_boundaries(v) + 1);
    for (std::size_t o = 0; o < chained.others.size(); ++o)
        for (std::size_t c = 0; c < chained.others[o].cut.size(); ++c)
            if (search_.evaluate(rows, frontier,
                                 {chained.n_chains() + static_cast<int>(o), static_cast<int>(c)}, depth,
                                 worker_))
                consider(chained.others[o].cut[c]);
    return chosen;
}

Choice BisectionTrees::first_stump(const OrderedRows& rows, double enough) const {
    const std::size_t width = at(rows.width);
    std::vector<double> total(width, 0.0);
    for (std::size_t r = 0; r < at(rows.n); ++r)
        for (std::size_t c = 0; c < width; ++c) total[c] += rows.sums[r * width + c];
    // All ways to divide the rows once: a cut, and the sums on one side of it.
    std::vector<int> cuts;
    std::vector<double> parts;
    const ChainedProblem& chained = search_.chained();
    for (std::size_t v = 0; v < rows.orders.size(); ++v) {
        const OrderedRows::Order& order = rows.orders[v];
        std::vector<double> below(width, 0.0);
        for (std::size_t k = 0; k < at(rows.n); ++k) {
            if (k > 0 && rank_of(order, k) != rank_of(order, k - 1)) {
                cuts.push_back(
                    first_original(static_cast<int>(v), {rank_of(order, k - 1), rank_of(order, k) - 1}));
                parts.insert(parts.end(), below.begin(), below.end());
            }
            for (std::size_t c = 0; c < width; ++c) below[c] += order.sums[k * width + c];
        }
    }
    Partition partition;
    for (std::size_t o = 0; o < chained.others.size(); ++o)
        for (std::size_t c = 0; c < chained.others[o].cut.size(); ++c) {
            divide_other(rows, chained, static_cast<int>(o), static_cast<int>(c), partition);
            if (partition.n[0] == 0 || partition.n[1] == 0) continue;
            cuts.push_back(chained.others[o].cut[c]);
            parts.insert(parts.end(), partition.totals.begin(),
                         partition.totals.begin() + static_cast<std::ptrdiff_t>(width));
        }
    const LeafValue& leaf = search_.rows().leaf;
    std::vector<double> gains(cuts.size());
    for (std::size_t k = 0; k < cuts.size(); ++k) {
        double* part = parts.data() + k * width;
        gains[k] = leaf.limited_gain(part);
        for (std::size_t c = 0; c < width; ++c) part[c] = total[c] - part[c];
        gains[k] += leaf.limited_gain(part);
    }
    Choice chosen;
    for (std::size_t k = 0; k < cuts.size(); ++k)
        if (gains[k] >= enough && (chosen.cut < 0 || original(cuts[k]) < original(chosen.cut)))
            chosen.cut = cuts[k];
    return chosen;
}

}  // namespace surtree
