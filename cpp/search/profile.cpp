#include "search/profile.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
namespace {

int full_tree(int depth) { return depth > 20 ? 1 << 20 : (1 << depth) - 1; }

}  // namespace

void join(const double* yes, std::size_t n_yes, const double* no, std::size_t n_no, Profile& out) {
    for (std::size_t i = 0; i < n_yes && i + 1 < out.size(); ++i)
        for (std::size_t j = 0; j < n_no && i + j + 1 < out.size(); ++j)
            out[i + j + 1] = std::max(out[i + j + 1], yes[i] + no[j]);
}

void make_monotone(Profile& out) {
    std::partial_sum(out.begin(), out.end(), out.begin(), [](double a, double b) { return std::max(a, b); });
}

int fewest_splits(int k, const Profile& gains, double tie) {
    const double enough = gains[at(k)] - tie;
    while (k > 0 && gains[at(k - 1)] >= enough) --k;
    return k;
}

// Splits are limited by 2^d - 1 and by the rows, and the depth by the splits.
std::vector<int> split_budgets(const Limits& limits, int n_rows) {
    const int most = std::max(0, n_rows - 1), depth = std::min({limits.max_depth, limits.max_splits, most});
    std::vector<int> budget(at(depth + 1), 0);
    for (int d = depth, splits = std::min({limits.max_splits, full_tree(depth), most}); d > 0; --d) {
        budget[at(d)] = splits;
        splits = std::min(splits - 1, full_tree(d - 1));
    }
    return budget;
}

}  // namespace surtree
