// From the values of a search to its trees: one builder for all engines.
//
// Values are kept without the choices behind them. For the few sets of rows that the best trees consist of,
// the choices are found again.
#pragma once

#include <algorithm>

#include "search/profile.hpp"

namespace surtree {

// One way to spend splits at a node: a cut, and how many splits go below the rows for which it does not hold,
// and for which it does.
struct Choice {
    int cut = -1;
    int splits[2] = {0, 0};
};

// An engine has
//
//     Node                             a set of rows, and what is known of it
//     Node root(k)                     for trees of at most k splits
//     gains(node)                      its best gains by number of splits
//     each_choice(node, splits, least, visit)   all choices of so many splits that gain at least so much
//     Node child(node, choice, holds)  one side of a choice
//     tie()                            gains this close are equal but for rounding
//     original(cut)                    the number of a cut in the caller's problem
//
// Of equally good trees: the fewest splits, then the cut with the least number. Trees within a slack of the
// best are the same walk over `each_choice`, with less asked for.
template <class Engine>
class TreeBuilder {
 public:
    explicit TreeBuilder(Engine& engine) : engine_(engine) {}

    Tree build(int k) {
        Tree out;
        add(engine_.root(k), k, out);
        return out;
    }

 private:
    void add(const typename Engine::Node& node, int k, Tree& out) {
        const int here = add_node(out);
        const Profile& gains = engine_.gains(node);
        const int splits =
            fewest_splits(std::min(k, static_cast<int>(gains.size()) - 1), gains, engine_.tie());
        if (splits == 0) return;
        Choice chosen;
        engine_.each_choice(node, splits, gains[at(splits)] - engine_.tie(), [&](const Choice& choice) {
            if (chosen.cut < 0 || engine_.original(choice.cut) < engine_.original(chosen.cut))
                chosen = choice;
        });
        out.cut[at(here)] = engine_.original(chosen.cut);
        for (const bool holds : {false, true}) {
            (holds ? out.right : out.left)[at(here)] = static_cast<int>(out.cut.size());
            if (chosen.splits[holds] == 0)
                add_node(out);
            else
                add(engine_.child(node, chosen, holds), chosen.splits[holds], out);
        }
    }

    Engine& engine_;
};

}  // namespace surtree
