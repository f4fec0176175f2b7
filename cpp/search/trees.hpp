// From the values of a search to its trees: one builder for all engines.
//
// Values are kept without the choices behind them. For the few sets of rows that the best trees consist of,
// the choices are found again. An engine has
//
//     Node                             a set of rows, and what is known of it
//     Node root(k)                     for trees of at most k splits
//     gains(node)                      its best gains by number of splits
//     each_choice(node, splits, least, visit)   all choices of so many splits that gain at least so much
//     Node child(node, choice, holds)  one side of a choice
//     tie()                            gains this close are equal but for rounding
//     original(cut)                    the number of a cut in the caller's problem
//
// Ties go to the fewest splits, then to the cut with the least number. Trees within a slack of the
// best are the same walk over `each_choice`, with less asked for. Choices count splits below the rows for
// which their cut does not hold, then below those for which it does.
#pragma once

#include <algorithm>
#include <functional>

#include "search/profile.hpp"

namespace surtree {

// The choices of a cut whose sides have these profiles.
template <class Visit>
void each_share(int cut, const Profile& yes, const Profile& no, int splits, double least,
                const Visit& visit) {
    const int n_yes = static_cast<int>(yes.size()), n_no = static_cast<int>(no.size());
    for (int i = std::max(0, splits - n_no); i < std::min(splits, n_yes); ++i)
        if (yes[at(i)] + no[at(splits - 1 - i)] >= least) visit(Choice{cut, {splits - 1 - i, i}});
}

// Appends the tree below a node and returns its index.
template <class Engine>
int add_tree(Engine& engine, const typename Engine::Node& node, int k, Tree& out) {
    const int here = out.add_leaf();
    const Profile& gains = engine.gains(node);
    const int splits = fewest_splits(std::min(k, static_cast<int>(gains.size()) - 1), gains, engine.tie());
    if (splits == 0) return here;
    Choice chosen;
    engine.each_choice(node, splits, gains[at(splits)] - engine.tie(), [&](const Choice& choice) {
        if (chosen.cut < 0 || engine.original(choice.cut) < engine.original(chosen.cut)) chosen = choice;
    });
    out.cut[at(here)] = engine.original(chosen.cut);
    for (const bool holds : {false, true}) {
        const int n = chosen.splits[holds];
        const int child =
            n == 0 ? out.add_leaf() : add_tree(engine, engine.child(node, chosen, holds), n, out);
        (holds ? out.right : out.left)[at(here)] = child;
    }
    return here;
}

// For at most 0, 1, ... splits, trees of these gains; those that are not wanted are single leaves. Once time
// is over, no more are wanted, for there may be thousands: they are as the size before. The largest comes
// first.
template <class Engine>
std::vector<Tree> build_trees(Engine engine, const Profile& gains, std::vector<bool>& is_wanted,
                              const std::function<bool()>& is_over = {}) {
    std::vector<Tree> trees(gains.size());
    const std::size_t last = gains.size() - 1;
    const auto add = [&](std::size_t k) {
        add_tree(engine, engine.root(static_cast<int>(k)), static_cast<int>(k), trees[k]);
    };
    const bool largest_first = is_over && is_wanted[last];
    if (largest_first) add(last);
    for (std::size_t k = 0; k < gains.size() - largest_first; ++k) {
        if (k > 0 && is_over && is_wanted[k] && is_over()) {
            is_wanted[k] = false;
            trees[k] = trees[k - 1];
            continue;
        }
        // Where one more split gains nothing, the tree is the same.
        if (k > 0 && is_wanted[k] && is_wanted[k - 1] && gains[k] - engine.tie() <= gains[k - 1])
            trees[k] = trees[k - 1];
        else if (is_wanted[k])
            add(k);
        else
            trees[k].add_leaf();
    }
    return trees;
}

}  // namespace surtree
