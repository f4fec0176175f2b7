#include "columns/chains.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
namespace {

constexpr int max_short_bins = 512;

bool is_chain(const Problem& problem, std::size_t column, const std::vector<int>& cuts) {
    const int missing_bin = problem.missing_bin[column];
    const int n_values = missing_bin < 0 ? problem.n_bins[column] : missing_bin;
    return !cuts.empty() && std::ranges::all_of(cuts, [&](int c) {
        return problem.cuts[at(c)].is_ordered(n_values, missing_bin);
    });
}

// The chain of those cuts that have missing values, if there are any, below or above them.
void add_chain(const Problem& problem, std::size_t column, std::vector<int> cuts, bool missing_below,
               ChainedProblem& out) {
    const int missing_bin = problem.missing_bin[column];
    std::erase_if(cuts,
                  [&](int c) { return (missing_bin >= 0 && !problem.cuts[at(c)].missing) != missing_below; });
    if (cuts.empty()) return;
    const auto first_bin = [&](int c) { return problem.cuts[at(c)].first; };
    std::ranges::stable_sort(cuts, {}, first_bin);
    // Clang 14 cannot compile the result of std::ranges::unique.
    const auto same = [&](int a, int b) { return first_bin(a) == first_bin(b); };
    cuts.erase(std::unique(cuts.begin(), cuts.end(), same), cuts.end());
    // One more than there are bins: regrouping may leave a cut above the last bin, which holds nowhere.
    std::vector<std::uint16_t> rank(at(problem.n_bins[column]) + 1, 0);
    for (const int c : cuts) ++rank[at(first_bin(c))];
    std::partial_sum(rank.begin(), rank.end(), rank.begin());
    if (missing_below) rank[at(missing_bin)] = 0;
    const std::uint16_t* from = problem.bins + column * problem.n_rows;
    for (std::size_t r = 0; r < problem.n_rows; ++r) out.bins.push_back(rank[from[r]]);
    out.columns.push_back({static_cast<int>(cuts.size()) + 1, std::move(cuts), {}});
}

void add_unordered(const Problem& problem, std::size_t column, const std::vector<int>& cuts,
                   ChainedProblem& out) {
    out.columns.push_back({problem.n_bins[column], cuts, {}});
    for (const int c : cuts)
        out.columns.back().holds.push_back(
            region_of(problem.cuts[at(c)], problem.n_bins[column], problem.missing_bin[column]));
    const std::uint16_t* from = problem.bins + column * problem.n_rows;
    out.bins.insert(out.bins.end(), from, from + problem.n_rows);
}

}  // namespace

ChainedProblem split_into_chains(const Problem& problem) {
    ChainedProblem out;
    const std::vector<std::vector<int>> cuts = problem.cuts_by_column();
    for (std::size_t c = 0; c < cuts.size(); ++c)
        if (is_chain(problem, c, cuts[c]))
            for (const bool missing_below : {true, false}) add_chain(problem, c, cuts[c], missing_below, out);
    out.n_chains = out.n_columns();
    for (std::size_t c = 0; c < cuts.size(); ++c)
        if (!cuts[c].empty() && !is_chain(problem, c, cuts[c])) add_unordered(problem, c, cuts[c], out);
    for (int c = 0; c < out.n_columns(); ++c)
        if (c >= out.n_chains || out[c].n_bins <= max_short_bins) out.short_columns.push_back(c);
    out.problem = problem.without_columns();
    out.problem.n_columns = out.columns.size();
    out.problem.bins = out.bins.data();
    return out;
}

int longest_chain(const Problem& problem) {
    std::size_t longest = 0;
    const std::vector<std::vector<int>> cuts = problem.cuts_by_column();
    for (std::size_t c = 0; c < cuts.size(); ++c)
        if (is_chain(problem, c, cuts[c])) longest = std::max(longest, cuts[c].size());
    return static_cast<int>(longest);
}

}  // namespace surtree
