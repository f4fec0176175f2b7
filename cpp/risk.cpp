#include "risk.hpp"

#include <algorithm>

namespace surtree {

// Rows come from the last time to the first, and each leaf keeps the weight of those that it has seen.
RiskCounts count_risk(const RiskInput& in) {
    RiskCounts out;
    std::vector<std::size_t> leaf_of_node(in.n_nodes);
    std::size_t n_leaves = 0;
    for (std::size_t node = 0; node < in.n_nodes; ++node)
        if (in.left[node] < 0) leaf_of_node[node] = n_leaves++;

    struct Leaf {
        double at_risk = 0, deaths = 0;
        std::size_t step = 0;  // of the deaths, counted from one
        std::vector<RiskStep> steps;

        void end_step() {
            if (deaths > 0) steps.push_back({static_cast<std::int32_t>(step) - 1, at_risk, deaths});
            deaths = 0;
        }
    };
    std::vector<Leaf> leaves(n_leaves);
    out.round_at_risk.resize(n_leaves * in.n_round_times);
    std::size_t step = in.n_event_times, round = in.n_round_times;
    const auto pass_round_times = [&](double time) {
        for (; round > 0 && in.round_times[round - 1] > time; --round)
            for (std::size_t l = 0; l < n_leaves; ++l)
                out.round_at_risk[l * in.n_round_times + round - 1] = leaves[l].at_risk;
    };
    for (std::size_t k = in.n_rows; k-- > 0;) {
        const auto row = static_cast<std::size_t>(in.order[k]);
        pass_round_times(in.time[row]);
        while (step > 0 && in.event_times[step - 1] > in.time[row]) --step;
        Leaf& leaf = leaves[leaf_of_node[static_cast<std::size_t>(in.leaf_of_row[row])]];
        if (leaf.step != step) {
            leaf.end_step();
            leaf.step = step;
        }
        leaf.at_risk += in.weight[row];
        if (in.event[row]) leaf.deaths += in.weight[row];
    }
    pass_round_times(-1);

    out.begin.push_back(0);
    for (Leaf& leaf : leaves) {
        leaf.end_step();
        out.steps.insert(out.steps.end(), leaf.steps.rbegin(), leaf.steps.rend());
        out.begin.push_back(static_cast<std::int32_t>(out.steps.size()));
    }
    return out;
}

}  // namespace surtree
