#include "columns/chains.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
namespace {

constexpr int max_short_bins = 512;

// A cut of a chain: it separates the bins before `first` from the others. The missing bin is the lowest or
// the highest of them.
struct Step {
    int cut, first;
    bool missing_below;
};

bool nested(const Problem& problem, const Cut& cut) {
    const int missing_bin = problem.missing_bin[at(cut.column)];
    const int n_values = missing_bin < 0 ? problem.n_bins[at(cut.column)] : missing_bin;
    return cut.is_ordered(n_values, missing_bin);
}

std::vector<std::vector<int>> cuts_by_column(const Problem& problem) {
    std::vector<std::vector<int>> out(problem.n_columns);
    for (std::size_t c = 0; c < problem.cuts.size(); ++c)
        out[at(problem.cuts[c].column)].push_back(static_cast<int>(c));
    return out;
}

bool is_chain(const Problem& problem, const std::vector<int>& cuts) {
    return !cuts.empty() &&
           std::all_of(cuts.begin(), cuts.end(), [&](int c) { return nested(problem, problem.cuts[at(c)]); });
}

class ChainSplitter {
 public:
    explicit ChainSplitter(const Problem& problem) : problem_(problem), cuts_(cuts_by_column(problem)) {}

    ChainedProblem run() {
        for (std::size_t c = 0; c < problem_.n_columns; ++c)
            if (is_chain(problem_, cuts_[c])) add_chains(c);
        for (std::size_t c = 0; c < problem_.n_columns; ++c)
            if (!cuts_[c].empty() && !is_chain(problem_, cuts_[c])) add_other(c);
        for (int c = 0; c < out_.n_chains() + static_cast<int>(out_.others.size()); ++c)
            if (c >= out_.n_chains() || out_.n_bins(c) <= max_short_bins) out_.short_columns.push_back(c);
        out_.problem = problem_.without_columns();
        out_.problem.n_columns = out_.chains.size() + out_.others.size();
        out_.problem.bins = out_.bins.data();
        return std::move(out_);
    }

 private:
    void add_chains(std::size_t column) {
        const int missing_bin = problem_.missing_bin[column];
        for (const bool missing_below : {true, false}) {
            std::vector<Step> steps;
            for (const int c : cuts_[column]) {
                const Cut& cut = problem_.cuts[at(c)];
                const bool below = missing_bin >= 0 && !cut.missing;
                if (below == missing_below) steps.push_back({c, cut.first, below});
            }
            if (!steps.empty()) add_chain(column, steps);
        }
    }

    void add_chain(std::size_t column, std::vector<Step>& steps) {
        std::stable_sort(steps.begin(), steps.end(),
                         [](const Step& a, const Step& b) { return a.first < b.first; });
        const auto same = [](const Step& a, const Step& b) { return a.first == b.first; };
        steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
        Chain chain;
        // One more than there are bins: regrouping may leave a cut above the last bin, which holds nowhere.
        std::vector<std::uint16_t> rank(at(problem_.n_bins[column]) + 1, 0);
        for (const Step& step : steps) {
            chain.cut.push_back(step.cut);
            ++rank[at(step.first)];
        }
        std::partial_sum(rank.begin(), rank.end(), rank.begin());
        if (steps.front().missing_below) rank[at(problem_.missing_bin[column])] = 0;
        out_.chains.push_back(std::move(chain));
        const std::uint16_t* from = problem_.bins + column * problem_.n_rows;
        for (std::size_t r = 0; r < problem_.n_rows; ++r) out_.bins.push_back(rank[from[r]]);
    }

    void add_other(std::size_t column) {
        Unordered other{problem_.n_bins[column], cuts_[column], {}};
        for (const int c : other.cut)
            other.holds.push_back(
                region_of(problem_.cuts[at(c)], other.n_bins, problem_.missing_bin[column]));
        out_.others.push_back(std::move(other));
        const std::uint16_t* from = problem_.bins + column * problem_.n_rows;
        out_.bins.insert(out_.bins.end(), from, from + problem_.n_rows);
    }

    const Problem& problem_;
    const std::vector<std::vector<int>> cuts_;
    ChainedProblem out_;
};

}  // namespace

ChainedProblem split_into_chains(const Problem& problem) { return ChainSplitter(problem).run(); }

int longest_chain(const Problem& problem) {
    std::size_t longest = 0;
    for (const std::vector<int>& cuts : cuts_by_column(problem))
        if (is_chain(problem, cuts)) longest = std::max(longest, cuts.size());
    return static_cast<int>(longest);
}

}  // namespace surtree
